"""The base of the classes that services take, and how a field says which setting it is."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from lakeward_servicekit.settings.names import find, setting_of
from lakeward_servicekit.settings.problems import Problem

SETTING: Final = "setting"
LEVEL: Final = "level"


class Settings(BaseModel):
    """Some settings that belong together: frozen, checked, each field one name of the catalogue."""

    model_config = ConfigDict(validate_default=True, frozen=True, extra="forbid", arbitrary_types_allowed=True)


def named(name: str) -> Any:  # noqa: ANN401 - stands as the default of fields of every type
    """A field that is the setting `name`; its default and its documentation are the catalogue's."""
    setting = setting_of(name)
    return Field(
        default=masked(setting.default_value, secret=setting.secret),
        description=setting.about,
        json_schema_extra={SETTING: name},
    )


def level(pattern: str, item: type[Settings]) -> Any:  # noqa: ANN401 - as above
    """A field that maps what stands for the last placeholder of `pattern` to the settings below it."""
    return Field(default_factory=dict, json_schema_extra={LEVEL: pattern}, description=item.__doc__)


def masked(value: object, *, secret: bool) -> object:
    """`value`, its texts made SecretStr where it is a secret."""
    if not secret:
        return value
    match value:
        case str():
            return SecretStr(value)
        case dict():
            return {key: masked(item, secret=True) for key, item in value.items()}
        case tuple():
            return tuple((key, masked(item, secret=True)) for key, item in value)
        case _:
            return value


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
    match = find(name)
    return name if match is None else match.setting.family.prefix + name
