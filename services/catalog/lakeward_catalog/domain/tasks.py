"""Queued units of catalog work. Each is a warehouse's, about one of its tabulars, or a project's own."""

from __future__ import annotations

import dataclasses
import enum
from datetime import datetime, timedelta
from typing import Self
from uuid import UUID

from lakeward_catalog.domain.model import Incarnation, Tabular, TabularKey, WarehouseId


class Queue(enum.StrEnum):
    """The queues, by their public names."""

    TABULAR_PURGE = "tabular_purge"
    SOFT_DELETION = "soft_deletion"


@dataclasses.dataclass(frozen=True, slots=True)
class NewTask:
    """Work to queue.

    Attributes:
        name: the tabular's path when it was queued, for people.
        location: what a purge deletes; without a trailing slash.
        tabular: what people know it by.
        path: the parts of its namespace, and its name.
        created_at: when it is queued.
        purge: for a final deletion: whether files go too.
        parent_id: the task that queues it.
    """

    queue: Queue
    warehouse_id: WarehouseId
    incarnation: Incarnation
    name: str
    location: str
    tabular: TabularKey
    path: tuple[str, ...]
    created_at: datetime
    scheduled_for: datetime
    purge: bool = True
    parent_id: UUID | None = None

    @classmethod
    def of(cls, tabular: Tabular, queue: Queue, *, created_at: datetime, scheduled_for: datetime) -> Self:
        """Work on a tabular; with its files, unless it is said otherwise."""
        return cls(
            queue=queue,
            warehouse_id=tabular.warehouse_id,
            incarnation=tabular.incarnation,
            name=str(tabular.ident),
            location=tabular.location,
            tabular=TabularKey(tabular.kind, tabular.tabular_id),
            path=(*tabular.ident.namespace.parts, tabular.ident.name),
            created_at=created_at,
            scheduled_for=scheduled_for,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Task:
    """Queued work that a worker holds.

    Attributes:
        spent: attempts that count no more, because it was run again since.
        silence: after which its worker is given up.
    """

    task_id: UUID
    queue: Queue
    warehouse_id: WarehouseId
    incarnation: Incarnation
    name: str
    location: str
    purge: bool
    attempt: int
    fence: int
    spent: int
    silence: timedelta


class Asked(enum.StrEnum):
    """What the worker of a running task is to do, once it asks. STOP: stop, for another attempt later. CANCEL: stop for good."""

    STOP = "stop"
    CANCEL = "cancel"
