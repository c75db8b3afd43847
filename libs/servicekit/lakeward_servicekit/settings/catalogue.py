"""What a setting is. Each is declared by the class that has it as a field; `names` has the table of all."""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lakeward_servicekit.settings.kinds import Kind

FILE_SUFFIX: Final = "_FILE"


class Family(enum.Enum):
    """Which prefixes a name is written with; the later one of two wins."""

    UPSTREAM = ("ICEBERG_REST__", "LAKEKEEPER__")
    UPSTREAM_NEW = ("LAKEKEEPER__",)
    OURS = ("LAKEWARD__",)

    @property
    def prefix(self) -> str:
        """The prefix that wins, which is also the one to write."""
        return str(self.value[-1])


class Support(enum.Enum):
    """What a known name does in this build. All but SUPPORTED warn when they are set."""

    SUPPORTED = "supported"
    PLANNED = "this build does not support it yet"
    COMMERCIAL = "it belongs to the upstream's commercial edition, and this build has no counterpart yet"
    GONE = "it has had no effect since an earlier version"


class Service(enum.StrEnum):
    """Who reads a setting."""

    GATEWAY = "gateway"
    CATALOG = "catalog"
    AUTHZ = "authz"
    VENDING = "vending"
    CLI = "cli"


EVERYONE: Final = frozenset(Service)


@dataclasses.dataclass(frozen=True, slots=True)
class Setting:
    """One name.

    Attributes:
        name: upper case, without prefix; `<ID>` stands for a level that the writer names, as in
            "OPENID_PROVIDERS__<ID>__URI".
        kind: what its value may be.
        default: the value as it would be written; None where there is none.
        about: one sentence for whoever sets it.
        family: the prefixes it is read with.
        support: what it does in this build.
        services: who reads it.
        instead: for a name of an earlier version, the name that has taken its place and gets its value.
    """

    name: str
    kind: Kind[object]
    default: str | None
    about: str
    family: Family = Family.UPSTREAM
    support: Support = Support.SUPPORTED
    services: frozenset[Service] = EVERYONE
    instead: str | None = None

    @property
    def variable(self) -> str:
        """The environment variable to write."""
        return self.family.prefix + self.name

    @property
    def secret(self) -> bool:
        """Whether its value is masked, and may come from a file."""
        return self.kind.secret

    @property
    def default_value(self) -> object:
        """The parsed default; None where there is none."""
        return None if self.default is None else self.kind.parse(self.default)


@dataclasses.dataclass(frozen=True, slots=True)
class Level:
    """What the writer names as often as needed, each with settings below it.

    Attributes:
        pattern: the beginning of the names, up to the placeholder, as in "OPENID_PROVIDERS__<ID>".
        item: the class of what stands below.
    """

    pattern: str
    item: type[object]


@dataclasses.dataclass(frozen=True, slots=True)
class Match:
    """A name that was written, and the setting it names.

    Attributes:
        setting: the entry of the catalogue.
        levels: what stands for each placeholder, lower case: {"ID": "my-idp"}.
    """

    setting: Setting
    levels: Mapping[str, str]
