"""Stores that answer what no store answers, or nothing: over real sockets, through the whole adapter."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from uuid import UUID

import pytest

from lakeward_locations import Location
from lakeward_servicekit.errors import Reason
from lakeward_servicekit.system import SystemIds
from lakeward_vending.adapters.network import calls as calls_module
from lakeward_vending.adapters.network import services as services_module
from lakeward_vending.adapters.network.addresses import AddressGuard, SystemResolver
from lakeward_vending.adapters.network.calls import Connections, HttpCalls
from lakeward_vending.adapters.network.refusals import LeftAlone, ReplyTooLarge
from lakeward_vending.adapters.network.services import Services
from lakeward_vending.adapters.s3 import oss, r2
from lakeward_vending.adapters.s3.backend import S3Backend
from lakeward_vending.application.files import FileReads
from lakeward_vending.application.ports import Grant, ObjectStore, Storage
from lakeward_vending.application.storages import Kinds, Storages
from lakeward_vending.application.validation import StorageValidations
from lakeward_vending.domain import credentials
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.addresses import AddressRules
from lakeward_vending.domain.permit import Purpose
from lakeward_vending.domain.profiles import profile as profiles
from lakeward_vending.domain.profiles.stackit import as_s3
from lakeward_vending.domain.s3.system_identity import SystemIdentityRules
from tests.support.vending.fakes import START, FakeClock, FakeSecrets, refusal_of
from tests.support.vending.permits import SECRET, WAREHOUSE, credential, permit, profile_text
from tests.support.vending.s3 import s3_kind

pytestmark = pytest.mark.integration

HANGS = None


def http(body: bytes, *, status: str = "200 OK", head: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\n{head}content-length: {len(body)}\r\n\r\n".encode() + body


class Hostile:
    """Answers every request with `answer`; None hangs until the test ends."""

    def __init__(self, answer: bytes | None) -> None:
        self.answer = answer
        self.requests = 0
        self.hanging = 0
        self.port = 0
        self._writers: list[asyncio.StreamWriter] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]))
                self.requests += 1
                if self.answer is None:
                    self.hanging += 1
                    await reader.read()
                    self.hanging -= 1
                    return
                writer.write(self.answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def drop(self) -> None:
        for writer in self._writers:
            writer.close()


class Seconds:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class House:
    def __init__(self, backend: S3Backend, calls: HttpCalls, stack: AsyncExitStack) -> None:
        self.backend = backend
        self.calls = calls
        self._stack = stack

    async def store(self, answer: bytes | None) -> Hostile:
        store = Hostile(answer)
        listener = await asyncio.start_server(store.talk, "127.0.0.1", 0)
        store.port = listener.sockets[0].getsockname()[1]
        self._stack.push_async_callback(listener.wait_closed)
        self._stack.callback(listener.close)
        self._stack.callback(store.drop)
        return store

    async def open(self, store: Hostile) -> ObjectStore:
        return await self.backend.open(storage(store))


def storage(store: Hostile) -> Storage:
    text = profile_text(endpoint=store.url, path_style_access=True, flavor="s3-compat")
    return Storage(profiles.parse(text), profiles.digest(text), credential(), UUID(int=1))


@asynccontextmanager
async def house_of(now: Callable[[], float]) -> AsyncIterator[House]:
    guard = AddressGuard(AddressRules(), SystemResolver())
    async with AsyncExitStack() as stack:
        calls = HttpCalls(guard, Services(Connections, now=now))
        stack.callback(calls.close)
        backend = S3Backend(calls=calls, guard=guard, rules=SystemIdentityRules(), clock=FakeClock(), ids=SystemIds())
        yield House(backend, calls, stack)


@pytest.fixture
def clock() -> Seconds:
    return Seconds()


@pytest.fixture
async def house(clock: Seconds, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    monkeypatch.setattr("lakeward_vending.adapters.s3.signed_calls._PAUSES_SECONDS", (0.0,))
    async with house_of(clock) as opened:
        yield opened


NESTED = b"<a>" * 40_000 + b"</a>" * 40_000
LISTING = b"<ListBucketResult>%b</ListBucketResult>"
ENTRY = b"<Contents><Key>%b</Key></Contents>"
GRANTED = (
    b"<AssumeRoleResponse><Credentials><AccessKeyId>%b</AccessKeyId><SecretAccessKey>sk</SecretAccessKey>"
    b"<SessionToken>%b</SessionToken><Expiration>%b</Expiration></Credentials></AssumeRoleResponse>"
)
WORK: dict[str, Callable[[ObjectStore], Awaitable[object]]] = {
    "write": lambda store: store.write("wh/a", b"x", content_type=None),
    "read": lambda store: store.read("wh/a", limit=100),
    "list": lambda store: store.list_page("wh/", limit=1000),
    "delete": lambda store: store.delete(["wh/a"]),
}


# ---- answers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("work", "answer"),
    [
        ("list", http(NESTED)),
        ("list", http(LISTING % (b"<a/>" * 500_000))),
        ("list", http(LISTING % (ENTRY % (b"wh/" + b"k" * 9_000_000)))),
        ("list", http(LISTING % (ENTRY % b"other/a"))),
        ("list", http(b"<!DOCTYPE a [" + b'<!ENTITY b "c">' * 1000 + b"]><a>&b;</a>")),
        ("delete", http(NESTED)),
        ("delete", http(b"<DeleteResult>" + b"<a/>" * 500_000 + b"</DeleteResult>")),
        ("delete", http(b"x" * 9_000_000)),
        ("write", http(NESTED, status="400 Bad Request")),
        ("write", http(b"x" * 100_000, status="400 Bad Request")),
        ("read", http(NESTED[:60_000], status="400 Bad Request")),
        ("read", b"HTTP/1.1 200 " + b"x" * 200_000 + b"\r\n\r\n"),
        ("read", b"HTTP/1.1 200 OK\r\nx-" + b"a" * 200_000 + b": b\r\n\r\n"),
        ("read", b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000),
        ("read", b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 40_000 + b"content-length: 0\r\n\r\n"),
        ("read", b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;" + b"e" * 200_000 + b"\r\nx\r\n0\r\n\r\n"),
    ],
    ids=lambda value: value if isinstance(value, str) else repr(value[:14] + value[-14:]),
)
async def test_an_answer_that_is_no_store_s_is_an_outage_of_that_store(house: House, work: str, answer: bytes) -> None:
    store = await house.store(answer)
    refusal = await refusal_of(WORK[work](await house.open(store)))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_STORE_UNAVAILABLE, {"store": store.url})


async def test_an_answer_that_is_too_large_is_not_asked_for_again(house: House) -> None:
    store = await house.store(http(b"x" * 100_000, status="500 Internal Server Error"))
    refusal = await refusal_of(WORK["write"](await house.open(store)))
    assert isinstance(refusal, ReplyTooLarge)
    assert store.requests == 1


async def test_a_page_with_more_keys_than_were_asked_for_is_cut(house: House) -> None:
    store = await house.store(http(LISTING % ((ENTRY % b"wh/a") * 5000)))
    assert len(await WORK["list"](await house.open(store))) == 1000  # type: ignore[arg-type] # a page


async def test_an_object_that_looks_like_an_error_is_an_object(house: House) -> None:
    content = b"<Error><Code>SlowDown</Code></Error>"
    store = await house.store(http(content))
    assert await WORK["read"](await house.open(store)) == content
    assert store.requests == 1


@pytest.mark.parametrize(
    "answer",
    [
        NESTED[:60_000],
        b"x" * 100_000,
        GRANTED % (b"AK", b"t" * 20_000, b"2026-08-21T13:30:00Z"),
        GRANTED % (b"A\nK", b"tok", b"2026-08-21T13:30:00Z"),
        GRANTED % (b"AK", b"tok", b"9999-12-31T23:59:59-23:59"),
        GRANTED % (b"AK", b"tok", b"soon"),
        GRANTED % (b"", b"tok", b"2026-08-21T13:30:00Z"),
    ],
    ids=lambda answer: repr(answer[-60:-30]),
)
async def test_an_sts_that_grants_what_no_sts_grants_is_an_outage_of_it(house: House, answer: bytes) -> None:
    store = await house.store(http(answer))
    grant = Grant(storage(store), Location.parse("s3://lake/wh/t1"), Access.READ, "oidc~alice")
    refusal = await refusal_of(house.backend.mint(grant))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_STORE_UNAVAILABLE, {"store": store.url})


@pytest.mark.parametrize(
    "result",
    [
        "[" * 60_000,
        "[]",
        "null",
        json.dumps({"accessKeyId": 1, "secretAccessKey": "s", "sessionToken": "t"}),
        json.dumps({"accessKeyId": "a", "secretAccessKey": "s", "sessionToken": "t" * 20_000}),
        json.dumps({"accessKeyId": "a", "secretAccessKey": "s\r\nx-a: b", "sessionToken": "t"}),
    ],
    ids=lambda result: result[:40],
)
async def test_a_json_grant_that_is_none_is_an_outage(house: House, result: str) -> None:
    body = f'{{"result": {result}}}'.encode()
    store = await house.store(http(body))
    key = credentials.parse(
        json.dumps(
            {
                "type": "s3",
                "credential-type": "cloudflare-r2",
                "access-key-id": "a",
                "secret-access-key": "s",
                "token": "t",
                "account-id": "acc",
            }
        ).encode()
    )
    grant = Grant(storage(store), Location.parse("s3://lake/wh/t1"), Access.READ, "oidc~alice")
    minting = r2.mint(grant, key, seconds=900, calls=house.calls, clock=FakeClock(), api=store.url)
    assert (await refusal_of(minting)).reason == Reason.REASON_STORE_UNAVAILABLE
    oss_text = profile_text(sts_endpoint=store.url, sts_role_arn="acs:ram::1:role/x", flavor="s3-compat")
    store.answer = http(body.replace(b"result", b"Credentials"))
    profile = as_s3(profiles.parse(oss_text))
    minting = oss.mint(grant, credential(), profile, calls=house.calls, clock=FakeClock(), ids=SystemIds())
    assert (await refusal_of(minting)).reason == Reason.REASON_STORE_UNAVAILABLE


async def test_a_proof_of_a_hostile_store_ends_in_a_refusal_that_names_the_check(house: House) -> None:
    """Making a warehouse is where a stranger's store is met first."""
    store = await house.store(http(NESTED, status="400 Bad Request"))
    text = profile_text(endpoint=store.url, path_style_access=True, flavor="s3-compat")
    secrets = FakeSecrets()
    await secrets.stage(SECRET, credential(), staged_by="a", warehouse_id=None, now=START)
    await secrets.keep(SECRET, warehouse_id=WAREHOUSE, now=START)
    storages = Storages(secrets, Kinds({"s3": s3_kind(house.backend)}))
    proof = StorageValidations(storages, FakeClock(), SystemIds(), skip=False)
    refusal = await refusal_of(proof(permit=permit(Purpose.VALIDATE, text, location=profiles.parse(text).base)))
    assert refusal.metadata == {"check": "lakekeeper-read-write"}


