"""Commits, and tabulars that come to be, in transactions that they share.

Most changes are one of these with its event. A transaction costs four round trips and a wait for the disk, however many are in
it: so those that come at one moment are written together, and the busier it is, the less each costs. None is another's concern.
One that loses its race writes nothing. Where the database refuses what several ask for, or one of them would have to wait for
somebody, each is tried by itself.
"""

from __future__ import annotations

import asyncio
import copy
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from contextvars import Context, copy_context
from typing import Final, NamedTuple, Protocol

from lakeward_catalog.adapters.postgres.ledger import PostgresLedger
from lakeward_catalog.adapters.postgres.tabular_changes import PostgresTabularChanges
from lakeward_catalog.application.changes import Stood, TabularCommit, TabularInsert
from lakeward_catalog.domain.model import Incarnation
from lakeward_servicekit.coalescing import Coalescer
from lakeward_servicekit.errors import CommitStateUnknown, Reason, Refusal
from lakeward_servicekit.events.cloud_events import Event

_MOST: Final = 16
# What is so for whatever is asked next, too.
_AWAY: Final = frozenset({Reason.REASON_DATABASE_UNAVAILABLE, Reason.REASON_OVERLOADED})


class Change(Protocol):
    """What of a change is needed here."""

    @property
    def tabulars(self) -> PostgresTabularChanges:
        """Tabulars."""
        ...

    @property
    def ledger(self) -> PostgresLedger:
        """Events."""
        ...


class _Commit(NamedTuple):
    commit: TabularCommit
    tell: Callable[[Stood], Event]
    asker: Context


class _Insert(NamedTuple):
    insert: TabularInsert
    event: Event
    asker: Context


class Together:
    """The two changes of `Changes` that are so common.

    Args:
        alone: begins a transaction.
        shared: begins one that waits for no lock for long.
    """

    def __init__(
        self,
        *,
        alone: Callable[[], AbstractAsyncContextManager[Change]],
        shared: Callable[[], AbstractAsyncContextManager[Change]],
    ) -> None:
        """See the class."""
        self._alone: Final = alone
        self._shared: Final = shared
        self._commits: Final[Coalescer[_Commit, bool | None]] = Coalescer(self._commit_all, max_items=_MOST)
        self._inserts: Final[Coalescer[_Insert, bool]] = Coalescer(self._insert_all, max_items=_MOST)

    async def commit(self, commit: TabularCommit, tell: Callable[[Stood], Event]) -> bool:
        """See `Changes`."""
        asked = _Commit(commit, tell, copy_context())
        committed = await self._commits(asked)
        return await self._commit_alone(asked) if committed is None else committed

    async def insert(self, insert: TabularInsert, event: Event) -> None:
        """See `Changes`."""
        asked = _Insert(insert, event, copy_context())
        if not await self._inserts(asked):
            await self._insert_alone(asked)

    async def _commit_all(self, asked: Sequence[_Commit]) -> Sequence[bool | None]:
        """Whether each was made; None: it is to be tried by itself."""
        if len(asked) == 1:
            return [await self._commit_alone(asked[0])]
        try:
            return await self._commit_in(self._shared(), asked)
        except Exception as error:
            if _is_everybodys(error):
                raise
            return [None] * len(asked)

    async def _commit_alone(self, asked: _Commit) -> bool:
        (committed,) = await self._commit_in(self._alone(), [asked])
        return committed

    async def _commit_in(
        self, transaction: AbstractAsyncContextManager[Change], asked: Sequence[_Commit]
    ) -> Sequence[bool]:
        async with transaction as change:
            stood = await change.tabulars.commit_each([each.commit for each in asked])
            for commit, tell, asker in asked:
                if (where := stood.get(commit.metadata_id)) is not None:
                    change.ledger.emit_for(asker, asker.run(tell, where))
        return [each.commit.metadata_id in stood for each in asked]

    async def _insert_all(self, asked: Sequence[_Insert]) -> Sequence[bool | Exception]:
        """Whether each was made; False: it is to be tried by itself."""
        # A transaction may wait for whoever holds its namespace. Of several namespaces, another might wait for the first one.
        inside: defaultdict[tuple[object, object], list[_Insert]] = defaultdict(list)
        for each in asked:
            inside[each.insert.tabular.warehouse_id, each.insert.tabular.namespace_id].append(each)
        outcomes = await asyncio.gather(*map(self._insert_into_one, inside.values()))
        answers = {
            id(each): answer
            for group, outcome in zip(inside.values(), outcomes, strict=True)
            for each, answer in zip(group, outcome, strict=True)
        }
        return [answers[id(each)] for each in asked]

    async def _insert_into_one(self, asked: Sequence[_Insert]) -> Sequence[bool | Exception]:
        """See `_insert_all`; into one namespace."""
        if len(asked) == 1:
            try:
                await self._insert_alone(asked[0])
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the one's
                return [error]
            return [True]
        try:
            made = await self._insert_in(self._shared(), asked)
        except Exception as error:  # noqa: BLE001 - as above, or met again by each
            return [copy.copy(error) if _is_everybodys(error) else False for _ in asked]
        return [each.insert.tabular.incarnation in made for each in asked]

    async def _insert_in(
        self, transaction: AbstractAsyncContextManager[Change], asked: Sequence[_Insert]
    ) -> Collection[Incarnation]:
        async with transaction as change:
            made = await change.tabulars.insert_each([each.insert for each in asked])
            for insert, event, asker in asked:
                if insert.tabular.incarnation in made:
                    change.ledger.emit_for(asker, event)
        return made

    async def _insert_alone(self, asked: _Insert) -> None:
        insert, event, asker = asked
        async with self._alone() as change:
            await change.tabulars.insert(
                insert.tabular, insert.body, owner=insert.owner, looks=True, listed_as=insert.listed_as
            )
            change.ledger.emit_for(asker, event)


def _is_everybodys(error: Exception) -> bool:
    """Whether it says nothing of one change: the outcome is not known, or the next would be refused alike."""
    return isinstance(error, CommitStateUnknown) or (isinstance(error, Refusal) and error.reason in _AWAY)
