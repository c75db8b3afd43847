"""Comparing what authz knows of objects with what the catalog has, and mending it, while both go on.

What differs between two readings is only a suspect, since changes are on their way all the time. A suspect is judged while its
row in the catalog is held: what is not being told then, authz must know as the row says. What is to be mended is told as changes
are, in the transaction that holds the row.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from lakeward_catalog.application.feeding import TreeFeed
from lakeward_catalog.application.tree import PROJECTS, StreamId, stream_of
from lakeward_catalog.domain.model import ProjectId, WarehouseId
from lakeward_servicekit.authorization.objects import ObjectKind

PAGE: Final = 1000
_AT_ONCE: Final = 500  # suspects whose rows are held together
_ROUNDS: Final = 5
NIL: Final = UUID(int=0)
"""The id of a project or warehouse within its own place."""


class Place(NamedTuple):
    """Where objects are: in a warehouse, or a project itself."""

    project_id: ProjectId
    warehouse_id: WarehouseId | None = None

    @property
    def stream(self) -> StreamId:
        """Which tells of what is here."""
        return PROJECTS if self.warehouse_id is None else stream_of(self.warehouse_id)

    @property
    def root(self) -> Key:
        """The project or the warehouse itself."""
        return Key((ObjectKind.PROJECT if self.warehouse_id is None else ObjectKind.WAREHOUSE).word, NIL)


class Key(NamedTuple):
    """An object in its place; `kind` is authz's word, and keys are ordered as pages are."""

    kind: str
    id: UUID


class Standing(NamedTuple):
    """Where an object is.

    Attributes:
        parent_id: the namespace that holds it; None at the top level and above.
        depth: of a namespace of the catalog, 1 at the top; 0 of everything else.
        inactive: a warehouse that serves nobody now.
    """

    key: Key
    parent_id: UUID | None
    depth: int = 0
    inactive: bool = False


class Held(NamedTuple):
    """A row of the catalog that nobody can move or delete now.

    Attributes:
        public_id: what people call it by, where that is not its own id.
        shown: its name, for people.
    """

    standing: Standing
    public_id: UUID | None
    shown: str


class Verdict(enum.StrEnum):
    """How an object differs."""

    MISSING = "missing in authz"
    ELSEWHERE = "hanging elsewhere in authz"
    SWITCHED = "active or not otherwise in authz"
    EXTRA = "in authz alone"


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """An object that authz does not know as it is.

    Attributes:
        held: what the catalog has; None where it has none.
    """

    verdict: Verdict
    place: Place
    key: Key
    held: Held | None

    def __str__(self) -> str:
        where, name = self.place, "" if self.held is None else f" {self.held.shown!r}"
        itself = self.key.id == NIL
        of = where.project_id if where.warehouse_id is None else where.warehouse_id if itself else self.key.id
        within = "" if where.warehouse_id is None else f" of project {where.project_id}"
        within = within if itself else f" in warehouse {where.warehouse_id}{within}"
        return f"{self.verdict}: {self.key.kind} {of}{name}{within}"


class Holding(Protocol):
    """A transaction that holds what there is of some suspects.

    Attributes:
        there: by key; what the catalog has not is not in it.
        unsettled: what can't be judged now: something is being told of it, or of what it is in, or another holds its row.
    """

    @property
    def there(self) -> Mapping[Key, Held]: ...  # noqa: D102 - see the class

    @property
    def unsettled(self) -> Collection[Key]: ...  # noqa: D102 - see the class

    async def tell(self, differences: Sequence[Difference]) -> None:
        """Tell authz what ends these, in their order."""


class CatalogTree(Protocol):
    """What the catalog has. All methods raise Refusal DATABASE_UNAVAILABLE."""

    async def places(self) -> Sequence[Place]:
        """All projects and warehouses."""
        ...

    async def objects(self, place: Place, *, after: Key | None, limit: int) -> Sequence[Standing]:
        """What is in a place, that itself included, by key, behind one; at most `limit`."""
        ...

    def hold(self, place: Place, suspects: Sequence[Key]) -> AbstractAsyncContextManager[Holding]:
        """Keep others from moving, deleting and making these, until the block ends; waits for nobody."""
        ...


