"""From environment variables to values: prefixes, names of earlier versions, files, inline tables."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.settings import inline, names
from lakeward_servicekit.settings.catalogue import FILE_SUFFIX, Family, Setting, Support
from lakeward_servicekit.settings.kinds import NotThat
from lakeward_servicekit.settings.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lakeward_servicekit.settings.inline import Raw

_OLD_PREFIX: Final = "ICEBERG_REST__"
_PREFIXES: Final = (_OLD_PREFIX, "LAKEKEEPER__", "LAKEWARD__")
_TABLE, _FILE, _VARIABLE = range(3)  # of one name given in several ways, the later way wins
_LONGEST_SHOWN: Final = 120


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """A setting that the environment gives.

    Attributes:
        setting: what it is.
        value: parsed by the setting's kind.
        variable: where it was written, as it was written.
        written: the text of the value; empty for a secret.
        file: the path of the file that the variable names and the value comes from; empty where there is none.
    """

    setting: Setting
    value: object
    variable: str
    written: str
    file: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Environment:
    """What an environment says, and what is wrong with it.

    Attributes:
        found: settings by upper-case name without prefix, placeholders filled: "OPENID_PROVIDERS__MY-IDP__URI".
        warnings: sentences for the log, one a name.
        problems: bad values and unknown names.
        failed: names whose value can't be used.
    """

    found: Mapping[str, Found]
    warnings: tuple[str, ...]
    problems: tuple[Problem, ...]
    failed: frozenset[str]


@dataclasses.dataclass(frozen=True, slots=True)
class _Written:
    """One value for one name, before names that say the same were weighed against each other."""

    name: str
    setting: Setting
    raw: Raw
    variable: str
    rank: tuple[bool, int, int]
    file: str = ""


def read_text(path: Path) -> str:
    """A secret's file, without the line break that editors put at its end."""
    return path.read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")


def read(environ: Mapping[str, str], *, read_file: Callable[[Path], str] = read_text) -> Environment:
    """Read every variable that has one of our prefixes.

    Args:
        environ: variables by name; names in any case.
        read_file: gives a file's text; raises OSError or UnicodeDecodeError.
    """
    warnings: list[str] = []
    problems: list[Problem] = []
    written: dict[str, _Written] = {}
    for variable in sorted(environ):
        upper = variable.upper()
        prefix = next((each for each in _PREFIXES if upper.startswith(each)), None)
        if prefix is None:
            warnings.extend(_slip(upper))
            continue
        source = _Source(prefix, variable, read_file)
        for item in source.resolve(upper.removeprefix(prefix), environ[variable]):
            if isinstance(item, Problem):
                problems.append(item)
                continue
            other = written.get(item.name)
            if other is not None:
                warnings.extend(_twice(item, other))
            if other is None or item.rank >= other.rank:
                written[item.name] = item

    found: dict[str, Found] = {}
    failed: set[str] = set()
    for name, item in written.items():
        warnings.extend(_notices(item))
        try:
            value = item.setting.kind.parse(item.raw)
        except NotThat as right:
            failed.add(name)
            problems.append(Problem(item.variable, _refused(item, right)))
            continue
        written_as = "" if item.setting.secret else _shown(item.raw)
        found[name] = Found(item.setting, value, item.variable, written_as, item.file)
    return Environment(found, tuple(warnings), tuple(problems), frozenset(failed))


