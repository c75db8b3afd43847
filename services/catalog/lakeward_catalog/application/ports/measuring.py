"""The role that finds out how much generic tables hold."""

from __future__ import annotations

import dataclasses
from typing import Protocol

from lakeward_catalog.domain.generic.measures import Measures
from lakeward_catalog.domain.model import Tabular, Warehouse


class Unreadable(Exception):  # noqa: N818 - it says what the files are
    """The files are not what the table's format has, or more than is read of any table; the message says what, for people."""


@dataclasses.dataclass(frozen=True, slots=True)
class Meant:
    """A table that is to be measured; `format` as it is recorded."""

    warehouse: Warehouse
    tabular: Tabular
    format: str


class Measuring(Protocol):
    """Reads what tables say of themselves, and never their data. How much is read of one is bounded."""

    @property
    def formats(self) -> frozenset[str]:
        """Those that it reads, in lower case."""
        ...

    async def measure(self, meant: Meant) -> Measures | None:
        """What lies at a table's place; None where nothing was written yet.

        Raises:
            Unreadable: see the class.
            Refusal: those of the store.
        """
        ...