# ---- silence ---------------------------------------------------------------------------------------------------------


async def test_two_hundred_calls_that_hang_hold_none_of_another_store(house: House) -> None:
    sick, well = await house.store(HANGS), await house.store(http(b""))
    hanging = await house.open(sick)
    stuck = [asyncio.create_task(WORK["write"](hanging)) for _ in range(200)]  # type: ignore[arg-type] # a coroutine
    while sick.hanging < 64:
        await asyncio.sleep(0.01)
    healthy = await house.open(well)
    await asyncio.gather(*(healthy.write(f"wh/{number}", b"x", content_type=None) for number in range(100)))
    assert sick.hanging == 64  # its slots, and no more
    assert not any(task.done() for task in stuck)
    for task in stuck:
        task.cancel()
    await asyncio.gather(*stuck, return_exceptions=True)


async def test_a_store_that_hangs_is_left_alone_by_name_and_joins_again_by_itself(
    house: House, clock: Seconds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services_module, "SLOW_SECONDS", 0.0)
    store = await house.store(HANGS)
    opened = await house.open(store)
    with monkeypatch.context() as impatient:
        impatient.setattr(calls_module, "REPLY_SECONDS", 0.05)
        refusals = await asyncio.gather(*(refusal_of(WORK["read"](opened)) for _ in range(10)))
    assert {refusal.reason for refusal in refusals} == {Reason.REASON_STORE_UNAVAILABLE}
    async with asyncio.timeout(30):
        while store.requests < 10:  # it may read them after nobody waits for its answers any more
            await asyncio.sleep(0)
    asked = store.requests
    refusal = await refusal_of(WORK["read"](opened))
    assert isinstance(refusal, LeftAlone)
    assert refusal.metadata == {"store": store.url}
    assert store.requests == asked
    store.answer = http(b"content")
    assert isinstance(await refusal_of(WORK["read"](opened)), LeftAlone)
    clock.now += 5
    assert await WORK["read"](opened) == b"content"
    assert await WORK["read"](opened) == b"content"


async def test_a_file_of_nothing_but_empty_gzip_members_is_refused(house: House) -> None:

    store = await house.store(http(gzip.compress(b"") * 50_000))
    text = profile_text(endpoint=store.url, path_style_access=True, flavor="s3-compat")
    secrets = FakeSecrets()
    await secrets.stage(SECRET, credential(), staged_by="a", warehouse_id=None, now=START)
    await secrets.keep(SECRET, warehouse_id=WAREHOUSE, now=START)
    read_file = FileReads(Storages(secrets, Kinds({"s3": s3_kind(house.backend)})))
    reading = read_file("s3://lake/wh/t1/metadata/v1.gz.metadata.json", permit=permit(Purpose.FILES, text))
    assert (await refusal_of(reading)).reason == Reason.REASON_FILE_UNREADABLE
