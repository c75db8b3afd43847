"""Queued units of catalog work. Each is a warehouse's, about one of its tabulars, or a project's own."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Self, TypeAlias
from uuid import UUID

from lakeward_catalog.domain.model import Incarnation, ProjectId, Tabular, TabularKey, WarehouseId

Owner: TypeAlias = WarehouseId | ProjectId
"""Whose a task is, and who may see it: a warehouse's, by a UUID, or a project's, by a text."""


class Level(enum.Enum):
    """Whose tasks a queue holds."""

    WAREHOUSE = "warehouse"
    PROJECT = "project"

    @classmethod
    def of(cls, owner: Owner) -> Level:
        """The level at which it owns tasks."""
        return cls.WAREHOUSE if isinstance(owner, UUID) else cls.PROJECT


class Queue(enum.StrEnum):
    """The queues, by their public names."""

    TABULAR_PURGE = "tabular_purge"
    SOFT_DELETION = "soft_deletion"
    TASK_LOG_CLEANUP = "task_log_cleanup"
    STATISTICS = "statistics"
    GENERIC_STATISTICS = "generic_statistics"
    NAMESPACE_DROP = "namespace_drop"
    WAREHOUSE_DROP = "warehouse_drop"


class _Owned:
    """Whose something is, and what it is about.

    Attributes:
        owner: whose it is.
        subject: the incarnation, or the id, of what it is about; None where that is the owner.
    """

    __slots__ = ()
    owner: Owner
    subject: UUID | None

    @property
    def warehouse_id(self) -> WarehouseId:
        """Whose it is, at the level of warehouses."""
        assert isinstance(self.owner, UUID), "it is a project's"
        return WarehouseId(self.owner)

    @property
    def project_id(self) -> ProjectId:
        """Whose it is, at the level of projects."""
        assert isinstance(self.owner, str), "it is a warehouse's"
        return ProjectId(self.owner)

    @property
    def incarnation(self) -> Incarnation:
        """The tabular that it is about."""
        assert self.subject is not None, "it is about no tabular"
        return Incarnation(self.subject)


@dataclasses.dataclass(frozen=True, slots=True)
class NewTask(_Owned):
    """Work to queue.

    Attributes:
        name: the tabular's path when it was queued, for people.
        location: what a purge deletes; without a trailing slash. None where no files are meant.
        tabular: what people know it by; None where it is about no tabular.
        path: the parts of its namespace, and its name.
        created_at: when it is queued.
        purge: for a final deletion: whether files go too.
        parent_id: the task that queues it.
        plan: what its queue has to know beside, as JSON has it.
    """

    queue: Queue
    owner: Owner
    subject: UUID | None
    name: str
    location: str | None
    tabular: TabularKey | None
    path: tuple[str, ...]
    created_at: datetime
    scheduled_for: datetime
    purge: bool = True
    parent_id: UUID | None = None
    plan: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, tabular: Tabular, queue: Queue, *, created_at: datetime, scheduled_for: datetime) -> Self:
        """Work on a tabular; with its files, unless it is said otherwise."""
        return cls(
            queue=queue,
            owner=tabular.warehouse_id,
            subject=tabular.incarnation,
            name=str(tabular.ident),
            location=tabular.location,
            tabular=TabularKey(tabular.kind, tabular.tabular_id),
            path=(*tabular.ident.namespace.parts, tabular.ident.name),
            created_at=created_at,
            scheduled_for=scheduled_for,
        )

    @classmethod
    def of_project(cls, project_id: ProjectId, queue: Queue, *, at: datetime) -> Self:
        """Work on a project itself, to begin at once."""
        return cls(
            queue=queue,
            owner=project_id,
            subject=None,
            name=project_id,
            location=None,
            tabular=None,
            path=(),
            created_at=at,
            scheduled_for=at,
            purge=False,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Task(_Owned):
    """Queued work that a worker holds.

    Attributes:
        location: of the files that it is about; empty where there are none.
        spent: attempts that count no more, because it was run again since.
        silence: after which its worker is given up.
        plan: as it was queued.
    """

    task_id: UUID
    queue: Queue
    owner: Owner
    subject: UUID | None
    name: str
    location: str
    purge: bool
    attempt: int
    fence: int
    spent: int
    silence: timedelta
    plan: Mapping[str, Any] = dataclasses.field(default_factory=dict)


class Asked(enum.StrEnum):
    """What the worker of a running task is to do, once it asks. STOP: stop, for another attempt later. CANCEL: stop for good."""

    STOP = "stop"
    CANCEL = "cancel"


@dataclasses.dataclass(frozen=True, slots=True)
class QueueConfig:
    """How a queue is set for one owner; None: as the queue has it.

    Attributes:
        silence: after which its workers are given up.
        every: between two tasks of a queue that makes its own.
        kept_for: how long the record of what has ended is kept.
    """

    silence: timedelta | None = None
    every: timedelta | None = None
    kept_for: timedelta | None = None
