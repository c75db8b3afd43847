"""Who may object to a change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from lakeward_catalog.domain.names import TabularIdent


class ChangeGate(Protocol):
    """Asked before a change is written: a data contract's chance to refuse it."""

    async def check(
        self, *, tabular: TabularIdent, old: Callable[[], bytes] | None, proposed: Callable[[], bytes]
    ) -> None:
        """The metadata before and after, as JSON once they are called; `old` is None for a new tabular.

        Raises CHANGE_REFUSED.
        """
