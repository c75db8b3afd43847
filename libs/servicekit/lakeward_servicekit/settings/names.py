"""The lookup of a name among all that are known."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.settings.catalogue import FILE_SUFFIX, Match, Setting
from lakeward_servicekit.settings.known import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLACEHOLDER: Final = re.compile(r"<([A-Z]+)>")


@functools.cache
def _exact() -> Mapping[str, Setting]:
    return {setting.name: setting for setting in SETTINGS if "<" not in setting.name}


@functools.cache
def _patterns() -> tuple[tuple[re.Pattern[str], Setting], ...]:
    return tuple((_pattern(setting.name), setting) for setting in SETTINGS if "<" in setting.name)


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
    return {setting.name: setting for setting in SETTINGS}


@functools.cache
def _levels() -> tuple[re.Pattern[str], ...]:
    names = {
        setting.name.rsplit("__", cut)[0] for setting in SETTINGS for cut in range(1, setting.name.count("__") + 1)
    }
    return tuple(_pattern(name) for name in sorted(names))


def is_level(name: str) -> bool:
    """Whether names exist below this one, so that all of them may be given at once as an inline table."""
    return any(pattern.fullmatch(name) for pattern in _levels())


def nearest(variable: str) -> str | None:
    """The known variable that looks most like `variable`; None where nothing is near."""
    import difflib  # noqa: PLC0415 - only a start that fails needs it

    segments = variable.split("__")
    spelled = [_with_own_words(each, segments) for setting in SETTINGS for each in _spellings(setting)]
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