@dataclasses.dataclass(frozen=True, slots=True)
class _Source:
    """One variable: its prefix, its name as written, and how files are read."""

    prefix: str
    variable: str
    read_file: Callable[[Path], str]

    def resolve(self, name: str, raw: Raw, *, way: int = _VARIABLE) -> Iterator[_Written | Problem]:
        """What this variable says: one value, the values of a table, or why it can't be used."""
        match = names.find(name)
        if match is not None and self.prefix in match.setting.family.value:
            yield self._written(name, match.setting, raw, way)
            return
        match = names.find(name.removesuffix(FILE_SUFFIX)) if name.endswith(FILE_SUFFIX) else None
        if match is not None and match.setting.secret and self.prefix in match.setting.family.value:
            yield self._from_file(name.removesuffix(FILE_SUFFIX), match.setting, raw)
        elif names.is_level(name):
            yield from self._from_table(name, raw)
        else:
            yield self._unknown(name)

    def _written(self, name: str, setting: Setting, raw: Raw, way: int) -> _Written:
        if way == _VARIABLE and isinstance(raw, str) and setting.family is not Family.OURS:
            # Upstream strips quotes that enclose a value, and its users need them where a text looks like a number.
            raw = inline.unquote(raw)
        current = setting if setting.instead is None else names.setting_of(setting.instead)
        rank = (setting.instead is None, _PREFIXES.index(self.prefix), way)
        return _Written(name if current is setting else current.name, current, raw, self.variable, rank)

    def _from_file(self, name: str, setting: Setting, raw: Raw) -> _Written | Problem:
        if not isinstance(raw, str) or not raw.strip():
            return Problem(self.variable, "is empty; it must be the path of a file")
        try:
            text = self.read_file(Path(raw.strip()))
        except (OSError, UnicodeDecodeError) as why:
            reason = why.strerror if isinstance(why, OSError) else "it is not UTF-8 text"
            return Problem(self.variable, f"names {raw.strip()!r}, which can't be read: {reason}")
        return dataclasses.replace(self._written(name, setting, text, _FILE), file=raw.strip())

    def _from_table(self, name: str, raw: Raw) -> Iterator[_Written | Problem]:
        if isinstance(raw, str):
            try:
                raw = inline.parse(raw.strip())
            except ValueError as why:
                yield Problem(self.variable, f'is no table such as {{key="value"}}: {why}')
                return
        if not isinstance(raw, dict):
            yield Problem(self.variable, 'must be a table such as {key="value"}')
            return
        for key, item in raw.items():
            yield from self.resolve(f"{name}__{key.upper()}", item, way=_TABLE)

    def _unknown(self, name: str) -> Problem:
        full = self.prefix + name
        near = names.nearest(full)
        inside = "" if self.variable.upper() == full else f" holds {name}, which"
        hint = "" if near is None else f"; the nearest known name is {near}"
        return Problem(self.variable, f"{inside} is a name nobody knows{hint}".strip())


def _notices(item: _Written) -> Iterator[str]:
    if not item.rank[0]:
        yield f"{item.variable} is an earlier name of {item.setting.variable}, and its value is used for that"
    if item.setting.support is not Support.SUPPORTED:
        yield f"{item.variable} has no effect: {item.setting.support.value}"
    elif item.variable.upper().startswith(_OLD_PREFIX):
        yield f"{item.variable} has the prefix of upstream's releases before 0.5; its value is used for {item.setting.variable}"


def _twice(one: _Written, other: _Written) -> Iterator[str]:
    loser, winner = sorted((one, other), key=lambda item: item.rank)
    if loser.raw != winner.raw and loser.variable != winner.variable:
        yield f"{loser.variable} and {winner.variable} are both set and differ; {winner.variable} counts"


def _slip(upper: str) -> Iterator[str]:
    """One underscore where two belong; names such as LAKEKEEPER_PORT come from Kubernetes and mean nothing."""
    for prefix in _PREFIXES:
        short = prefix[:-1]
        match = names.find(upper.removeprefix(short)) if upper.startswith(short) else None
        if match is not None and "_" in match.setting.name:
            yield f"{upper} has no effect; {prefix}{upper.removeprefix(short)} would"


def _refused(item: _Written, right: NotThat) -> str:
    shown = "can't be used" if item.setting.secret else f"is {_shown(item.raw)!r}"
    inside = "" if item.variable.upper().endswith(item.name) else f" ({item.setting.variable})"
    return f"{inside} {shown}; it must be {right}".strip()


def _shown(raw: Raw) -> str:
    text = raw if isinstance(raw, str) else repr(raw)
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "..."
