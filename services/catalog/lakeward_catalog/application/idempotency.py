"""Idempotency keys, for as long as the catalog's rules say; the rest is `lakeward_servicekit.idempotency`."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from lakeward_servicekit import idempotency
from lakeward_servicekit.idempotency import OF_SERVER, Keeper, Keyed, of_project, of_warehouse

if TYPE_CHECKING:
    from lakeward_catalog.application.rules import Rules
    from lakeward_servicekit.system import Clock

__all__ = ["OF_SERVER", "Keeper", "Keyed", "Once", "of_project", "of_warehouse"]

_TWIN_WAIT: Final = timedelta(seconds=10)


class Once(idempotency.Once):
    """Runs what is keyed once per key, and promises it for as long as the rules say."""

    def __init__(
        self,
        *,
        store: idempotency.IdempotencyStore,
        clock: Clock,
        rules: Rules,
        twin_wait: timedelta = _TWIN_WAIT,
    ) -> None:
        """`twin_wait` is how long a call waits for one with the same key in this process."""
        super().__init__(
            store=store,
            clock=clock,
            lifetime=rules.idempotency_lifetime,
            grace=rules.idempotency_grace,
            twin_wait=twin_wait,
        )
