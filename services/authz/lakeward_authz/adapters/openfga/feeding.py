"""Brings into OpenFGA what authz's rows say.

A feeder holds a lock while it writes, so of several replicas one feeds at a time, and each tuple's changes arrive in their order.
A row leaves the outbox in the transaction that saw it written: after a crash between the two it is written again, which changes
nothing.

`openfga_feeds` says which store the outbox is for, and whether that was given everything once. Its row counts while a process
says again and again that it wants it: without one, as after a change to another decider, changes are no longer put into the
outbox after an hour, and who comes back after half of that begins anew. What OpenFGA holds is never believed before.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final, NamedTuple

from lakeward_authz.adapters.openfga.connection import OpenFga, unavailable
from lakeward_authz.adapters.postgres.revisions import bump
from lakeward_authz.domain.permissions.lakeward import MANAGED_ACCESS, MODEL
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject
from lakeward_authz.domain.permissions.tuples import MARK, FgaTuple, grant_tuple, link_tuple, managed_tuples
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.pools import Connection, Pool

_LOG: Final = logging.getLogger(__name__)
_EVERY: Final = timedelta(seconds=5)
# For what OpenFGA does not know yet, by us or by another process; longer where one answer may take longer.
_PATIENCE: Final = timedelta(seconds=5)
_LOCK: Final = "select pg_advisory_xact_lock(hashtextextended('lakeward: feeding OpenFGA', 0))"
_STATE: Final = """
select exists (select from openfga_feeds where store_id = $1 and complete and wanted_at > now() - interval '30 minutes'),
       exists (select from openfga_outbox)
"""
_WANT: Final = """
update openfga_feeds set wanted_at = now()
 where store_id = $1 and wanted_at between now() - interval '30 minutes' and now() - interval '1 minute'
