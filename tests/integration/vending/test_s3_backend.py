from __future__ import annotations

import http.client
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.system import SystemClock, SystemIds
from lakeward_vending.adapters.s3.backend import S3Backend
from lakeward_vending.application.client_access import RequestSignatures
from lakeward_vending.application.files import EmptinessChecks, PagePurges
from lakeward_vending.application.ports import Grant, ObjectStore, Storage
from lakeward_vending.application.storages import Kinds, Storages
from lakeward_vending.application.validation import StorageValidations
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.permit import Purpose
from lakeward_vending.domain.signing import SigningRequest
from tests.support.components import S3Place
from tests.support.vending.fakes import START, FakeSecrets, refusal_of
from tests.support.vending.permits import SECRET, WAREHOUSE, permit
from tests.support.vending.s3 import below, profile_text, s3_backend, s3_kind, storage

pytestmark = pytest.mark.integration


@pytest.fixture
async def backend() -> AsyncIterator[S3Backend]:
    async with s3_backend() as opened:
        yield opened


@pytest.fixture
def server(s3_store: S3Place) -> Storage:
    return storage(s3_store)


async def vended(backend: S3Backend, place: S3Place, access: Access, *, table: str = "t1") -> ObjectStore:
    grant = Grant(storage(place, sts_only=True), below(place, table), access, "oidc~alice")
    kind = s3_kind(backend)
    return await kind.open_vended(grant.storage, await kind.vend(grant))


def storages_of(backend: S3Backend, secrets: FakeSecrets) -> Storages:
    return Storages(secrets, Kinds({"s3": s3_kind(backend)}))


def validating(backend: S3Backend, secrets: FakeSecrets) -> StorageValidations:
    return StorageValidations(storages_of(backend, secrets), SystemClock(), SystemIds(), skip=False)


READS: dict[str, Callable[[ObjectStore, str], Awaitable[object]]] = {
    "read": lambda store, key: store.read(key, limit=100),
    "list": lambda store, key: store.list_page(key, limit=1),
}
CHANGES: dict[str, Callable[[ObjectStore, str], Awaitable[object]]] = {
    "write": lambda store, key: store.write(f"{key}-new", b"x", content_type=None),
    "delete": lambda store, key: store.delete([key]),
}


async def denied(work: Awaitable[object]) -> bool:
    try:
        await work
    except Refusal as refusal:
        return refusal.reason == Reason.REASON_STORE_DENIED
    return False


@pytest.mark.parametrize(
    ("access", "may"),
    [
        (Access.READ, {"read", "list"}),
        (Access.READ_WRITE, {"read", "list", "write"}),
        (Access.READ_WRITE_DELETE, {"read", "list", "write", "delete"}),
    ],
)
async def test_a_vended_credential_does_what_its_level_says_inside_and_nothing_outside(
    backend: S3Backend, s3_store: S3Place, server: Storage, access: Access, may: set[str]
) -> None:
    own = await backend.open(server)
    prefix = s3_store.prefix
    keys = [f"{prefix}/{table}/f" for table in ("t1", "t10", "t2")]
    for key in keys:
        await own.write(key, b"x", content_type=None)
    store = await vended(backend, s3_store, access)
    for name, work in (READS | CHANGES).items():
        assert await denied(work(store, keys[0])) is (name not in may), name
        for outside in (*keys[1:], f"{prefix}/t1", f"{prefix}/"):
            assert await denied(work(store, outside)), (name, outside)


async def test_a_vended_credential_expires_when_the_store_says(backend: S3Backend, s3_store: S3Place) -> None:
    short = storage(s3_store, sts_only=True, sts_token_validity_seconds=900)
    before = SystemClock().now()
    credential = await backend.mint(Grant(short, below(s3_store, "t1"), Access.READ, "alice"))
    assert 890 <= (credential.expires_at - before).total_seconds() <= 910


async def test_a_warehouse_on_a_confining_store_is_valid_and_left_clean(backend: S3Backend, s3_store: S3Place) -> None:
    profile = profile_text(s3_store)
    secrets = FakeSecrets()
    credential = storage(s3_store).credential
    assert credential is not None
    await secrets.stage(SECRET, credential, staged_by="a", warehouse_id=None, now=START)
    claims = permit(Purpose.VALIDATE, profile, location=below(s3_store))
    validation = await validating(backend, secrets)(permit=claims)
    assert all(result.passed for result in validation.checks)
    assert validation.tells_case is False  # SeaweedFS matches policies without case
    assert await (await backend.open(storage(s3_store))).list_page(f"{s3_store.prefix}/", limit=10) == []


