"""Change gates. An installation plugs its own in; this one asks nobody."""

from __future__ import annotations

from collections.abc import Callable

from lakeward_catalog.domain.names import TabularIdent


class OpenGate:
    """Lets every change pass."""

    async def check(
        self, *, tabular: TabularIdent, old: Callable[[], bytes] | None, proposed: Callable[[], bytes]
    ) -> None:
        """Refuses nothing."""
