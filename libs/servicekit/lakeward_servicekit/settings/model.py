"""The base of the classes that services take, and how a field says which setting it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeVar, dataclass_transform, overload

from lakeward_servicekit.settings.catalogue import EVERYONE, Family, Level, Service, Setting, Support
from lakeward_servicekit.settings.kinds import Kind
from lakeward_servicekit.settings.problems import Problem

T = TypeVar("T")

_DECLARED: Final = "lakeward"


@overload
def setting(
    name: str,
    kind: Kind[T],
    default: str,
    about: str,
    *,
    family: Family = ...,
    support: Support = ...,
    services: Collection[Service] = ...,
) -> T: ...


@overload
def setting(
    name: str,
    kind: Kind[T],
    default: None,
    about: str,
    *,
    family: Family = ...,
    support: Support = ...,
    services: Collection[Service] = ...,
) -> T | None: ...


def setting(
    name: str,
    kind: Kind[T],
    default: str | None,
    about: str,
    *,
    family: Family = Family.UPSTREAM,
    support: Support = Support.SUPPORTED,
    services: Collection[Service] = (),
) -> Any:
    """A field that is a setting; see `Setting`. Who reads it is what its class says, unless `services` does."""
    declared = Setting(name, kind, default, about, family, support, frozenset(services))
    return dataclasses.field(default=declared.default_value, metadata={_DECLARED: declared})


def level(pattern: str, item: type[T]) -> Mapping[str, T]:
    """A field that maps what stands for the last placeholder of `pattern` to the settings below it."""
    below: Mapping[str, T] = dataclasses.field(default_factory=dict, metadata={_DECLARED: Level(pattern, item)})
    return below


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(setting, level))
class Settings:
    """Some settings that belong together: frozen, each field one name of the catalogue.

    A subclass is a frozen dataclass, and what can't stand together is refused in its `__post_init__`, as a `Contradiction`.

    Attributes:
        own: the settings that the class itself declares, by field.
        fields: the same with those of its bases, and with what holds a level of settings.
    """

    own: ClassVar[Mapping[str, Setting]] = MappingProxyType({})
    fields: ClassVar[Mapping[str, Setting | Level]] = MappingProxyType({})

    def __init_subclass__(cls, *, read_by: Collection[Service] = EVERYONE) -> None:
        """Take note of the fields; `read_by` says who reads them."""
        declared = {
            name: field.metadata[_DECLARED] for name, field in vars(cls).items() if isinstance(field, dataclasses.Field)
        }
        settings = {
            name: dataclasses.replace(each, services=each.services or frozenset(read_by))
            for name, each in declared.items()
            if isinstance(each, Setting)
        }
        cls.own = MappingProxyType(settings)
        cls.fields = MappingProxyType({**cls.fields, **declared, **settings})
        dataclasses.dataclass(frozen=True, kw_only=True)(cls)


class Contradiction(ValueError):  # noqa: N818 - it says what is the case, not what broke
    """Values that are fine each and can't stand together, or one that lacks its other half.

    Args:
        problems: pairs of a name without prefix and what is wrong, as in ("TLS__KEY_FILE", "is missing").
    """

    def __init__(self, *problems: tuple[str, str]) -> None:
        """Refuse for `problems`."""
        self.problems: Final = tuple(Problem(variable_of(name), message) for name, message in problems)
        super().__init__("; ".join(map(str, self.problems)))


def variable_of(name: str) -> str:
    """The environment variable for a name of the catalogue, placeholders filled or not."""
    from lakeward_servicekit.settings import names  # noqa: PLC0415 - whose table is made of the classes that stand on this one

    match = names.find(name)
    return name if match is None else match.setting.family.prefix + name
