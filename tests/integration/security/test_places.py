"""An adversary asks for a place that reads as its own and leads into somebody else's.

`PLACES` are spellings of where the other's table lies, of what lies inside or around it, and of places outside the warehouse; a
create, a view and a register are tried with each. `NEIGHBOURS` are places that are really others: there a table may lie, and its
credentials open nothing of the other's.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import quote, unquote

import httpx
import pytest

from lakeward_components.sigv4 import Key
from tests.integration.security.conftest import Place
from tests.support.storage_attacks import Ground, as_key, ask, put
from tests.support.warehouses import SCHEMA, tables_of, told

pytestmark = pytest.mark.integration

# Where the other's table lies, below the warehouse's base.
THEIRS = "Deep/Abc%3F-é/T"


@dataclass(frozen=True)
class Theirs:
    """A warehouse with somebody's table at a place of its own choice.

    Attributes:
        base: without a trailing slash.
        location: of the table.
        secret: what a file of it holds.
    """

    ground: Ground
    namespace: str
    base: str
    location: str
    secret: bytes

    def fill(self, text: str) -> str:
        return text.format(
            base=self.base,
            theirs=self.location,
            bucket=self.ground.store.bucket,
            other=self.ground.store.outside_bucket,
            key=self.location.split("/", 3)[3],
            prefix=self.base.split("/", 3)[3],
        )


PLACES = (
    # The place itself, otherwise written.
    "{theirs}", "{theirs}/", "S3://{bucket}/{key}", "s3a://{bucket}/{key}", "s3n://{bucket}/{key}",
    # What lies inside it, and around it.
    "{theirs}/inner", "{theirs}/data", "{theirs}/metadata", "{base}/Deep", "{base}/Deep/", "{base}", "{base}/",
    # Steps, and what some client takes for one.
    "{base}/Deep/./Abc%3F-é/T", "{base}/x/../Deep/Abc%3F-é/T", "{base}/x/%2e%2e/Deep/Abc%3F-é/T", "{base}/x/%2E./y",
    "{base}/x/%252e%252e/y", "{base}/x%2F..%2Fy", "{base}/x%252F..%252Fy", "{base}/..", "{base}/.", "{base}/../x",
    "{base}/x\\..\\y",
    "{base}/x%5C..%5Cy", "{base}/%c0%ae%c0%ae/x\x00",
    # Slashes.
    "{base}//x", "{base}/x//y", "{base}/x//", "{base}//Deep/Abc%3F-é/T", "s3:///{bucket}/{key}", "s3://{bucket}//{key}",
    "{base}/x%2Fy", "{base}/x%252Fy",
    # Characters that can't be seen, or are read as something.
    "{base}/x\u200b", "{base}/x\u202etxt", "{base}/\ufeffx", "{base}/x\u00ad", "{base}/x\ud800", "{base}/x\n",
    "{base}/x\x00", "{base}/x\x7f",
    "{base}/x%00", "{base}/x%0a", "{base}/x?y", "{base}/x#y", "{base}/x?versionId=1", "{base}/x\u2028",
    # What policies read as a pattern or a variable.
    "{base}/*", "{base}/D*", "{base}/Dee?", "{base}/Deep/*/T", "{base}/${{aws:username}}", "{base}/${{*}}", "{base}/x${{",
    # Elsewhere.
    "s3://{other}/{key}", "s3://{bucket}/elsewhere", "s3://{bucket}", "s3://{bucket}/", "{base}x/t", "gs://{bucket}/{key}",
    "abfss://{bucket}@account.dfs.core.windows.net/{key}", "file:///etc", "/etc/passwd", "{prefix}/x", "",
    "http://{bucket}/{key}",
    # Authorities.
    "s3://user@{bucket}/{key}", "s3://user:password@{bucket}/{key}", "s3://{bucket}:80/{key}", "s3://{bucket}./{key}",
    "s3://{other}@{bucket}/{key}", "s3://{bucket}%2F{key}", "s3://{bucket}\\{key}", "s3://[::1]/{key}",
)  # fmt: skip

# Where it lies, but for the case of a letter, or of an escape's digits; so for what lies around and inside.
CASES = (
    "{base}/deep/Abc%3F-é/T", "{base}/DEEP/ABC%3F-É/t", "{base}/Deep/Abc%3f-é/T", "{base}/deep", "{base}/deep/abc%3f-é/t/inner",
)  # fmt: skip
NEIGHBOURS = (
    "{theirs}2", "{theirs}-", "{theirs} ", "{base}/Deep2/Abc%3F-é/T", "{base}/Deep/Abc%3F-e\u0301/T",
    "{base}/Deep/Abc%253F-é/T",
    "{base}/\uff24eep/Abc%3F-é/T", "{base}/Deep/Abc\uff053F-é/T", "{base}/Deep/Abc%3F-é/T$", "{base}/Deep/Abc%3F-é/T;x",
    "{base}/x{{y}}", "{base}/Deep/Abc+3F-é/T", "{base}/D\u0435ep/Abc%3F-é/T",
)  # fmt: skip


@pytest.fixture(params=["sessions", "own key"])
async def theirs(
    request: pytest.FixtureRequest,
    place: Place,
    http: httpx.AsyncClient,
    grounds: Callable[[Place, bool], Awaitable[Ground]],
    tables: dict[str, Theirs],
) -> Theirs:
    ground = await grounds(place, request.param == "sessions")
    if ground.warehouse.id not in tables:
        namespace = f"n{secrets.token_hex(4)}"
        told(await http.post(f"{ground.warehouse.path}/namespaces", json={"namespace": [namespace]}))
        base = f"s3://{ground.store.bucket}/{ground.warehouse.key_prefix}"
        made = Theirs(ground, namespace, base, f"{base}/{THEIRS}", secrets.token_hex(16).encode())
        reply = await _create(http, made, made.location, name="theirs")
        assert reply.json()["metadata"]["location"] == made.location
        tables[ground.warehouse.id] = made
    found = tables[ground.warehouse.id]
    await put(ground.store, f"/{ground.store.bucket}/{_quoted(found.location)}/data/secret", found.secret)
    return found


@pytest.fixture(scope="module")
def tables() -> dict[str, Theirs]:
    """By warehouse."""
    return {}


def _quoted(location: str) -> str:
    """The key as a path: an escape that it holds is a part of it."""
    return quote(location.split("/", 3)[3], safe="/-_.~")


async def _create(http: httpx.AsyncClient, theirs: Theirs, location: str, *, name: str | None = None) -> httpx.Response:
    name = name or f"t{secrets.token_hex(4)}"
    body = {"name": name, "schema": SCHEMA, "location": location}
    return await http.post(tables_of(theirs.ground.warehouse, theirs.namespace), json=body, headers={"x-name": name})


async def _create_view(http: httpx.AsyncClient, theirs: Theirs, location: str) -> httpx.Response:
    version = {
        "version-id": 1,
        "timestamp-ms": 1,
        "schema-id": 0,
        "summary": {},
        "default-namespace": [theirs.namespace],
        "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}],
    }
    body = {
        "name": f"v{secrets.token_hex(4)}",
        "schema": SCHEMA,
        "view-version": version,
        "location": location,
        "properties": {},
    }
    return await http.post(f"{theirs.ground.warehouse.path}/namespaces/{theirs.namespace}/views", json=body)


async def _register(http: httpx.AsyncClient, theirs: Theirs, location: str) -> httpx.Response:
    body = {"name": f"t{secrets.token_hex(4)}", "metadata-location": f"{location}/metadata/00000-x.metadata.json"}
    return await http.post(f"{theirs.ground.warehouse.path}/namespaces/{theirs.namespace}/register", json=body)


ASKING: dict[str, Callable[[httpx.AsyncClient, Theirs, str], Awaitable[httpx.Response]]] = {
    "table": _create,
    "view": _create_view,
    "register": _register,
}


@pytest.mark.parametrize("theirs", ["sessions"], indirect=True)
@pytest.mark.parametrize("what", ASKING)
@pytest.mark.parametrize("spelling", PLACES, ids=ascii)
async def test_no_table_view_or_namespace_is_made_at_a_place_that_could_be_read_as_anothers(
    http: httpx.AsyncClient, theirs: Theirs, what: str, spelling: str
) -> None:
    location = theirs.fill(spelling)
    try:
        reply = await ASKING[what](http, theirs, location)
    except UnicodeEncodeError:
        return  # a lone surrogate has no UTF-8, and so no way to the server
    _assert_refused(reply, theirs)


def _assert_refused(reply: httpx.Response, theirs: Theirs) -> None:
    assert reply.status_code in {400, 404, 409}, reply.text
    assert reply.json()["error"]["message"]
    assert theirs.secret not in reply.content


@pytest.mark.parametrize("what", ["table", "view"])
@pytest.mark.parametrize("spelling", CASES, ids=ascii)
async def test_case_alone_makes_no_other_place_where_the_store_s_policies_disregard_it(
    http: httpx.AsyncClient, theirs: Theirs, what: str, spelling: str
) -> None:
    reply = await ASKING[what](http, theirs, theirs.fill(spelling))
    if theirs.ground.by_sessions:
        assert reply.status_code == 409, reply.text
        _assert_refused(reply, theirs)
    elif what == "table" and spelling in CASES[:3]:  # nothing is vended here, and the store's keys tell case
        assert reply.status_code == 200, reply.text


@pytest.mark.parametrize("spelling", NEIGHBOURS, ids=ascii)
async def test_a_table_beside_another_s_reaches_its_own_files_and_none_of_the_other_s(
    http: httpx.AsyncClient, theirs: Theirs, spelling: str
) -> None:
    location = theirs.fill(spelling)
    made = await _create(http, theirs, location)
    assert made.status_code == 200, made.text
    store, table = theirs.ground.store, f"t{secrets.token_hex(4)}"
    own = f"/{store.bucket}/{_quoted(location)}/data/{table}"
    victim = f"/{store.bucket}/{_quoted(theirs.location)}"
    if not theirs.ground.by_sessions:
        assert (await ask(http, theirs.ground, "GET", own)).status_code == 200
        return
    path = f"{tables_of(theirs.ground.warehouse, theirs.namespace)}/{made.request.headers['x-name']}"
    loaded = told(await http.get(path, headers={"x-iceberg-access-delegation": "vended-credentials"})).json()
    config = loaded["config"]
    key, token = Key(config["s3.access-key-id"], config["s3.secret-access-key"]), config["s3.session-token"]
    assert (await as_key(store, key, "PUT", own, b"mine", token=token)).status == 200
    assert (await as_key(store, key, "GET", own, token=token)).body == b"mine"
    prefix = quote(unquote(victim.split("/", 2)[2]) + "/", safe="")
    for method, target, body in (
        ("GET", f"{victim}/data/secret", b""),
        ("HEAD", f"{victim}/data/secret", b""),
        ("PUT", f"{victim}/data/other", b"mine"),
        ("DELETE", f"{victim}/data/secret", b""),
        ("GET", f"/{store.bucket}?list-type=2&prefix={prefix}", b""),
    ):
        answer = await as_key(store, key, method, target, body, token=token)
        assert answer.status == 403, (method, target, answer)
