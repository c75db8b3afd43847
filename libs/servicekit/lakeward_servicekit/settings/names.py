"""The lookup of a name among all that are known.

Those are the fields of the classes of settings, here and in the services that are installed; what services read that are not
installed, listed so that pods may share one configuration; and names without effect. The last two are `known`'s.
"""

from __future__ import annotations

import functools
import importlib
import re
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.settings import known
from lakeward_servicekit.settings.catalogue import FILE_SUFFIX, Match, Setting
from lakeward_servicekit.settings.model import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What several services share; the others have theirs in the module `settings` of their package.
_SHARED: Final = (
    "audit",
    "server",
    "postgres",
    "storage",
    "authorization",
    "events",
    "services",
    "observability",
    "provisioning",
)
_SERVICES: Final = "lakeward.services"  # group of entry points: each has its service's package

_PLACEHOLDER: Final = re.compile(r"<([A-Z]+)>")


def classes() -> Iterator[type[Settings]]:
    """Every class of settings that is installed: those that services share, then each service's own."""
    packages = sorted({point.module.partition(".")[0] for point in entry_points(group=_SERVICES)})
    for module in (*(f"{__package__}.{name}" for name in _SHARED), *(f"{package}.settings" for package in packages)):
        for value in vars(importlib.import_module(module)).values():
            if isinstance(value, type) and issubclass(value, Settings) and value.__module__ == module:
                yield value


@functools.cache
def every() -> tuple[Setting, ...]:
    """Every known name."""
    declared = [setting for each in classes() for setting in each.own.values()]
    installed = {setting.name for setting in declared}
    return (
        *declared,
        *(each for each in known.elsewhere() if each.name not in installed),
        *known.SETTINGS,
    )


@functools.cache
def _exact() -> Mapping[str, Setting]:
    return {setting.name: setting for setting in every() if "<" not in setting.name}


@functools.cache
def _patterns() -> tuple[tuple[re.Pattern[str], Setting], ...]:
    return tuple((_pattern(setting.name), setting) for setting in every() if "<" in setting.name)


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(_PLACEHOLDER.sub(lambda level: f"(?P<{level[1]}>(?:(?!__).)+)", name))


def find(name: str) -> Match | None:
    """The setting that an upper-case name without prefix means, `_FILE` variants aside; None for an unknown one."""
    exact = _exact().get(name)
    if exact is not None:
        return Match(exact, {})
    for pattern, setting in _patterns():
        found = pattern.fullmatch(name)
        if found is not None:
            return Match(setting, {level: value.lower() for level, value in found.groupdict().items()})
    return None


def setting_of(name: str) -> Setting:
    """The entry with exactly this name, placeholders as they stand.

    Raises:
        KeyError: there is none.
    """
    return _by_name()[name]


@functools.cache
def _by_name() -> Mapping[str, Setting]:
    return {setting.name: setting for setting in every()}


@functools.cache
def _levels() -> tuple[re.Pattern[str], ...]:
    names = {setting.name.rsplit("__", cut)[0] for setting in every() for cut in range(1, setting.name.count("__") + 1)}
    return tuple(_pattern(name) for name in sorted(names))


def is_level(name: str) -> bool:
    """Whether names exist below this one, so that all of them may be given at once as an inline table."""
    return any(pattern.fullmatch(name) for pattern in _levels())


def nearest(variable: str) -> str | None:
    """The known variable that looks most like `variable`; None where nothing is near."""
    import difflib  # noqa: PLC0415 - only a start that fails needs it

    segments = variable.split("__")
    spelled = [_with_own_words(each, segments) for setting in every() for each in _spellings(setting)]
    close = difflib.get_close_matches(variable, spelled, n=1, cutoff=0.6)
    if close:
        return close[0]
    bare = variable.partition("__")[2]
    return next((known for known in spelled if known.partition("__")[2] == bare), None)


def _with_own_words(known: str, segments: list[str]) -> str:
    """A name whose placeholders are what the writer has in their places, where it has as many levels."""
    wanted = known.split("__")
    if "<" not in known or len(wanted) != len(segments):
        return known
    return "__".join(own if "<" in each else each for each, own in zip(wanted, segments, strict=True))


def _spellings(setting: Setting) -> tuple[str, ...]:
    return (setting.variable, setting.variable + FILE_SUFFIX) if setting.secret else (setting.variable,)