@pytest.mark.parametrize(
    ("check", "changes"),
    [
        ("vended-credentials-issued", {"sts-role-arn": "arn:aws:iam::000000000000:role/nobody"}),
        ("vended-credentials-issued", {"sts-endpoint": "http://127.0.0.1:9"}),
        ("storage-client-initialized", {"endpoint": "http://no-such-host.invalid"}),
    ],
)
async def test_a_warehouse_that_can_not_work_fails_its_first_check(
    backend: S3Backend, s3_store: S3Place, check: str, changes: dict[str, object]
) -> None:
    profile = profile_text(s3_store, **changes)
    secrets = FakeSecrets()
    credential = storage(s3_store).credential
    assert credential is not None
    await secrets.stage(SECRET, credential, staged_by="a", warehouse_id=None, now=START)
    claims = permit(Purpose.VALIDATE, profile, location=below(s3_store))
    work = validating(backend, secrets)(permit=claims)
    assert (await refusal_of(work)).metadata == {"check": check}


async def test_a_server_credential_without_rights_fails_the_validation_at_its_first_write(
    backend: S3Backend, s3_store: S3Place
) -> None:
    profile = profile_text(s3_store)
    secrets = FakeSecrets()
    credential = storage(s3_store, sts_only=True).credential
    assert credential is not None
    await secrets.stage(SECRET, credential, staged_by="a", warehouse_id=None, now=START)
    claims = permit(Purpose.VALIDATE, profile, location=below(s3_store))
    work = validating(backend, secrets)(permit=claims)
    assert (await refusal_of(work)).metadata == {"check": "lakekeeper-read-write"}


async def test_a_wrong_secret_is_denied_and_the_store_s_words_stay_inside(
    backend: S3Backend, s3_store: S3Place
) -> None:
    wrong = storage(s3_store, secret="wrong-secret")
    store = await backend.open(wrong)
    for work in (
        store.read("x", limit=1),
        store.write("x", b"", content_type=None),
        store.list_page("x", limit=1),
        store.delete(["x"]),
    ):
        refusal = await refusal_of(work)
        assert refusal.reason == Reason.REASON_STORE_DENIED
        assert "Signature" not in refusal.message
        assert "wrong-secret" not in refusal.message
    grant = Grant(wrong, below(s3_store, "t1"), Access.READ, "alice")
    assert (await refusal_of(backend.mint(grant))).reason == Reason.REASON_CREDENTIAL_NOT_ISSUED


async def test_a_store_that_is_away_is_unavailable(backend: S3Backend, s3_store: S3Place) -> None:
    away = storage(s3_store, endpoint="http://127.0.0.1:9")
    store = await backend.open(away)
    grant = Grant(away, below(s3_store, "t1"), Access.READ, "alice")
    for work in (
        store.read("x", limit=1),
        store.write("x", b"", content_type=None),
        store.list_page("x", limit=1),
        store.delete(["x"]),
        backend.mint(grant),
    ):
        refusal = await refusal_of(work)
        assert refusal.reason == Reason.REASON_STORE_UNAVAILABLE
        assert refusal.metadata == {"store": "http://127.0.0.1:9"}


async def test_an_old_location_that_only_aws_can_confine_gets_no_credential_of_another_store(
    backend: S3Backend, s3_store: S3Place
) -> None:
    grant = Grant(storage(s3_store), below(s3_store, "a*"), Access.READ, "alice")
    refusal = await refusal_of(backend.mint(grant))
    assert refusal.reason == Reason.REASON_CREDENTIAL_NOT_ISSUED
    assert "'*'" in refusal.message
    dollar = await vended(backend, s3_store, Access.READ_WRITE, table="a$b")
    await dollar.write(f"{s3_store.prefix}/a$b/f", b"x", content_type=None)
    assert await denied(dollar.read(f"{s3_store.prefix}/ab/f", limit=1))


async def test_a_metadata_address_is_never_called(backend: S3Backend, s3_store: S3Place) -> None:
    closed: list[dict[str, Any]] = [
        {"endpoint": "http://169.254.169.254"},
        {"sts_endpoint": "http://169.254.169.254/latest"},
    ]
    for changes in closed:
        grant = Grant(storage(s3_store, **changes), below(s3_store, "t1"), Access.READ, "alice")
        assert (await refusal_of(backend.mint(grant))).reason == Reason.REASON_ADDRESS_DENIED
    opening = backend.open(storage(s3_store, endpoint="http://169.254.169.254"))
    assert (await refusal_of(opening)).reason == Reason.REASON_ADDRESS_DENIED


async def test_the_server_works_through_a_role_that_it_assumes(backend: S3Backend, s3_store: S3Place) -> None:
    through_role = storage(s3_store, sts_only=True, assume_role_arn=s3_store.store.role_arn)
    store = await backend.open(through_role)
    key = f"{s3_store.prefix}/t1/f"
    await store.write(key, b"x", content_type=None)
    assert await store.read(key, limit=1) == b"x"
    assert await store.list_page(key, limit=1) == [key]
    first, second = await backend.signing_key(through_role), await backend.signing_key(through_role)
    assert first.session_token is not None
    assert first is second or first == second


