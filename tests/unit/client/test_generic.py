"""Generic tables over a server that is a function: what is sent, what is read, and when credentials are asked for again."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from lakeward import Access, AsyncAccess, Client, GenericTables, Retries
from lakeward.credentials import Credentials, GcsToken
from lakeward.errors import (
    AnswerError,
    ConfigurationError,
    ConflictError,
    ForbiddenError,
    NoCredentialsError,
    NotFoundError,
    UnreachableError,
)

WAREHOUSE = "0198e000-0000-7000-8000-000000000001"
TABLE = "0198e000-0000-7000-8000-000000000002"
S3 = {"s3.access-key-id": "AK", "s3.secret-access-key": "SK", "s3.session-token": "ST"}
LOADED = {
    "table": {
        "id": TABLE,
        "name": "Images",
        "format": "lance",
        "base-location": "s3://lake/t",
        "properties": {"a": "1"},
        "schema": {"fields": []},
        "protected": False,
        "registered": True,
    },
    "storage-credentials": [{"prefix": "s3://lake/t", "config": S3}],
}


class Server:
    """Answers in order, and keeps what it was asked."""

    def __init__(self, *answers: httpx.Response) -> None:
        self.answers = list(answers)
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        return self.answers.pop(0)

    @property
    def lines(self) -> list[str]:
        return [f"{each.method} {each.url.raw_path.decode().removeprefix('/lakekeeper/v1/')}" for each in self.asked]

    @property
    def body(self) -> Any:
        return json.loads(self.asked[-1].content)


def tables_of(server: Callable[[httpx.Request], httpx.Response]) -> GenericTables:
    lake = Client("http://lake.test", transport=httpx.MockTransport(server), retries=Retries(attempts=1))
    return lake.warehouse(WAREHOUSE).generic


def refused(status: int, kind: str) -> httpx.Response:
    return httpx.Response(status, json={"error": {"message": "no", "type": kind, "code": status}})


def loaded(**headers: str) -> httpx.Response:
    return httpx.Response(200, json=LOADED, headers={"etag": '"e1"', **headers})


def test_a_create_sends_what_is_given_and_brings_the_first_credentials() -> None:
    server = Server(loaded())
    made = tables_of(server).create("ai.test", "Images", format="lance", properties={"a": "1"}, schema={"fields": []})
    assert server.lines == [f"POST {WAREHOUSE}/namespaces/ai%1Ftest/generic-tables"]
    assert server.body == {"name": "Images", "format": "lance", "properties": {"a": "1"}, "schema": {"fields": []}}
    assert server.asked[0].headers["x-iceberg-access-delegation"] == "vended-credentials"
    assert server.asked[0].headers["idempotency-key"]
    assert (str(made.info.id), made.name, made.info.registered, made.info.etag) == (TABLE, "Images", True, '"e1"')
    assert made.access().get().storage_options()["aws_session_token"] == "ST"
    assert len(server.asked) == 1


def test_a_name_that_a_generic_table_has_may_be_no_conflict() -> None:
    server = Server(refused(409, "GenericTableAlreadyExists"), loaded())
    assert tables_of(server).create("ai", "images", format="lance", exist_ok=True).name == "Images"
    for conflict in ("LocationAlreadyTaken", "AlreadyExistsException"):
        with pytest.raises(ConflictError):
            tables_of(Server(refused(409, conflict))).create("ai", "images", format="lance", exist_ok=True)
    hidden = Server(refused(409, "GenericTableAlreadyExists"), refused(404, "NoSuchGenericTableException"))
    with pytest.raises(ConflictError):
        tables_of(hidden).create("ai", "images", format="lance", exist_ok=True)


def test_a_listing_goes_on_over_empty_pages() -> None:
    entry = {"namespace": ["ai"], "name": "a", "id": TABLE, "format": "lance"}
    server = Server(
        httpx.Response(200, json={"identifiers": [], "next-page-token": "p2"}),
        httpx.Response(200, json={"identifiers": [entry], "next-page-token": "p3"}),
        httpx.Response(200, json={"identifiers": []}),
    )
    assert [each.name for each in tables_of(server).list("ai", page_size=1)] == ["a"]
    assert [each.url.params["pageToken"] for each in server.asked] == ["", "p2", "p3"]


def test_an_update_says_what_changes_and_which_state_is_meant() -> None:
    server = Server(loaded(), loaded(), refused(412, "PreconditionFailed"))
    table = tables_of(server).load("ai", "images")
    table.update(set_properties={"b": "2"}, remove_properties=["a"], doc=None, statistics={"rows": 3})
    assert server.body == {
        "set-properties": {"b": "2"},
        "remove-properties": ["a"],
        "doc": None,
        "statistics": {"rows": 3},
    }
    assert server.asked[-1].headers["if-match"] == '"e1"'
    with pytest.raises(ConflictError) as conflict:
        table.update(doc="x")
    assert conflict.value.status == 412


def test_no_tag_that_is_none_is_sent() -> None:
    with pytest.raises(ConfigurationError, match="quotes"):
        tables_of(Server()).update("ai", "t", doc="x", etag="e1")


def test_a_drop_leaves_the_files_unless_it_says_otherwise() -> None:
    server = Server(*(httpx.Response(204) for _ in range(3)))
    tables = tables_of(server)
    tables.drop("ai", "a/b")
    tables.drop("ai", "t", purge=True, force=True)
    tables.rename("ai", "t", "u", into="eu")
    assert server.lines == [
        f"DELETE {WAREHOUSE}/namespaces/ai/generic-tables/a%2Fb?purgeRequested=false",
        f"DELETE {WAREHOUSE}/namespaces/ai/generic-tables/t?purgeRequested=true&force=true",
        f"POST {WAREHOUSE}/generic-tables/rename",
    ]
    assert server.body["destination"] == {"namespace": ["eu"], "name": "u"}


def test_whether_a_table_is_there_is_no_error() -> None:
    tables = tables_of(Server(httpx.Response(204), httpx.Response(404), httpx.Response(403)))
    assert tables.exists("ai", "t") is True
    assert tables.exists("ai", "t") is False
    with pytest.raises(ForbiddenError):
        tables.exists("ai", "t")


def test_who_is_handed_no_credentials_is_told_when_they_are_wanted() -> None:
    bare = httpx.Response(200, json={"table": LOADED["table"]})
    server = Server(bare, httpx.Response(200, json={"storage-credentials": []}))
    table = tables_of(server).load("ai", "t", credentials=False)
    assert server.asked[0].headers["x-iceberg-access-delegation"] == "client-managed"
    with pytest.raises(NoCredentialsError, match="s3://lake/t"):
        table.access().get()


def test_how_long_credentials_should_last_is_said_in_milliseconds() -> None:
    server = Server(httpx.Response(200, json={"storage-credentials": LOADED["storage-credentials"]}))
    tables_of(server).credentials("ai", "t", "s3://lake/t", min_validity=90.5)
    assert server.asked[0].url.params["min-validity-ms"] == "90500"


@pytest.mark.parametrize("document", [{}, {"table": {}}, {"table": []}, [], {"table": {**LOADED["table"], "id": "x"}}])
def test_an_answer_that_describes_no_table_can_not_be_read(document: Any) -> None:
    with pytest.raises(AnswerError):
        tables_of(Server(httpx.Response(200, json=document))).load("ai", "t")


def version(number: int) -> dict[str, Any]:
    return {"version": number, "path": f"{number}.json", "size": None, "properties": {}, "claimed-at-ms": 0}


def test_versions_are_claimed_read_listed_and_forgotten() -> None:
    server = Server(
        httpx.Response(200, json=version(7)),
        httpx.Response(200, json=version(7)),
        httpx.Response(200, json={"versions": [version(7), version(6)]}),
        httpx.Response(200, json={"versions": [version(5)]}),
        httpx.Response(204),
        refused(409, "TableVersionConflict"),
    )
    versions = tables_of(server).versions("ai", "t")
    assert versions.claim(7, "7.json").claimed_at == datetime(1970, 1, 1, tzinfo=UTC)
    assert versions.get().version == 7
    assert [each.version for each in versions.list(page_size=2)] == [7, 6, 5]
    versions.forget(before=7)
    with pytest.raises(ConflictError):
        versions.claim(7, "other.json")
    path = f"{WAREHOUSE}/namespaces/ai/generic-tables/t/versions"
    assert server.lines == [
        f"PUT {path}/7",
        f"GET {path}/latest",
        f"GET {path}?pageSize=2",
        f"GET {path}?before=6&pageSize=2",
        f"DELETE {path}?before=7",
        f"PUT {path}/7",
    ]


# -- credentials that stay fresh

START = datetime(2026, 1, 1, tzinfo=UTC)


def lasting(seconds: float | None, *, after: float = 0) -> Credentials:
    ends = None if seconds is None else START + timedelta(seconds=after + seconds)
    return Credentials("gs://lake/t", GcsToken("lake", "token"), ends)


class Clock:
    def __init__(self) -> None:
        self.passed = 0.0

    def __call__(self) -> float:
        return START.timestamp() + self.passed


@pytest.mark.parametrize(
    ("life", "fresh"),
    [(7200.0, 6480.0), (1800.0, 1500.0), (900.0, 600.0), (300.0, 150.0), (60.0, 30.0), (None, 10.0**9)],
)
def test_credentials_are_asked_for_again_a_while_before_they_end(life: float | None, fresh: float) -> None:
    clock, asked = Clock(), 0

    def fetch() -> Credentials:
        nonlocal asked
        asked += 1
        return lasting(life, after=clock.passed)

    access = Access(fetch, now=clock)
    first = access.get()
    clock.passed = fresh - 0.001
    assert access.get() is first
    clock.passed = fresh
    assert (access.get() is first) is (life is None)
    assert asked == (1 if life is None else 2)


def test_a_server_that_is_away_does_no_harm_while_credentials_last() -> None:
    clock, asked = Clock(), 0

    def fetch() -> Credentials:
        nonlocal asked
        asked += 1
        raise UnreachableError("away")

    access = Access(fetch, known=lasting(3600), now=clock)
    clock.passed = 3300
    first = access.get()
    assert access.get() is first
    assert asked == 1  # and not at each call
    clock.passed = 3320
    assert access.get() is first
    assert asked == 2
    clock.passed = 3600
    with pytest.raises(UnreachableError):
        access.get()


def test_a_right_that_was_taken_is_told_at_once() -> None:
    clock = Clock()

    def fetch() -> Credentials:
        raise NotFoundError(404, "NoSuchGenericTableException", "none")

    access = Access(fetch, known=lasting(3600), now=clock)
    clock.passed = 3300
    with pytest.raises(NotFoundError):
        access.get()


def test_of_many_threads_one_asks_and_the_others_go_on_with_what_there_is() -> None:
    clock, begun, go_on = Clock(), threading.Event(), threading.Event()
    old = lasting(3600)
    new = replace(old, expires_at=START + timedelta(hours=2))
    asked = 0

    def fetch() -> Credentials:
        nonlocal asked
        asked += 1
        begun.set()
        assert go_on.wait(30)
        return new

    access = Access(fetch, known=old, now=clock)
    clock.passed = 3300
    got: list[Credentials] = []
    asking = threading.Thread(target=lambda: got.append(access.get()))
    asking.start()
    assert begun.wait(30)
    assert [access.get() for _ in range(5)] == [old] * 5
    go_on.set()
    asking.join(30)
    assert got == [new]
    assert access.get() is new
    assert asked == 1


async def test_of_many_tasks_one_asks_and_all_have_the_answer() -> None:
    asked = 0

    async def fetch() -> Credentials:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)
        return lasting(3600)

    access = AsyncAccess(fetch, now=Clock())
    found = await asyncio.gather(*(access.get() for _ in range(20)))
    assert asked == 1
    assert all(each is found[0] for each in found)
