"""Queued units of catalog work."""

from __future__ import annotations

import dataclasses
import enum
from datetime import datetime
from uuid import UUID

from lakeward_catalog.domain.model import Incarnation, WarehouseId


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
        purge: for a final deletion: whether files go too.
    """

    queue: Queue
    warehouse_id: WarehouseId
    incarnation: Incarnation
    name: str
    location: str
    scheduled_for: datetime
    purge: bool = True


@dataclasses.dataclass(frozen=True, slots=True)
class Task:
    """Queued work that a worker holds."""

    task_id: UUID
    queue: Queue
    warehouse_id: WarehouseId
    incarnation: Incarnation
    name: str
    location: str
    purge: bool
    attempt: int
    fence: int
