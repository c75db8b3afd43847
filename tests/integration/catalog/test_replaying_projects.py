"""Who reads a project's or the server's stream from the beginning has its state, whatever changes meanwhile."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from google.protobuf.duration_pb2 import Duration

from lakeward.events import Event
from lakeward_catalog.adapters.postgres.snapshots import CatalogTold
from lakeward_catalog.application.announcements import Announcer
from lakeward_catalog.domain.model import NIL_PROJECT
from lakeward_protocol.catalog.v1 import project_tasks_pb2, server_pb2, tags_pb2
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.history import HistoryReads, Part
from lakeward_servicekit.events.positions import Beginning, LogPlace
from lakeward_servicekit.postgres.pools import Pool
from tests.support.catalog.house import House, refusal_of
from tests.support.catalog.stores import PostgresStores, catalog_pool
from tests.support.catalog.values import FreshIds
from tests.support.replaying import ThingsMirror, caught_up, consumed, now, reads_of, sequencing, swept

pytestmark = pytest.mark.integration

STREAM = f"project-{NIL_PROJECT}"
_QUEUES = """
select queue, silence, cron from queue_setting
 where project_id = $1 and num_nonnulls(silence, cleanup_period, retention_period, cron) > 0
"""


class _ProjectMirror(ThingsMirror):
    """Definitions of tags, the project, and how its queues are set."""

    def __init__(self) -> None:
        super().__init__(
            members={"project": "project", "tag-definition": "definition"}, ends={("tag-definition", "deleted")}
        )
        self.queues: dict[str, dict[str, Any]] = {}

    def apply(self, event: Event) -> None:
        super().apply(event)
        if event.kind == "project" and event.verb == "snapshot":
            self.queues.clear()
        if "settings" in event.data:
            said = event.data["settings"]
            self.queues[said["queue"]] = {**self.queues.get(said["queue"], {}), **said}

    @property
    def state(self) -> dict[str, Any]:
        queues = {
            queue: (said.get("max-seconds-since-last-heartbeat"), said.get("cron"))
            for queue, said in self.queues.items()
        }
        things = {key: (said["name"], said.get("description")) for key, said in self.things.items()}
        return {"things": things, "queues": {queue: said for queue, said in queues.items() if said != (None, None)}}


async def _stored(pool: Pool) -> dict[str, Any]:
    definitions = await pool.fetch(
        "select tag_id, name, description from tag_definition where project_id = $1", NIL_PROJECT
    )
    name = await pool.fetchval("select name from project where project_id = $1", NIL_PROJECT)
    queues = await pool.fetch(_QUEUES, NIL_PROJECT)
    return {
        "things": {("project", NIL_PROJECT): (name, None)}
        | {("tag-definition", str(tag_id)): (name, about) for tag_id, name, about in definitions},
        "queues": {
            queue: (None if silence is None else int(silence.total_seconds()), cron) for queue, silence, cron in queues
        },
    }


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stores(postgres_url: str) -> AsyncIterator[PostgresStores]:
    async with catalog_pool(postgres_url) as pool:
        yield PostgresStores(pool)


@pytest_asyncio.fixture(loop_scope="session")
async def house(stores: PostgresStores) -> House:
    house = House(stores=stores)
    if not (await stores.servers.server()).bootstrapped:
        await house.server.Bootstrap(server_pb2.BootstrapRequest(accept_terms_of_use=True))
    return house


def _reads(pool: Pool) -> HistoryReads:
    return reads_of(pool, CatalogTold(Announcer(source="lakeward://test", ids=FreshIds())))


class _Changes:
    """Changes what a project's events tell of at random; what does not fit the moment is refused, and that is fine."""

    def __init__(self, house: House, seed: int) -> None:
        self._house, self._random = house, random.Random(seed)
        self._tags: list[str] = []
        self.done = 0

    async def one(self) -> None:
        steps: list[Callable[[], Awaitable[object]]] = [
            self._define,
            self._define,
            self._describe,
            self._forget,
            self._rename,
            self._set_queue,
            self._schedule,
        ]
        try:
            await self._random.choice(steps)()
        except Refusal as refused:
            assert refused.reason != Reason.REASON_INTERNAL, refused  # noqa: PT017 - the others are races
        else:
            self.done += 1

    async def _define(self) -> None:
        self._tags.append(await self._house.make_tag(f"tag-{uuid4()}", "table"))

    async def _describe(self) -> None:
        if self._tags:
            await self._house.tags.UpdateTagDefinition(
                tags_pb2.UpdateTagDefinitionRequest(
                    tag_id=self._random.choice(self._tags),
                    name=f"tag-{uuid4()}",
                    description=self._random.choice((None, "of many")),
                    scopes=[tags_pb2.TAG_SCOPE_TABLE],
                )
            )

    async def _forget(self) -> None:
        if self._tags:
            tag = self._tags.pop(self._random.randrange(len(self._tags)))
            await self._house.tags.DeleteTagDefinition(tags_pb2.DeleteTagDefinitionRequest(tag_id=tag))

    async def _rename(self) -> None:
        await self._house.server.RenameProject(server_pb2.RenameProjectRequest(name=f"called {uuid4()}"))

    async def _set_queue(self) -> None:
        config = project_tasks_pb2.ProjectQueueConfig()
        if self._random.random() < 0.7:
            config.silence.CopyFrom(Duration(seconds=self._random.randrange(60, 99)))
        await self._house.project_tasks.SetProjectQueueConfig(
            project_tasks_pb2.SetProjectQueueConfigRequest(queue="task_log_cleanup", config=config)
        )

    async def _schedule(self) -> None:
        await self._house.project_tasks.SetProjectSchedule(
            project_tasks_pb2.SetProjectScheduleRequest(
                queue="task_log_cleanup", cron=f"{self._random.randrange(59)} 3 * * *"
            )
        )


