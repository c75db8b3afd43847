"""What a queue is: whose tasks it holds, how they are worked on, what cancelling one means, and whether it makes its own."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from datetime import timedelta
from typing import Protocol

from lakeward_catalog.application.announcements import Announcer
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.ports.files import Files
from lakeward_catalog.application.ports.measuring import Measuring
from lakeward_catalog.application.ports.storage import StorageJudge, UnnamedSecrets
from lakeward_catalog.application.ports.tasks import TaskRecords
from lakeward_catalog.application.ports.upkeep import Upkeep
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.application.workers import Handler, Terms
from lakeward_catalog.domain.tasks import Level, Queue
from lakeward_servicekit.system import Clock, Ids


class Tools(Protocol):
    """What queues' work is made of; the catalog's parts."""

    @property
    def doors(self) -> Doors:
        """To warehouses and what is in them."""
        ...

    @property
    def changes(self) -> Changes:
        """Where changes begin."""
        ...

    @property
    def files(self) -> Files:
        """Files of tabulars."""
        ...

    @property
    def task_records(self) -> TaskRecords:
        """How queues are set."""
        ...

    @property
    def upkeep(self) -> Upkeep:
        """What is counted and forgotten."""
        ...

    @property
    def documents(self) -> Documents:
        """Metadata of tabulars."""
        ...

    @property
    def storage(self) -> StorageJudge:
        """Secrets and places of warehouses."""
        ...

    @property
    def unnamed_secrets(self) -> UnnamedSecrets:
        """Secrets that no warehouse names."""
        ...

    @property
    def measuring(self) -> Measuring:
        """How much generic tables hold."""
        ...

    @property
    def ids(self) -> Ids:
        """New identifiers."""
        ...

    @property
    def rules(self) -> Rules:
        """What the catalog goes by."""
        ...

    @property
    def announcer(self) -> Announcer:
        """Makes events."""
        ...

    @property
    def clock(self) -> Clock:
        """The time."""
        ...


class OnCancel(enum.Enum):
    """What cancelling a task does.

    END: one that waits is never made; one that runs ends once its worker has stopped, and has its place until then.
    RESTORE: the tabular that it was to delete is live again; a worker's outcome counts no more.
    """

    END = enum.auto()
    RESTORE = enum.auto()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QueueKind:
    """One queue.

    Attributes:
        level: whose tasks it holds.
        terms: how they are worked on.
        make: makes what does a task's work.
        on_cancel: what cancelling does.
        cancelled: says so to people, in the record.
        every: it makes a task for each project, so far apart, unless a project says otherwise; None: others queue its tasks.
        takes_periods: a project may say how far apart, and how long records are kept.
    """

    queue: Queue
    level: Level
    terms: Terms
    make: Callable[[Tools], Handler]
    on_cancel: OnCancel = OnCancel.END
    cancelled: str = "Cancelled"
    every: timedelta | None = None
    takes_periods: bool = False
