"""Builds the classes that a process takes; all that is wrong is said at once."""

from __future__ import annotations

import dataclasses
import re
import typing
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from lakeward_servicekit.settings import environment as environments
from lakeward_servicekit.settings.catalogue import Level
from lakeward_servicekit.settings.model import Contradiction, Settings
from lakeward_servicekit.settings.problems import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lakeward_servicekit.settings.environment import Environment
    from lakeward_servicekit.settings.problems import Problem

T = TypeVar("T")
_PLACEHOLDER: Final = re.compile(r"<([A-Z]+)>")


@dataclasses.dataclass(frozen=True, slots=True)
class Loaded(Generic[T]):
    """Settings, and what the log should be told about them.

    Attributes:
        settings: what was asked for.
        warnings: one sentence for each name that is set and has no effect, or is about to have none.
        environment: everything that was read, for `showing`.
    """

    settings: T
    warnings: tuple[str, ...]
    environment: Environment


def load(shape: type[T], environ: Mapping[str, str]) -> Loaded[T]:
    """Build `shape` from the environment.

    Args:
        shape: a class of settings, or a frozen dataclass whose fields are such classes or such dataclasses; either may
            raise Contradiction when it is made.
        environ: variables by name; what a composition fixes itself is merged in before.

    Raises:
        SettingsError: with everything that is wrong, names that `shape` does not read included.
    """
    read = environments.read(environ)
    problems = list(read.problems)
    settings = _build(shape, read, problems)
    if problems or settings is None:
        raise SettingsError(problems)
    return Loaded(settings, read.warnings, read)


def _build(shape: type[T], read: Environment, problems: list[Problem]) -> T | None:
    if issubclass(shape, Settings):
        return _settings(shape, read, problems, {})
    if not dataclasses.is_dataclass(shape):
        raise TypeError(f"{shape!r} is neither a class of settings nor a dataclass of such")
    hints = typing.get_type_hints(shape)
    parts = {field.name: _build(hints[field.name], read, problems) for field in dataclasses.fields(shape)}
    if any(part is None for part in parts.values()):
        return None
    try:
        return shape(**parts)
    except Contradiction as wrong:
        problems.extend(wrong.problems)
        return None


def _settings(shape: type[T], read: Environment, problems: list[Problem], levels: Mapping[str, str]) -> T | None:
    assert issubclass(shape, Settings)
    values: dict[str, Any] = {}
    before = len(problems)
    failed = False
    for field, declared in shape.fields.items():
        pattern = declared.pattern if isinstance(declared, Level) else declared.name
        name = _PLACEHOLDER.sub(lambda found: levels.get(found[1], found[0]).upper(), pattern)
        if isinstance(declared, Level):
            values[field] = _level(declared.item, name, read, problems, levels)
            continue
        failed = failed or name in read.failed
        if name in read.found:
            values[field] = read.found[name].value
    if len(problems) > before:
        return None
    try:
        return shape(**values)
    except Contradiction as wrong:
        if not failed:  # a value that was refused already would be missed here a second time
            problems.extend(wrong.problems)
        return None


def _level(
    item: type[T], pattern: str, read: Environment, problems: list[Problem], levels: Mapping[str, str]
) -> dict[str, T]:
    placeholder = _PLACEHOLDER.search(pattern)
    assert placeholder is not None
    below = re.compile(
        re.escape(pattern[: placeholder.start()]) + r"((?:(?!__).)+)" + re.escape(pattern[placeholder.end() :]) + "__"
    )
    keys = sorted({found[1].lower() for name in (*read.found, *read.failed) if (found := below.match(name))})
    built = {key: _settings(item, read, problems, {**levels, placeholder[1]: key}) for key in keys}
    return {key: settings for key, settings in built.items() if settings is not None}
