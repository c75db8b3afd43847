"""Changes that meet, from two processes over one database."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.support.audit import Table, load, snapshot_ids
from tests.support.faults import House, append, create
from tests.support.http import NOBODY
from tests.support.installations import Composition, Installation, planned
from tests.support.warehouses import SCHEMA, make_namespace, tables_of, told

pytestmark = [
    pytest.mark.integration,
    pytest.mark.parametrize("composition", [Composition.ONE_PROCESS], indirect=True),
]

ROUNDS = 6


class Pair:
    """Two processes of one installation, by a client each."""

    def __init__(self, house: House, here: httpx.AsyncClient, there: httpx.AsyncClient) -> None:
        self.house = house
        self.here = here
        self.there = there


@pytest.fixture(scope="module")
async def replicas() -> AsyncIterator[dict[str, Installation]]:
    """Second processes by the first one's address, for the length of the module."""
    made: dict[str, Installation] = {}
    yield made
    for installation in made.values():
        for process in installation.processes.values():
            await process.kill()


@pytest.fixture
async def pair(house: House, replicas: dict[str, Installation]) -> AsyncIterator[Pair]:
    if house.installation.url not in replicas:
        replica = planned(Composition.ONE_PROCESS, house.home / "replica", house.settings)
        replicas[house.installation.url] = replica
        await replica.start()
    async with (
        httpx.AsyncClient(verify=NOBODY, base_url=house.installation.url, timeout=60) as here,
        httpx.AsyncClient(verify=NOBODY, base_url=replicas[house.installation.url].url, timeout=60) as there,
    ):
        yield Pair(house, here, there)


async def _at_once(*calls: Awaitable[httpx.Response]) -> list[httpx.Response]:
    replies = list(await asyncio.gather(*calls))
    for reply in replies:
        assert reply.status_code < 500, f"{reply.request.method} {reply.request.url}: {reply.text}"
    return replies


def _statuses(replies: list[httpx.Response]) -> Counter[int]:
    return Counter(reply.status_code for reply in replies)


async def _table(pair: Pair, name: str = "t") -> Table:
    warehouse = await pair.house.warehouse(pair.here)
    return await create(pair.here, warehouse, await make_namespace(pair.here, warehouse), name)


async def test_of_two_creates_of_one_name_one_wins_and_the_other_is_told(pair: Pair) -> None:
    table = await _table(pair)
    path = tables_of(table.warehouse, table.namespace)
    for number in range(ROUNDS):
        body, other = ({"name": f"{letter}{number}", "schema": SCHEMA} for letter in "aA")
        replies = await _at_once(pair.here.post(path, json=body), pair.there.post(path, json=other))
        assert _statuses(replies) == {200: 1, 409: 1}
        (lost,) = (reply for reply in replies if reply.status_code == 409)
        assert lost.json()["error"]["type"] == "AlreadyExistsException"
    findings = await pair.house.audit({table: []})
    assert not findings.wrong + findings.orphans


async def test_of_two_creates_at_one_location_or_inside_each_other_one_wins(pair: Pair) -> None:
    table = await _table(pair)
    base = (await load(pair.here, table))["location"].rpartition("/")[0]
    path = tables_of(table.warehouse, table.namespace)
    for number in range(ROUNDS):
        outer = f"{base}/custom{number}"
        inner = outer if number % 2 else f"{outer}/deep/er"
        replies = await _at_once(
            pair.here.post(path, json={"name": f"outer{number}", "schema": SCHEMA, "location": outer}),
            pair.there.post(path, json={"name": f"inner{number}", "schema": SCHEMA, "location": inner}),
        )
        assert _statuses(replies)[200] == 1, [reply.text for reply in replies]
        (lost,) = (reply for reply in replies if reply.status_code != 200)
        assert (lost.status_code, lost.json()["error"]["type"]) in {
            (409, "LocationAlreadyTaken"),
            (400, "InvalidLocation"),  # it came late enough to see the winner's file
        }


async def test_a_commit_that_meets_a_drop_happens_before_it_or_not_at_all(pair: Pair) -> None:
    warehouse = await pair.house.warehouse(pair.here)
    namespace = await make_namespace(pair.here, warehouse)
    for number in range(ROUNDS):
        table = await create(pair.here, warehouse, namespace, f"t{number}")
        metadata = await load(pair.here, table)
        drop = pair.there.delete(table.path, params={"purgeRequested": "false"})
        commit, dropped = await _at_once(pair.here.post(table.path, json=append(metadata, 1)), drop)
        assert dropped.status_code in {204, 409}, dropped.text
        assert (commit.status_code, commit.json().get("error", {}).get("type")) in {
            (200, None),
            (404, "NoSuchTableException"),
            (409, "CommitFailedException"),
        }
        assert (await pair.here.head(table.path)).status_code == (404 if dropped.status_code == 204 else 204)
        told(await pair.here.post(tables_of(warehouse, namespace), json={"name": table.name, "schema": SCHEMA}))
        assert (await load(pair.there, table))["table-uuid"] != metadata["table-uuid"], "a dropped table came back"


