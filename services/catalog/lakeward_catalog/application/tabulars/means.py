"""What every change of a tabular is made with."""

from __future__ import annotations

import dataclasses
from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

from lakeward_catalog.application.announcements import Announcer
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.outcomes import Outcomes
from lakeward_catalog.application.ports.files import Files
from lakeward_catalog.application.ports.gates import ChangeGate
from lakeward_servicekit.starts import Starts
from lakeward_servicekit.system import Clock, Ids

T = TypeVar("T")


class Shield(Protocol):
    """Runs work that must not stop halfway, even if the caller is gone."""

    async def __call__(self, work: Coroutine[Any, Any, T]) -> T:
        """What the work answers, for a caller who stays."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """The roles that making and committing have in common, for every kind.

    Attributes:
        starts: says when to read a document and make what is written of it, which is most of what they take of the loop.
    """

    files: Files
    changes: Changes
    outcomes: Outcomes
    gate: ChangeGate
    announcer: Announcer
    clock: Clock
    ids: Ids
    shield: Shield
    starts: Starts
