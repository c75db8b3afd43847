"""Requests that must be refused in the public envelope and change nothing."""

from __future__ import annotations

import functools
import gzip
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.integration.security.conftest import Place
from tests.support.audit import Objects
from tests.support.dumps import dump
from tests.support.http import NOBODY

pytestmark = pytest.mark.integration

JSON = {"content-type": "application/json"}
SCHEMA = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "a", "type": "long", "required": False}]}
MAX_BODY = 32 * 1024 * 1024


@dataclass(frozen=True)
class Bad:
    """A bad request.

    Attributes:
        path: after `/catalog/v1/<warehouse>` where it begins with a slash, else the whole path without its first slash.
        body: JSON where it is no bytes.
        status: that the specification gives it.
        type: the error's; empty: any.
    """

    method: str
    path: str
    body: Any = None
    status: int | tuple[int, ...] = 400
    type: str = ""
    headers: Mapping[str, str] | None = None


async def _send(http: httpx.AsyncClient, place: Place, bad: Bad) -> httpx.Response:
    path = place.path + bad.path if bad.path.startswith("/") else f"/{bad.path}"
    path = path.replace("<warehouse>", place.warehouse.id)
    content = bad.body if bad.body is None or isinstance(bad.body, bytes) else json.dumps(bad.body).encode()
    headers = {**(JSON if content is not None else {}), **(bad.headers or {})}
    return await http.request(bad.method, path, content=content, headers=headers)


def _assert_refused(reply: httpx.Response, bad: Bad) -> None:
    statuses = bad.status if isinstance(bad.status, tuple) else (bad.status,)
    assert reply.status_code in statuses, f"{reply.status_code}: {reply.text[:500]}"
    assert reply.headers["content-type"].startswith("application/json")
    assert reply.headers["x-request-id"]
    if bad.method == "HEAD":
        return
    document = reply.json()
    assert document.keys() == {"error"}
    error = document["error"]
    assert {"message", "type", "code"} <= error.keys() <= {"message", "type", "code", "stack"}
    assert error["code"] == reply.status_code
    assert isinstance(error["message"], str)
    assert error["message"]
    assert "Traceback" not in reply.text
    assert 'File "' not in reply.text
    assert len(reply.content) < 20_000, "a refusal repeats what was sent"
    if bad.type:
        assert error["type"] == bad.type