async def test_a_commit_that_meets_a_rename_is_in_the_renamed_table_where_it_was_acknowledged(pair: Pair) -> None:
    warehouse = await pair.house.warehouse(pair.here)
    namespace = await make_namespace(pair.here, warehouse)
    for number in range(ROUNDS):
        table = await create(pair.here, warehouse, namespace, f"t{number}")
        metadata = await load(pair.here, table)
        body = {
            "source": {"namespace": [namespace], "name": table.name},
            "destination": {"namespace": [namespace], "name": f"renamed{number}"},
        }
        commit, renamed = await _at_once(
            pair.here.post(table.path, json=append(metadata, 1)),
            pair.there.post(f"{warehouse.path}/tables/rename", json=body),
        )
        assert commit.status_code in {200, 404, 409}, commit.text
        assert renamed.status_code in {204, 409}, renamed.text
        now = Table(warehouse, namespace, f"renamed{number}") if renamed.status_code == 204 else table
        assert snapshot_ids(await load(pair.there, now)) == ([1] if commit.status_code == 200 else [])


async def test_a_namespace_is_not_dropped_while_a_table_is_created_in_it(pair: Pair) -> None:
    warehouse = await pair.house.warehouse(pair.here)
    for number in range(ROUNDS):
        namespace = await make_namespace(pair.here, warehouse, f"n{number}")
        dropped, created = await _at_once(
            pair.here.delete(f"{warehouse.path}/namespaces/{namespace}"),
            pair.there.post(tables_of(warehouse, namespace), json={"name": "t", "schema": SCHEMA}),
        )
        assert (dropped.status_code, created.status_code) in {(204, 404), (409, 200)}, (dropped.text, created.text)


async def test_of_commits_to_one_table_from_two_processes_none_is_lost_or_doubled(pair: Pair) -> None:
    table = await _table(pair)
    numbers = random.Random(11)

    async def write(http: httpx.AsyncClient, count: int) -> list[int]:
        mine: list[int] = []
        while len(mine) < count:
            number = numbers.getrandbits(60)
            reply = await http.post(table.path, json=append(await load(http, table), number))
            if reply.status_code == 200:
                mine.append(number)
            else:
                assert (reply.status_code, reply.json()["error"]["type"]) == (409, "CommitFailedException"), reply.text
        return mine

    made = await asyncio.gather(*(write(http, 5) for http in (pair.here, pair.there) for _ in range(2)))
    findings = await pair.house.audit({table: [number for mine in made for number in mine]})
    assert not findings.wrong + findings.orphans, findings


async def test_unconditional_commits_from_two_processes_all_succeed(pair: Pair) -> None:
    """Nobody's requirement fails, so whoever loses a race is run again by the server."""
    table = await _table(pair)

    def change(number: int) -> dict[str, Any]:
        update = {"action": "set-properties", "updates": {f"p{number}": "v"}}
        return {"requirements": [], "updates": [update]}

    replies = await _at_once(
        *(http.post(table.path, json=change(number)) for number, http in enumerate([pair.here, pair.there] * 2))
    )
    assert _statuses(replies) == {200: 4}, [reply.text for reply in replies]
    assert {f"p{number}" for number in range(4)} <= (await load(pair.here, table))["properties"].keys()


async def test_twins_of_one_idempotency_key_in_two_processes_change_once_and_answer_alike(pair: Pair) -> None:
    table = await _table(pair)
    path = tables_of(table.warehouse, table.namespace)
    numbers = random.Random(5)
    for number in range(ROUNDS):
        headers = {"idempotency-key": str(UUID(int=numbers.getrandbits(128), version=4))}
        body = {"name": f"k{number}", "schema": SCHEMA}
        twins = [http.post(path, json=body, headers=headers) for http in (pair.here, pair.there, pair.here, pair.there)]
        replies = await _at_once(*twins)
        assert _statuses(replies).keys() <= {200, 409}, [reply.text for reply in replies]
        for reply in replies:
            if reply.status_code == 409:
                assert reply.json()["error"]["type"] == "RequestInProgress"
                assert reply.headers["retry-after"]
        again = told(await pair.there.post(path, json=body, headers=headers)).json()
        uuids = {reply.json()["metadata"]["table-uuid"] for reply in replies if reply.status_code == 200}
        assert uuids == {again["metadata"]["table-uuid"]}


async def test_twins_of_one_keyed_commit_in_two_processes_commit_once(pair: Pair) -> None:
    table = await _table(pair)
    numbers = random.Random(6)
    for number in range(1, ROUNDS + 1):
        headers = {"idempotency-key": str(UUID(int=numbers.getrandbits(128), version=4))}
        body = append(await load(pair.here, table), number)
        await _at_once(*(http.post(table.path, json=body, headers=headers) for http in (pair.here, pair.there)))
        answer = told(await pair.here.post(table.path, json=body, headers=headers)).json()
        assert snapshot_ids(answer["metadata"])[-1] == number
    findings = await pair.house.audit({table: list(range(1, ROUNDS + 1))})
    assert not findings.wrong + findings.orphans, findings
