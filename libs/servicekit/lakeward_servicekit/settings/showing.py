"""The effective configuration, for people: where each value comes from, secrets masked."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.secrecy import MASK
from lakeward_servicekit.settings.catalogue import EVERYONE, Service
from lakeward_servicekit.settings.names import every

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lakeward_servicekit.settings.environment import Environment, Found

_PASSWORD: Final = re.compile(r"(?<=://)([^/@\s]*@)")


@dataclasses.dataclass(frozen=True, slots=True)
class Shown:
    """One line of the effective configuration.

    Attributes:
        variable: the name to write, prefix included.
        value: as text; None where the setting is unset and has no default.
        source: the variable that gave it, with the file that it names; "default" otherwise.
    """

    variable: str
    value: str | None
    source: str

    def __str__(self) -> str:
        return f"{self.variable}={'' if self.value is None else self.value}  # {self.source}"


def effective(environment: Environment, *, services: frozenset[Service] = EVERYONE) -> Iterator[Shown]:
    """Each setting that one of `services` reads, in the catalogue's order, then those whose names have levels."""
    given = dict(environment.found)
    for setting in every():
        if not setting.services & services or "<" in setting.name or setting.instead is not None:
            given.pop(setting.name, None)
            continue
        found = given.pop(setting.name, None)
        if setting.name in environment.failed:
            yield Shown(setting.variable, None, "can't be used as it is written")
        elif found is None:
            value = MASK if setting.secret and setting.default else setting.default
            yield Shown(setting.variable, value, "default")
        else:
            yield _given(setting.variable, found)
    for name, found in sorted(given.items()):
        if found.setting.services & services:
            yield _given(found.setting.family.prefix + name, found)


def _given(variable: str, found: Found) -> Shown:
    value = MASK if found.setting.secret else without_userinfo(found.written)
    return Shown(variable, value, f"{found.variable}, file {found.file}" if found.file else found.variable)


def without_userinfo(text: str) -> str:
    """`text` with the user and password of every URL in it masked."""
    return _PASSWORD.sub(MASK + "@", text)
