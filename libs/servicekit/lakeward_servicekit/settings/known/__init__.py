"""Names of upstream's that have no effect here, a module a subject, and those that only services read that are not installed.

What a class of settings has as a field is not among them. A name that nobody has stops the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import Final

from lakeward_servicekit.settings.catalogue import Family, Setting
from lakeward_servicekit.settings.kinds import AS_WRITTEN, SECRET_AS_WRITTEN
from lakeward_servicekit.settings.known import (
    access,
    background,
    commercial,
    console,
    earlier,
    observability,
    server,
)

SETTINGS: Final[tuple[Setting, ...]] = (
    *server.SETTINGS,
    *access.SETTINGS,
    *background.SETTINGS,
    *observability.SETTINGS,
    *console.SETTINGS,
    *commercial.SETTINGS,
    *earlier.SETTINGS,
)


def elsewhere() -> Iterator[Setting]:
    """What each service reads alone, of all services there are; its values are judged where it is read."""
    for line in files(__name__).joinpath("elsewhere.txt").read_text(encoding="utf-8").splitlines():
        family, name, *secret = line.split()
        kind = SECRET_AS_WRITTEN if secret else AS_WRITTEN
        yield Setting(name, kind, None, "A service reads this that is not installed here.", Family[family])