POSTS = {
    "create a namespace": "/namespaces",
    "set properties": "/namespaces/sales/properties",
    "create a table": "/namespaces/sales/tables",
    "register": "/namespaces/sales/register",
    "commit": "/namespaces/sales/tables/orders",
    "commit a transaction": "/transactions/commit",
    "rename a table": "/tables/rename",
    "create a view": "/namespaces/sales/views",
    "commit a view": "/namespaces/sales/views/orders",
    "rename a view": "/views/rename",
    "report metrics": "/namespaces/sales/tables/orders/metrics",
    "sign": "catalog/<warehouse>/v1/aws/s3/sign",
    "create a warehouse": "management/v1/warehouse",
    "rename a warehouse": "management/v1/warehouse/<warehouse>/rename",
    "protect a warehouse": "management/v1/warehouse/<warehouse>/protection",
    "protect a namespace": "management/v1/warehouse/<warehouse>/namespace/<warehouse>/protection",
    "protect a table": "management/v1/warehouse/<warehouse>/table/<warehouse>/protection",
    "protect a view": "management/v1/warehouse/<warehouse>/view/<warehouse>/protection",
    "update storage": "management/v1/warehouse/<warehouse>/storage",
    "update a credential": "management/v1/warehouse/<warehouse>/storage-credential",
}
MALFORMED = {
    "empty": b"",
    "an open brace": b"{",
    "null": b"null",
    "a list": b"[]",
    "a number": b"1",
    "a text": b'"x"',
    "not UTF-8": b'{"name": "\xff\xfe"}',
    "a lone surrogate": b'{"name": "\\ud800", "namespace": ["\\ud800"]}',
    "a byte order mark": b"\xef\xbb\xbf[]",
    "trailing text": b"{} {}",
    "a control character": b'{"name": "\x00"}',
    "not a number": b'{"name": NaN}',
    "deep": b'{"name": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep and open": b'{"a":' * 100_000,
    "wrong types": b'{"namespace": 5, "name": {}, "updates": 7, "requirements": "x", "source": [], "destination": 1,'
    b' "table-changes": {}, "metadata-location": [], "report-type": [], "method": 1, "warehouse-name": [],'
    b' "new-name": 5, "storage-profile": "x", "storage-credential": "x", "new-storage-credential": 5, "protected": "x"}',
}


@pytest.mark.parametrize("post", POSTS)
async def test_a_malformed_body_is_refused_and_changes_nothing(
    place: Place, http: httpx.AsyncClient, post: str
) -> None:
    before = await dump(place.database)
    for kind, body in MALFORMED.items():
        bad = Bad("POST", POSTS[post], body, status=(400, 404) if post == "commit a view" else 400)
        reply = await _send(http, place, bad)
        try:
            _assert_refused(reply, bad)
        except (AssertionError, ValueError) as failed:
            raise AssertionError(f"{post}, {kind}: {failed}") from failed
    assert await dump(place.database) == before


def _commit(*updates: Mapping[str, Any], requirements: Any = (), **headers: str) -> Bad:
    return Bad(
        "POST",
        "/namespaces/sales/tables/orders",
        {"requirements": list(requirements), "updates": list(updates)},
        headers=headers or None,
    )


def _create(path: str = "/namespaces/sales/tables", **members: Any) -> Bad:
    return Bad("POST", path, {"name": "new", "schema": SCHEMA, **members})


def _deep_table(depth: int) -> bytes:
    """A table of lists of lists."""
    kind = '"long"'
    for number in range(depth):
        kind = f'{{"type": "list", "element-id": {number + 2}, "element": {kind}, "element-required": false}}'
    fields = f'[{{"id": 1, "name": "a", "type": {kind}, "required": false}}]'
    return f'{{"name": "new", "schema": {{"type": "struct", "schema-id": 0, "fields": {fields}}}}}'.encode()


LONG = "x" * 5000
SNAPSHOT = {
    "snapshot-id": 1,
    "sequence-number": 1,
    "timestamp-ms": 1,
    "manifest-list": "s3://warehouse/x",
    "summary": {"operation": "append"},
    "schema-id": 0,
}

BAD: Mapping[str, Bad] = {
    "an unknown action": _commit({"action": "fly"}),
    "an action without a name": _commit({}),
    "an action that is no text": _commit({"action": 5}),
    "an unknown requirement": _commit(requirements=[{"type": "assert-weather"}]),
    "a requirement without a type": _commit(requirements=[{}]),
    "a snapshot whose id is a text": _commit({"action": "add-snapshot", "snapshot": {**SNAPSHOT, "snapshot-id": "x"}}),
    "a snapshot whose id is too large": _commit(
        {"action": "add-snapshot", "snapshot": {**SNAPSHOT, "snapshot-id": 2**70}}
    ),
    "a snapshot whose id is a fraction": _commit(
        {"action": "add-snapshot", "snapshot": {**SNAPSHOT, "snapshot-id": 1.5}}
    ),
    "a branch to nowhere": _commit(
        {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 12345}
    ),
    "properties that are no texts": _commit({"action": "set-properties", "updates": {"a": {"b": 1}}}),
    "a schema that is none": _commit({"action": "add-schema", "schema": {"type": "struct"}}),
    "a requirement that is not met": Bad(
        "POST",
        "/namespaces/sales/tables/orders",
        {"requirements": [{"type": "assert-table-uuid", "uuid": str(uuid4())}], "updates": []},
        status=409,
        type="CommitFailedException",
    ),
    "a table without a name": Bad("POST", "/namespaces/sales/tables", {"schema": SCHEMA}),
    "a table with an empty name": _create(name=""),
    "a table with a long name": _create(name=LONG),
    "a table with a zero byte": _create(name="a\0b"),
    "a table with a line break": _create(name="a\nb"),
    "a table without a schema": Bad("POST", "/namespaces/sales/tables", {"name": "new"}),
    "a table of unknown type": _create(schema={**SCHEMA, "fields": [{**SCHEMA["fields"][0], "type": "money"}]}),  # type: ignore[index]
    "a table as deep as the sea": Bad("POST", "/namespaces/sales/tables", _deep_table(3000)),
    "a table of format 99": _create(properties={"format-version": "99"}),
    "a table outside": _create(location="s3://elsewhere/x"),
    "a table in a file": _create(location="file:///etc"),
    "a table above": _create(location="s3://warehouse/../../x"),
    "a table at dots": _create(location="<location>/%2e%2e/%2e%2e/x"),
    "a table at nothing": _create(location=""),
    "a table at a line break": _create(location="s3://warehouse/a\nb"),
    "a namespace that is empty": Bad("POST", "/namespaces", {"namespace": []}),
    "a namespace with an empty part": Bad("POST", "/namespaces", {"namespace": [""]}),
    "a namespace with a long part": Bad("POST", "/namespaces", {"namespace": [LONG]}),
    "a namespace that is too deep": Bad("POST", "/namespaces", {"namespace": ["a"] * 50}),
    "a namespace with a dot": Bad("POST", "/namespaces", {"namespace": ["a.b"]}),
    "a namespace with a zero byte": Bad("POST", "/namespaces", {"namespace": ["a\0b"]}),
    "a namespace with a unit separator": Bad("POST", "/namespaces", {"namespace": ["a\x1fb"]}),
    "a namespace with properties that are no texts": Bad(
        "POST", "/namespaces", {"namespace": ["a"], "properties": {"a": 1}}
    ),
    "a property that is set and removed": Bad(
        "POST",
        "/namespaces/sales/properties",
        {"updates": {"a": "b"}, "removals": ["a"]},
        status=422,
        type="UnprocessableEntityException",
    ),
    "a transaction of nothing known": Bad(
        "POST", "/transactions/commit", {"table-changes": [{"requirements": [], "updates": []}]}
    ),
    "a transaction with one table twice": Bad(
        "POST",
        "/transactions/commit",
        {
            "table-changes": [
                {"identifier": {"namespace": ["sales"], "name": name}, "requirements": [], "updates": []}
                for name in ("orders", "ORDERS")
            ]
        },
    ),
    "a register of somebody's file": Bad(
        "POST", "/namespaces/sales/register", {"name": "new", "metadata-location": "s3://elsewhere/metadata.json"}
    ),
    "a register of a URL": Bad(
        "POST", "/namespaces/sales/register", {"name": "new", "metadata-location": "http://169.254.169.254/latest"}
    ),
    "a register of a file that is not there": Bad(
        "POST",
        "/namespaces/sales/register",
        {"name": "new", "metadata-location": "<location>-none/metadata/none.metadata.json"},
    ),
    "an unknown namespace": Bad("GET", "/namespaces/none", status=404, type="NoSuchNamespaceException"),
    "an unknown table": Bad("GET", "/namespaces/sales/tables/none", status=404, type="NoSuchTableException"),
    "an unknown view": Bad("GET", "/namespaces/sales/views/none", status=404, type="NoSuchViewException"),
    "a table that is no view": Bad("GET", "/namespaces/sales/views/orders", status=404, type="NoSuchViewException"),
    "an unknown table, asked by its head": Bad("HEAD", "/namespaces/sales/tables/none", status=404),
    "an unknown warehouse": Bad("GET", f"catalog/v1/{uuid4()}/namespaces", status=404, type="NoSuchWarehouseException"),
    "a change in an unknown warehouse": Bad(
        "POST", f"catalog/v1/{uuid4()}/namespaces", {"namespace": ["a"]}, status=404, type="NoSuchWarehouseException"
    ),
    "a warehouse that is no id": Bad("GET", "catalog/v1/none/namespaces", status=(400, 404)),
    "a warehouse that nobody knows by name": Bad("GET", "catalog/v1/config?warehouse=none", status=404),
    "a path without a prefix": Bad("GET", "catalog/v1/namespaces", type="NoPrefixProvided"),
    "a table with a slash": Bad("GET", "/namespaces/sales/tables/x%2Fy", status=404, type="NoSuchTableException"),
    "a drop of a table with a slash": Bad(
        "DELETE", "/namespaces/sales/tables/x%2Fy", status=404, type="NoSuchTableException"
    ),
    "a way up by an encoded slash": Bad("GET", "/namespaces/sales%2Ftables%2Forders", status=404),
    "a way up by dots": Bad("DELETE", "/namespaces/none/tables/..%2F..%2Fsales", status=404),
    "a name with a zero byte in a path": Bad("GET", "/namespaces/sales/tables/a%00b", status=(400, 404)),
    "a path that is not UTF-8": Bad("GET", "/namespaces/sales/tables/%C0%AF", status=(400, 404)),
    "a path with half an escape": Bad("GET", "/namespaces/sales/tables/a%2", status=(400, 404)),
    "a very long path": Bad("GET", f"/namespaces/sales/tables/{LONG}", status=(400, 404, 414)),
    "an unknown route": Bad("GET", "catalog/v2/anything", status=404),
    "a method that the route has not": Bad("PATCH", "/namespaces/sales", b"{}", status=405),
    "a page of no size": Bad("GET", "/namespaces?pageSize=many"),
    "a page token that nobody gave": Bad("GET", "/namespaces?pageToken=garbage"),
    "a page token that is not text": Bad("GET", "/namespaces?pageToken=%FF%FE"),
    "snapshots that nobody knows": Bad("GET", "/namespaces/sales/tables/orders?snapshots=some"),
    "an idempotency key that is no UUID": Bad(
        "POST", "/namespaces", {"namespace": ["k"]}, headers={"idempotency-key": "one"}
    ),
    "a body of another type": Bad(
        "POST", "/namespaces", b"namespace=a", status=415, headers={"content-type": "application/x-www-form-urlencoded"}
    ),
    "a body of unknown coding": Bad(
        "POST", "/namespaces", b'{"namespace": ["a"]}', status=415, headers={"content-encoding": "br"}
    ),
    "a body that only claims to be gzip": Bad(
        "POST", "/namespaces", b'{"namespace": ["a"]}', headers={"content-encoding": "gzip"}
    ),
    "half a gzip": Bad(
        "POST", "/namespaces", gzip.compress(b'{"namespace": ["a"]}')[:-9], headers={"content-encoding": "gzip"}
    ),
    "a warehouse of no storage": Bad("POST", "management/v1/warehouse", {"warehouse-name": "w"}),
    "a warehouse with a long name": Bad(
        "POST", "management/v1/warehouse", {"warehouse-name": LONG, "storage-profile": {"type": "s3"}}
    ),
    "a second bootstrap": Bad("POST", "management/v1/bootstrap", {"accept-terms-of-use": True}),
    "a rename onto itself by another case": Bad(
        "POST",
        "/tables/rename",
        {"source": {"namespace": ["sales"], "name": "none"}, "destination": {"namespace": ["sales"], "name": "new"}},
        status=404,
        type="NoSuchTableException",
    ),
}


@pytest.mark.parametrize("bad", BAD)
async def test_a_bad_request_is_refused_in_the_envelope_and_changes_nothing(
    place: Place, http: httpx.AsyncClient, bad: str
) -> None:
    request = _placed(BAD[bad], place)
    before = await dump(place.database), await _files(place)
    _assert_refused(await _send(http, place, request), request)
    assert (await dump(place.database), await _files(place)) == before


def _placed(bad: Bad, place: Place) -> Bad:
    if not isinstance(bad.body, dict):
        return bad
    body = json.loads(json.dumps(bad.body).replace("<location>", place.location))
    return Bad(bad.method, bad.path, body, bad.status, bad.type, bad.headers)


async def _files(place: Place) -> list[str]:
    return list(await Objects(place.store).listing(place.warehouse.key_prefix))


@pytest.mark.parametrize("post", ["create a namespace", "commit", "create a warehouse"])
async def test_a_body_over_the_limit_is_refused_with_413(place: Place, http: httpx.AsyncClient, post: str) -> None:
    before = await dump(place.database)
    body = b'{"namespace": ["' + b"x" * MAX_BODY + b'"]}'
    bad = Bad("POST", POSTS[post], body, status=413)
    _assert_refused(await _send(http, place, bad), bad)

    async def pieces() -> Any:
        for start in range(0, len(body), 1 << 20):
            yield body[start : start + (1 << 20)]

    path = place.path + POSTS[post] if POSTS[post].startswith("/") else f"/{POSTS[post]}"
    _assert_refused(await http.post(path, content=pieces(), headers=JSON), bad)
    assert await dump(place.database) == before


@functools.cache
def _bomb() -> bytes:
    """Half a gigabyte of blanks, and an empty document."""
    deflater = zlib.compressobj(9, zlib.DEFLATED, 31)
    blank = b" " * (1 << 20)
    return b"".join([*(deflater.compress(blank) for _ in range(512)), deflater.compress(b"{}"), deflater.flush()])


_BOMBS: Mapping[str, Callable[[], bytes]] = {
    "one member": _bomb,
    "many members": lambda: gzip.compress(b" " * (1 << 20)) * 512,
    "a bomb in a bomb": lambda: gzip.compress(_bomb()),
}


@pytest.mark.parametrize("kind", _BOMBS)
async def test_a_compressed_bomb_is_refused_and_never_inflated(
    place: Place, http: httpx.AsyncClient, kind: str
) -> None:
    bomb = _BOMBS[kind]()
    assert len(bomb) < 2 << 20
    pids = {process.pid for process in place.installation.processes.values()}
    before = max(_peak_megabytes(pid) for pid in pids)
    status = 400 if kind == "a bomb in a bomb" else (413, 400)
    bad = Bad("POST", "/namespaces", bomb, status=status, headers={"content-encoding": "gzip"})
    _assert_refused(await _send(http, place, bad), bad)
    assert max(_peak_megabytes(pid) for pid in pids) < before + 160, "it was inflated"


def _peak_megabytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    (line,) = (line for line in status if line.startswith("VmHWM:"))
    return int(line.split()[1]) // 1024


_TOKENS: Mapping[str, Callable[[Place], dict[str, str]]] = {
    "none": lambda place: {},
    "dev": lambda place: {"authorization": "Bearer dev"},
    "half a token": lambda place: {"authorization": f"Bearer {place.token[:-5]}"},
    "a token of another scheme": lambda place: {"authorization": f"Basic {place.token}"},
    "a long token": lambda place: {"authorization": f"Bearer {'x' * 30_000}"},
}


@pytest.mark.parametrize("token", _TOKENS)
async def test_a_bad_token_is_refused_on_every_path_before_anything_else(place: Place, token: str) -> None:
    before = await dump(place.database)
    async with httpx.AsyncClient(
        verify=NOBODY, base_url=place.installation.url, headers=_TOKENS[token](place)
    ) as nobody:
        for method, path in (
            ("GET", "catalog/v1/config?warehouse=none"),
            ("GET", "/namespaces"),
            ("GET", "/namespaces/none/tables/none"),
            ("DELETE", "/namespaces/sales/tables/orders"),
            ("DELETE", "/namespaces/sales?force=true&recursive=true"),
            ("GET", "management/v1/info"),
            ("GET", "management/v1/warehouse"),
            ("DELETE", "management/v1/warehouse/<warehouse>?force=true"),
        ):
            bad = Bad(method, path, status=401)
            reply = await _send(nobody, place, bad)
            _assert_refused(reply, bad)
            assert reply.headers["www-authenticate"].startswith("Bearer")
        for post in ("create a namespace", "create a table", "create a warehouse", "commit a transaction"):
            bad = Bad("POST", POSTS[post], {"namespace": ["a"]}, status=(400, 401))
            _assert_refused(await _send(nobody, place, bad), bad)
    assert await dump(place.database) == before


async def test_good_requests_are_seen_to_change_what_bad_ones_must_not(place: Place, http: httpx.AsyncClient) -> None:
    """The twin: the dump and the listing of files see one namespace and one table more."""
    before, files = await dump(place.database), await _files(place)
    name = f"n{uuid4().hex[:8]}"
    assert (await http.post(f"{place.path}/namespaces", json={"namespace": [name]})).is_success
    between = await dump(place.database)
    assert between != before
    assert (await http.post(f"{place.path}/namespaces/{name}/tables", json={"name": "t", "schema": SCHEMA})).is_success
    assert await dump(place.database) != between
    assert await _files(place) != files