class AuthzTree(Protocol):
    """What authz knows. Both methods raise Refusal SERVICE_UNAVAILABLE and the like."""

    async def places(self, *, after: Place | None, limit: int) -> Sequence[Place]:
        """Where it knows of anything, in one order, behind a place; at most `limit`."""
        ...

    async def objects(
        self, place: Place, *, after: Key | None, limit: int, ids: Sequence[UUID] = ()
    ) -> Sequence[Standing]:
        """What it knows in a place, as `CatalogTree.objects`; where there are `ids`, only those. Roles are left out."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Verified:
    """What came of it.

    Attributes:
        found: differences, mended ones too.
        left: those that are still there, and what could not be judged.
    """

    found: int
    left: int


@dataclasses.dataclass(frozen=True, slots=True)
class TreeVerification:
    """Compares authz's tree with the catalog's rows. May run beside everything else, and be repeated.

    Attributes:
        report: told of each difference, once.
    """

    rows: CatalogTree
    tree: AuthzTree
    feed: TreeFeed
    report: Callable[[Difference], None]

    async def __call__(self, *, repair: bool) -> Verified:
        """Compare everything; with `repair` also mend it, and wait until authz has applied that.

        Raises:
            Refusal: DATABASE_UNAVAILABLE, SERVICE_UNAVAILABLE.
        """
        found = left = 0
        ours = set(await self.rows.places())
        for place in sorted(ours | set(await self._known_places()), key=_projects_first):
            reported, remaining = await self._verify(place, there=place in ours, repair=repair)
            found, left = found + reported, left + remaining
        return Verified(found, left)

    async def _known_places(self) -> Sequence[Place]:
        known: list[Place] = []
        while True:
            page = await self.tree.places(after=known[-1] if known else None, limit=PAGE)
            known += page
            if len(page) < PAGE:
                return known

    async def _verify(self, place: Place, *, there: bool, repair: bool) -> tuple[int, int]:
        """How many differences there are in a place, and how many are left."""
        reported: set[Key] = set()
        found = unsettled = 0
        for _ in range(_ROUNDS):
            await self._drain(place)
            suspects, found, unsettled = await self._suspects(place, there=there), 0, 0
            for start in range(0, len(suspects), _AT_ONCE):
                differences, open_ones = await self._judge(place, suspects[start : start + _AT_ONCE], repair=repair)
                for difference in differences:
                    if difference.key not in reported:
                        self.report(difference)
                reported |= {difference.key for difference in differences}
                found, unsettled = found + len(differences), unsettled + open_ones
            if unsettled == 0 and (found == 0 or not repair):
                break
        return len(reported), found + unsettled

    async def _drain(self, place: Place) -> None:
        """Have everything told that is pending; the second time notes that the first was heard."""
        for stream in dict.fromkeys((PROJECTS, place.stream)):
            await self.feed.delivered(stream)
            await self.feed.delivered(stream)

    async def _suspects(self, place: Place, *, there: bool) -> Sequence[Key]:
        """Objects that two readings tell apart, in the order in which they are to be mended."""

        def ours(after: Key | None) -> Awaitable[Sequence[Standing]]:
            return self.rows.objects(place, after=after, limit=PAGE)

        def theirs(after: Key | None) -> Awaitable[Sequence[Standing]]:
            return self.tree.objects(place, after=after, limit=PAGE)

        suspects: list[tuple[int, int, Key]] = []
        async for mine, known in _side_by_side(_all(ours), _all(theirs)):
            if mine is None and known is not None:
                if not there:
                    return [place.root]  # all that is in it goes with it
                suspects.append((_EXTRA_LAST if known.key.kind in _CONTAINERS else _EXTRA_FIRST, 0, known.key))
            elif mine is not None and (known is None or _placed(known) != _placed(mine)):
                suspects.append((_MADE if known is None else _MOVED, _level(mine), mine.key))
        return [key for _, _, key in sorted(suspects)]

    async def _judge(self, place: Place, suspects: Sequence[Key], *, repair: bool) -> tuple[Sequence[Difference], int]:
        """Which of these differ for certain, and how many can't be judged."""
        async with self.rows.hold(place, suspects) as holding:
            known = {
                standing.key: standing
                for standing in await self.tree.objects(place, after=None, limit=PAGE, ids=[key.id for key in suspects])
            }
            if place.root in suspects and place.root not in {**known, **holding.there}:
                # Something may be in a place that itself is not there.
                left_over = await self.tree.objects(place, after=None, limit=1)
                known |= {place.root: Standing(place.root, None)} if left_over else {}
            certain = [key for key in suspects if key not in holding.unsettled]
            found = [_judged(place, key, holding.there.get(key), known.get(key)) for key in certain]
            differences = [difference for difference in found if difference is not None]
            if repair and differences:
                await holding.tell(differences)
        return differences, len(suspects) - len(certain)


_CONTAINERS: Final = frozenset({ObjectKind.PROJECT.word, ObjectKind.WAREHOUSE.word, ObjectKind.NAMESPACE.word})
# What nothing hangs from goes first, since its name among people may be what a missing one needs; containers that go may still
# hold what is to be moved out of them.
_EXTRA_FIRST, _MADE, _MOVED, _EXTRA_LAST = range(4)
_DEEPER_THAN_ANY: Final = 1 << 20


def _projects_first(place: Place) -> tuple[bool, str, str]:
    return place.warehouse_id is not None, place.project_id, str(place.warehouse_id)


def _level(standing: Standing) -> int:
    """Containers before what is in them."""
    if standing.key.id == NIL:
        return 0
    return standing.depth or _DEEPER_THAN_ANY


def _judged(place: Place, key: Key, held: Held | None, known: Standing | None) -> Difference | None:
    if held is None:
        return None if known is None else Difference(Verdict.EXTRA, place, key, None)
    if known is None:
        return Difference(Verdict.MISSING, place, key, held)
    if known.parent_id != held.standing.parent_id:
        return Difference(Verdict.ELSEWHERE, place, key, held)
    same = known.inactive == held.standing.inactive
    return None if same else Difference(Verdict.SWITCHED, place, key, held)


def _placed(standing: Standing) -> tuple[UUID | None, bool]:
    """What both have to say alike of an object."""
    return standing.parent_id, standing.inactive


async def _all(page: Callable[[Key | None], Awaitable[Sequence[Standing]]]) -> AsyncIterator[Standing]:
    after: Key | None = None
    while True:
        found = await page(after)
        for standing in found:
            yield standing
        if len(found) < PAGE:
            return
        after = found[-1].key


async def _side_by_side(
    ours: AsyncIterator[Standing], theirs: AsyncIterator[Standing]
) -> AsyncIterator[tuple[Standing | None, Standing | None]]:
    """Both, in the order of keys; what stands in one alone has nothing beside it."""
    mine, known = await anext(ours, None), await anext(theirs, None)
    while mine is not None or known is not None:
        if known is None or (mine is not None and mine.key < known.key):
            yield mine, None
            mine = await anext(ours, None)
        elif mine is None or known.key < mine.key:
            yield None, known
            known = await anext(theirs, None)
        else:
            yield mine, known
            mine, known = await anext(ours, None), await anext(theirs, None)