"""
# No change is under way then that saw nobody feed, and none begins.
_LOCK_FEEDS: Final = "lock table openfga_feeds in access exclusive mode"
_FED: Final = "select store_id from openfga_feeds where wanted_at > now() - interval '30 minutes'"
_BEGIN: Final = """
insert into openfga_feeds (store_id, wanted_at, complete) values ($1, now(), false)
on conflict (only_row) do update set store_id = excluded.store_id, wanted_at = excluded.wanted_at, complete = false
"""
_EMPTY: Final = "delete from openfga_outbox"
_COMPLETE: Final = "update openfga_feeds set complete = true where store_id = $1"
_NEXT: Final = """
select position, tuple_user, relation, object, wanted from openfga_outbox order by position limit 1000
"""
_DONE: Final = "delete from openfga_outbox where position = any($1::bigint[])"
_PENDING: Final = "select tuple_user, relation, object from openfga_outbox"
_OBJECTS: Final = "select kind, project_id, warehouse_id, object_id, parent_id, managed_access from objects"
_GRANTS: Final = "select kind, project_id, warehouse_id, object_id, subject, relation from grants"
_JUDGED: Final = 500  # suspects, while nobody else feeds
_EVERYWHERE: Final = ""  # in place of a project whose grants changed
_FED_BY_NOBODY: Final = (
    "OpenFGA's store can't be compared: no server that decides by it has asked for it in the last half hour, or it was not told"
    " everything yet; it is, when such a server starts"
)
# Of what feeding meets, these say no more to a caller than that there is no answer now.
_BUSY: Final = frozenset({Reason.REASON_CONCURRENT_CHANGE, Reason.REASON_COMMIT_STATE_UNKNOWN})


class Drift(NamedTuple):
    """A tuple that OpenFGA lacks, or that it has though nothing says so.

    Attributes:
        wanted: whether it lacks it.
    """

    tuple: FgaTuple
    wanted: bool

    def __str__(self) -> str:
        where = "missing in OpenFGA" if self.wanted else "in OpenFGA alone"
        return f"{where}: {self.tuple.user} {self.tuple.relation} {self.tuple.object}"


class Feeder:
    """Feeds one store.

    Args:
        pool: of authz's schema, on the primary.
        openfga: the store.
    """

    def __init__(self, pool: Pool, openfga: OpenFga) -> None:
        """Bring the rows of `pool` into `openfga`."""
        self._pool = pool
        self._openfga = openfga
        self._running: asyncio.Task[None] | None = None
        self._fed = ""
        self._patience = max(_PATIENCE, openfga.patience)

    async def catch_up(self) -> None:
        """Return when OpenFGA knows of every change that was committed before this was called.

        A store that is new, or that was not fed for a while, is given everything first. Those who wait at once wait for one.

        Raises:
            Refusal: AUTHORIZATION_UNAVAILABLE, DATABASE_UNAVAILABLE; what was not written waits.
        """
        while True:
            async with self._pool.reading() as connection:
                complete, waiting = await self._state(connection)
            if complete and not waiting:
                return
            try:
                async with asyncio.timeout(self._patience.total_seconds()):
                    await self._joined(self._drain if complete else self._feed)
            except TimeoutError as late:
                raise unavailable("it is being told what it does not know yet") from late

    @asynccontextmanager
    async def kept_up(self) -> AsyncIterator[None]:
        """Feed all the time until the block ends, so that a question finds little to wait for."""
        task = asyncio.create_task(self._keep_up())
        task.add_done_callback(_ended)
        try:
            yield
        finally:
            last = [each for each in (task, self._running) if each is not None]
            for each in last:
                each.cancel()
            await asyncio.gather(*last, return_exceptions=True)

    async def verify(self, *, repair: bool) -> Sequence[Drift]:
        """What OpenFGA holds otherwise than the rows say, when it knows of all that was on its way; with `repair`, mended.

        Only tuples on our objects, and of the relations that we write, are looked at: others in a shared store stay.
        Both sides are held in memory. What was answered meanwhile is not remembered any more where something was mended.

        Raises:
            Refusal: AUTHORIZATION_UNAVAILABLE, also where no process feeds the store; DATABASE_UNAVAILABLE.
        """
        await self._openfga.prepare()
        async with self._pool.reading() as connection:
            await self._check_fed(connection)
            wanted = await _wanted(connection)
        suspects = sorted(wanted ^ await self._there())
        found: list[Drift] = []
        for start in range(0, len(suspects), _JUDGED):
            found += await self._judge(suspects[start : start + _JUDGED], repair=repair)
        return found

    async def _keep_up(self) -> None:
        away = False
        while True:
            try:
                # changes go on being kept for it while it is away
                await self._pool.execute(_WANT, self._fed)
                await self.catch_up()
            except Refusal as refusal:
                if not away:
                    _LOG.warning("OpenFGA is not fed; nothing is decided until it is", extra={"cause": refusal.message})
                away = True
            else:
                if away:
                    _LOG.info("OpenFGA is fed again")
                away = False
            await asyncio.sleep(_EVERY.total_seconds())

    async def _joined(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do it, or wait for what is under way; that goes on when who began it is cancelled."""
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(work())
            self._running.add_done_callback(_seen)
        await asyncio.shield(self._running)

    async def _state(self, connection: Connection) -> tuple[bool, bool]:
        """Whether our store was given everything, and whether something waits for it."""
        row = await connection.fetchrow(_STATE, self._openfga.store_id)
        assert row is not None
        return row[0], row[1]

    async def _drain(self) -> None:
        async with self._alone() as connection:
            await self._drain_by(connection)

    async def _feed(self) -> None:
        """Make the outbox our store's where it may be, and give the store everything."""
        async with self._alone() as connection:
            await self._openfga.prepare()
            store_id = self._openfga.store_id
            complete, _ = await self._state(connection)
            if not complete:
                await connection.execute(_LOCK_FEEDS)
                fed: str | None = await connection.fetchval(_FED)
                # By its name the store may be another than it was: one that forgets what it is told was started again.
                if self._fed and fed not in {None, store_id, self._fed}:
                    raise unavailable("another store is fed since; this process must be started anew")
                await connection.execute(_EMPTY)
                await connection.execute(_BEGIN, store_id)
        # From here on each change is put into the outbox, so the rows as they are now and what waits there are everything.
        async with self._alone() as connection:
            complete, _ = await self._state(connection)
            if not complete:
                changed = await self._repair(connection)
                await connection.execute(_COMPLETE, store_id)
                _LOG.info("OpenFGA was told everything", extra={"store": store_id, "changed": changed})
        self._fed = store_id

    async def _repair(self, connection: Connection) -> int:
        await self._drain_by(connection)
        wanted, there = await _wanted(connection), await self._there()
        drift = [Drift(each, wanted=each in wanted) for each in sorted(wanted ^ there)]
        await self._mend(drift)
        # what was changed meanwhile waits in the outbox, behind what was written here
        return len(drift)

    async def _judge(self, suspects: Sequence[FgaTuple], *, repair: bool) -> list[Drift]:
        """Which tuples differ for certain: nobody feeds meanwhile, and what is on its way is no difference."""
        async with self._alone() as connection:
            await self._check_fed(connection)
            await self._drain_by(connection)
            wanted, objects = await _wanted(connection), {each.object for each in suspects}
            there = {each for name in objects async for each in self._openfga.tuples(on=name)}
            pending = {FgaTuple(*row) for row in await connection.fetch(_PENDING)}
            drift = [
                Drift(each, wanted=each in wanted)
                for each in suspects
                if (each in wanted) != (each in there) and each not in pending
            ]
            if repair and drift:
                await self._mend(drift)
                # No right was given or taken, and what is remembered of OpenFGA's answers may all the same not hold.
                await bump(connection, _EVERYWHERE)
            return drift

    async def _check_fed(self, connection: Connection) -> None:
        complete, _ = await self._state(connection)
        if not complete:
            raise Refusal(Reason.REASON_AUTHORIZATION_UNAVAILABLE, _FED_BY_NOBODY)

    async def _there(self) -> set[FgaTuple]:
        """Every tuple that is ours."""
        return {each async for each in self._openfga.tuples() if _is_ours(each)}

    async def _mend(self, drift: Sequence[Drift]) -> None:
        await self._openfga.write([(each.tuple, each.wanted) for each in drift])

    async def _drain_by(self, connection: Connection) -> None:
        while rows := await connection.fetch(_NEXT):
            latest = {FgaTuple(user, relation, name): wanted for _, user, relation, name, wanted in rows}
            await self._openfga.write([*latest.items()])
            await connection.execute(_DONE, [row["position"] for row in rows])

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[Connection]:
        """A transaction in which nobody else feeds."""
        try:
            async with self._pool.transaction() as connection:
                await connection.execute(f"set local lock_timeout = {self._patience // timedelta(milliseconds=1)}")
                await connection.execute(_LOCK)
                yield connection
        except Refusal as refusal:
            if refusal.reason in _BUSY:
                raise unavailable("another process is telling it what it does not know yet") from refusal
            raise


async def _wanted(connection: Connection) -> set[FgaTuple]:
    """Every tuple that the rows stand for."""
    wanted = set[FgaTuple]()
    for kind, project_id, warehouse_id, object_id, parent_id, managed in await connection.fetch(_OBJECTS):
        key = ObjectKey(kind, project_id, warehouse_id, object_id)
        if (link := link_tuple(key, parent_id)) is not None:
            wanted.add(link)
        if managed:
            wanted.update(managed_tuples(key))
    for kind, project_id, warehouse_id, object_id, subject, relation in await connection.fetch(_GRANTS):
        wanted.add(grant_tuple(ObjectKey(kind, project_id, warehouse_id, object_id), Subject(subject), relation))
    return wanted


def _is_ours(each: FgaTuple) -> bool:
    type_name, _, name = each.object.partition(":")
    found = MODEL.types.get(type_name)
    return found is not None and name.startswith(MARK) and each.relation in {*found.given, found.link, MANAGED_ACCESS}


def _seen(task: asyncio.Task[None]) -> None:
    if not task.cancelled():
        task.exception()  # who waited has it; they may all have gone


def _ended(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _LOG.error("a background loop ended; it runs again with the next start", exc_info=error)
