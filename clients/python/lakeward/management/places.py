"""What grants and tags are on: the server, a project, a warehouse, or what is in one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal
from uuid import UUID

from lakeward.errors import ConfigurationError

Inner = Literal["namespace", "table", "view", "generic_table"]
"""Kinds of what is in a warehouse, as operations are called."""
INNER: Final[Mapping[Inner, str]] = MappingProxyType(
    {"namespace": "namespace", "table": "table", "view": "view", "generic_table": "generic table"}
)


@dataclass(frozen=True)
class Place:
    """One of these; `SERVER` and `PROJECT` are the server itself and the client's project.

    Attributes:
        noun: as operations are called: "server", "project", "warehouse" or one of `INNER`.
        warehouse: its name or id, where it is one or in one.
        inner: the id of what is in it.
        column: of that table, by name; it has tags, and no grants.
    """

    noun: Literal["server", "project", "warehouse"] | Inner
    warehouse: str | UUID = ""
    inner: str | UUID = ""
    column: str = ""

    def __post_init__(self) -> None:
        """Refuse what is no place.

        Raises:
            ConfigurationError: an id is missing, or a column is not a table's.
        """
        within = self.noun in INNER
        if bool(self.inner) is not within or bool(self.warehouse) is not (within or self.noun == "warehouse"):
            raise ConfigurationError(f"a place of the kind {self.noun!r} has other ids than these")
        if self.column and self.noun != "table":
            raise ConfigurationError("columns are tables'")


SERVER: Final = Place("server")
PROJECT: Final = Place("project")
