"""The table of every known name, a module a subject. A name that is not here stops the start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lakeward_servicekit.settings.known import (
    access,
    background,
    commercial,
    console,
    database,
    earlier,
    observability,
    ours,
    server,
)

if TYPE_CHECKING:
    from lakeward_servicekit.settings.catalogue import Setting

SETTINGS: Final[tuple[Setting, ...]] = (
    *server.SETTINGS,
    *database.SETTINGS,
    *access.SETTINGS,
    *background.SETTINGS,
    *observability.SETTINGS,
    *console.SETTINGS,
    *commercial.SETTINGS,
    *earlier.SETTINGS,
    *ours.SETTINGS,
)