async def test_a_project_from_the_beginning_is_what_the_rows_say_while_everything_changes(
    house: House, stores: PostgresStores
) -> None:
    pool, reads, over = stores.pool, _reads(stores.pool), asyncio.Event()
    racing = [_Changes(house, seed) for seed in range(3)]
    for one in racing:
        for _ in range(6):
            await one.one()
    await swept(pool)
    consumers: list[asyncio.Task[_ProjectMirror]] = []

    async def change(one: _Changes) -> None:
        for turn in range(50):
            await one.one()
            if turn % 20 == 0:
                task = consumed(reads, STREAM, _ProjectMirror(), over, limit=len(consumers) * 5 + 1)
                consumers.append(asyncio.create_task(task))

    async with sequencing(pool):
        await asyncio.gather(*map(change, racing))
        await caught_up(pool)
        over.set()
        mirrors = await asyncio.gather(*consumers)
    assert sum(one.done for one in racing) > 100
    state = await _stored(pool)
    assert len(state["things"]) > 5
    for mirror in mirrors:
        assert mirror.complete
        assert mirror.state == state


async def test_the_server_is_told_of_though_its_first_event_is_forgotten(house: House, stores: PostgresStores) -> None:
    del house
    await swept(stores.pool)
    reads = _reads(stores.pool)
    first, last = (await reads("server", Part(Beginning()))).events
    assert (first.kind, first.verb, b'"data":{"bootstrapped":true}' in first.cloud_event) == (
        "server",
        "snapshot",
        True,
    )
    assert (last.kind, last.verb) == ("server", "snapshot-completed")
    assert (await refusal_of(reads("server", Part(LogPlace(0))))).reason == Reason.REASON_EVENTS_FORGOTTEN
    await now(reads, "server", ThingsMirror())


async def test_a_project_that_is_gone_has_no_beginning(house: House, stores: PostgresStores) -> None:
    del house
    refused = await refusal_of(_reads(stores.pool)("project-nobodys", Part(Beginning())))
    assert refused.reason == Reason.REASON_NO_SUCH_PROJECT
