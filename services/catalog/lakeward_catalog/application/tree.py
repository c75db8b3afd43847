"""What authz is told: each object that the catalog made, moved or let go, in the order of its changes.

A change of the tree is written in the transaction of the change itself, whoever decides about permissions, and stays until authz
has applied it. There is one stream a warehouse, which begins with the making of the warehouse and ends with its deletion, and one
for all projects. Numbers within a stream are given when a change is first sent, for until then nobody knows which of two
transactions ends first; from then on they are kept, so that whatever is sent again is the same.

What is in the tree is what has a row: staged and dropped tabulars too, since a commit to the one and the restoring of the other
are decided like everything else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Final, NewType, Protocol, TypeAlias
from uuid import UUID

from lakeward_catalog.domain.model import WarehouseId
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.authorization.principals import Principal

StreamId = NewType("StreamId", UUID)
"""A warehouse's id, or `PROJECTS`."""
PROJECTS: Final = StreamId(UUID(int=0))


def stream_of(warehouse_id: WarehouseId) -> StreamId:
    """The stream of a warehouse, and of everything in it."""
    return StreamId(warehouse_id)


@dataclasses.dataclass(frozen=True, slots=True)
class Made:
    """An object came to be.

    Attributes:
        owner: who holds it from now on; None for nobody.
        public_id: what people call it by, where that is not the object's own id.
    """

    object: ObjectRef
    owner: Principal | None = None
    public_id: UUID | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Moved:
    """A tabular, or a namespace with all that is in it, hangs from another place of its warehouse."""

    object: ObjectRef


@dataclasses.dataclass(frozen=True, slots=True)
class Gone:
    """An object, with all that is in it, is no more."""

    object: ObjectRef


@dataclasses.dataclass(frozen=True, slots=True)
class Switched:
    """A warehouse serves from now on, or nobody finds anything in it."""

    object: ObjectRef
    active: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Nothing:
    """Stands where a change was that no tree could take."""


TreeChange: TypeAlias = Made | Moved | Switched | Gone | Nothing


@dataclasses.dataclass(frozen=True, slots=True)
class Numbered:
    """A change in its place.

    Attributes:
        sequence: within its stream, from 1, without gaps.
    """

    sequence: int
    change: TreeChange


@dataclasses.dataclass(frozen=True, slots=True)
class Batch:
    """What is to be sent of a stream.

    Attributes:
        base: the sequence of the last change that authz confirmed; 0 for none.
        changes: those that follow, without a gap.
        more: there may be others behind these.
    """

    base: int
    changes: Sequence[Numbered]
    more: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """What authz said of a stream.

    Attributes:
        base: the stream's, when the batch was taken that this answers.
        applied: the sequence of the last change that was applied.
    """

    base: int
    applied: int


class TreeStreams(Protocol):
    """Changes of the tree that authz has not confirmed. All methods raise Refusal DATABASE_UNAVAILABLE."""

    async def pending(self) -> Sequence[StreamId]:
        """Streams that have changes, that of projects first."""
        ...

    async def take(self, stream: StreamId, answer: Answer | None, *, limit: int) -> Batch:
        """What to send now: what was taken before and is not confirmed, under the same numbers, and what was committed since.

        Of a warehouse that is deleted all changes read as `Gone`, so that no tree refuses them, whatever it knows of the project.

        Args:
            stream: which.
            answer: what authz said last, if that was not told here yet: up to there, changes are forgotten. Where authz is behind
                what it had confirmed, or ahead of what was ever sent, numbers go on where authz is.
            limit: changes in a batch.
        """
        ...

    async def pass_over(self, stream: StreamId, sequence: int) -> None:
        """Put `Nothing` in the place of a change that was taken; one that is confirmed meanwhile stays as it was."""


class Tree(Protocol):
    """Authz's tree of objects."""

    async def apply(self, stream: StreamId, changes: Sequence[Numbered]) -> int:
        """Tell of changes; answers the sequence of the last one that was applied, now or before.

        Raises:
            Refusal: INVALID_FIELD where no tree allows one of them; then none was applied. SERVICE_UNAVAILABLE and the like where
                it is not known what arrived: send again.
        """
        ...


class TreeWatch(Protocol):
    """Hears of commits that changed the tree."""

    async def grown(self, streams: Collection[StreamId], *, awaited: bool) -> None:
        """A transaction that changed these streams was committed.

        Args:
            streams: which.
            awaited: something was made or moved that its maker may use next; returns when it may, or can't be waited for.
        """
        ...