async def test_a_purge_ends_whatever_keys_clients_have_made(backend: S3Backend, s3_store: S3Place) -> None:
    own = await backend.open(storage(s3_store))
    for name in ("data/f", "data/x y/é%2F", "a=1/b&c"):
        await own.write(f"{s3_store.prefix}/t1/{name}", b"x", content_type=None)
    for name in ("t1/marker/", "t1/nested/marker/"):
        await put_raw(backend, s3_store, f"{s3_store.prefix}/{name}")
    await own.write(f"{s3_store.prefix}/t10/f", b"stays", content_type=None)
    profile = profile_text(s3_store)
    secrets = FakeSecrets()
    credential = storage(s3_store).credential
    assert credential is not None
    await secrets.stage(SECRET, credential, staged_by="a", warehouse_id=None, now=START)
    await secrets.keep(SECRET, warehouse_id=WAREHOUSE, now=START)
    storages = storages_of(backend, secrets)
    location = below(s3_store, "t1")
    for _ in range(5):
        purged = await PagePurges(storages)(permit=permit(Purpose.PURGE, profile, location=location))
        if purged.done:
            break
    assert await EmptinessChecks(storages)(permit=permit(Purpose.FILES, profile, location=location))
    assert await own.list_page(f"{s3_store.prefix}/", limit=10) == [f"{s3_store.prefix}/t10/f"]


async def signed(
    backend: S3Backend,
    place: S3Place,
    method: str,
    uri: str,
    *,
    headers: dict[str, list[str]] | None = None,
    body: bytes | None = None,
) -> dict[str, str]:
    profile = profile_text(place)
    secrets = FakeSecrets()
    credential = storage(place).credential
    assert credential is not None
    await secrets.stage(SECRET, credential, staged_by="a", warehouse_id=None, now=START)
    claims = permit(Purpose.SIGN, profile, location=below(place, "t1"))
    request = SigningRequest(method=method, uri=uri, region=place.store.region, headers=headers or {}, body=body)
    result = await RequestSignatures(storages_of(backend, secrets))(request, permit=claims)
    return {name: ",".join(values) for name, values in result.headers.items()}


def call(method: str, uri: str, headers: dict[str, str], body: bytes = b"") -> tuple[int, bytes]:
    parts = urlsplit(uri)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    try:
        connection.request(method, parts.path + (f"?{parts.query}" if parts.query else ""), body=body, headers=headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


async def put_raw(backend: S3Backend, place: S3Place, key: str) -> None:
    uri = f"{place.store.endpoint}/{place.store.bucket}/{quote(key)}"
    status, _ = call("PUT", uri, await signed(backend, place, "PUT", uri))
    assert status == 200


async def test_the_store_accepts_what_is_signed(backend: S3Backend, s3_store: S3Place) -> None:
    bucket = f"{s3_store.store.endpoint}/{s3_store.store.bucket}"
    prefix = f"{s3_store.prefix}/t1"
    uri = f"{bucket}/{prefix}/a%3D1/b%20%C3%A9%2B%252F.parquet"
    assert (
        call("PUT", uri, await signed(backend, s3_store, "PUT", uri, headers={"x-amz-meta-k": ["v"]}), b"body")[0]
        == 200
    )
    ranged = await signed(backend, s3_store, "GET", uri, headers={"Range": ["bytes=1-2"]})
    assert call("GET", uri, ranged) == (206, b"od")
    assert call("GET", uri, ranged | {"Range": "bytes=0-0"}) == (206, b"b")
    copied = f"{bucket}/{prefix}/copy"
    source = {"x-amz-copy-source": [urlsplit(uri).path]}
    assert call("PUT", copied, await signed(backend, s3_store, "PUT", copied, headers=source))[0] == 200
    listing = f"{bucket}?list-type=2&prefix={quote(prefix, safe='')}%2F&encoding-type=url"
    status, reply = call("GET", listing, await signed(backend, s3_store, "GET", listing))
    assert (status, reply.count(b"<Key>")) == (200, 2)
    deleting = f"{bucket}?delete"
    body = f"<Delete><Object><Key>{prefix}/copy</Key></Object></Delete>".encode()
    headers = await signed(backend, s3_store, "POST", deleting, body=body)
    assert call("POST", deleting, headers, body)[0] == 200
    assert call("HEAD", copied, await signed(backend, s3_store, "HEAD", copied))[0] == 404


async def test_the_store_refuses_another_path_sub_resource_or_copy_source_than_was_signed(
    backend: S3Backend, s3_store: S3Place
) -> None:
    bucket = f"{s3_store.store.endpoint}/{s3_store.store.bucket}"
    prefix = f"{s3_store.prefix}/t1"
    put = await signed(backend, s3_store, "PUT", f"{bucket}/{prefix}/z")
    source = {"x-amz-copy-source": f"/{s3_store.store.bucket}/{s3_store.prefix}/t2/a"}
    assert call("PUT", f"{bucket}/{prefix}/z", put | source)[0] == 403
    get = await signed(backend, s3_store, "GET", f"{bucket}/{prefix}/a")
    assert call("GET", f"{bucket}/{s3_store.prefix}/t2/a", get)[0] == 403
    assert call("GET", f"{bucket}/{prefix}/a?acl", get)[0] == 403
