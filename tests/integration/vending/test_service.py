"""The whole service over a real channel, with Postgres and a store behind it."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID, uuid4

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from lakeward_authz.bootstrap import MIGRATIONS as AUTHZ_MIGRATIONS
from lakeward_authz.bootstrap import authz
from lakeward_authz.settings import AuthzSettings
from lakeward_protocol.common.v1 import context_pb2
from lakeward_protocol.vending.v1 import permits_pb2 as permits
from lakeward_protocol.vending.v1 import vending_pb2 as pb
from lakeward_protocol.vending.v1 import vending_pb2_grpc
from lakeward_servicekit.errors import Reason
from lakeward_servicekit.permits import PermitSigner, PermitVerifier
from lakeward_servicekit.postgres.migrating import migrate
from lakeward_servicekit.rpc import Caller, Channel, Host, connect, stub
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings.loading import load
from lakeward_servicekit.system import SystemClock
from lakeward_servicekit.workload import WorkloadIdentity, WorkloadVerifier
from lakeward_vending.bootstrap import MIGRATIONS, reencrypt, vending
from lakeward_vending.domain.profiles import profile as profiles
from lakeward_vending.settings import VendingSettings
from tests.support.components import S3Place
from tests.support.vending.fakes import refusal_of
from tests.support.vending.s3 import profile_text

pytestmark = pytest.mark.integration

WAREHOUSE = UUID(int=1)
SIGNER = PermitSigner(Ed25519PrivateKey.generate())
WORKLOADS = {name: Ed25519PrivateKey.generate() for name in ("catalog", "gateway")}


class Service:
    """The service's stubs as the catalog calls them, and channels for other callers."""

    def __init__(self, host: Host, catalog: Channel, port: int, place: S3Place) -> None:
        self.host = host
        self.port = port
        self.place = place
        self.access: vending_pb2_grpc.VendingServiceAsyncStub = stub(vending_pb2_grpc.VendingServiceStub, catalog)
        self.files: vending_pb2_grpc.FileServiceAsyncStub = stub(vending_pb2_grpc.FileServiceStub, catalog)
        self.storage: vending_pb2_grpc.StorageServiceAsyncStub = stub(vending_pb2_grpc.StorageServiceStub, catalog)
        gateway = host.channel(caller=Caller.CALLER_GATEWAY)
        self.gateway: vending_pb2_grpc.StorageServiceAsyncStub = stub(vending_pb2_grpc.StorageServiceStub, gateway)


def settings_of(shape: Any, url: str) -> Any:
    key = base64.b64encode(b"k" * 32).decode()
    return load(shape, {"LAKEKEEPER__PG_DATABASE_URL_WRITE": url, "LAKEWARD__ENCRYPTION_KEYS": f"one:{key}"}).settings


@pytest.fixture(params=["in-process", "over gRPC"])
def over_wire(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "over gRPC")


@pytest.fixture
async def service(over_wire: bool, postgres_url: str, s3_store: S3Place) -> AsyncIterator[Service]:
    await migrate(SecretStr(postgres_url), package=AUTHZ_MIGRATIONS, schema="lakeward_authz")
    await migrate(SecretStr(postgres_url), package=MIGRATIONS, schema="lakeward_vending")
    async with AsyncExitStack() as stack:
        deciding = await stack.enter_async_context(authz(settings_of(AuthzSettings, postgres_url)))
        host = await stack.enter_async_context(
            vending(
                settings_of(VendingSettings, postgres_url),
                authz=deciding.channel(caller=Caller.CALLER_VENDING),
                verifier=PermitVerifier([SIGNER.public_key]),
                remote=False,
            )
        )
        keys = {name: key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw) for name, key in WORKLOADS.items()}
        port = await stack.enter_async_context(host.serve("127.0.0.1:0", workloads=WorkloadVerifier("vending", keys)))
        catalog = host.channel(caller=Caller.CALLER_CATALOG)
        if over_wire:
            catalog = await stack.enter_async_context(connected(port, "catalog"))
        yield Service(host, catalog, port, s3_store)


def connected(port: int, caller: str | None) -> Any:
    token = None if caller is None else WorkloadIdentity(caller, WORKLOADS[caller]).token_for
    return connect(f"127.0.0.1:{port}", service="vending", token=token)


def storage(
    place: S3Place,
    secret_id: str,
    purpose: permits.Purpose.ValueType,
    *,
    profile: bytes | None = None,
    warehouse_id: UUID = WAREHOUSE,
    access: permits.Access.ValueType = permits.ACCESS_READ_WRITE_DELETE,
    location: str | None = None,
) -> pb.Storage:
    text = profile_text(place) if profile is None else profile
    claims = permits.PermitClaims(
        warehouse_id=warehouse_id.bytes,
        location=f"{place.url}/t1" if location is None else location,
        access=access,
        purpose=purpose,
        principal="oidc~alice",
        secret_id=secret_id,
        profile_sha256=profiles.digest(text),
    )
    claims.issued_at.FromDatetime(SystemClock().now())
    claims.expires_at.FromSeconds(claims.issued_at.seconds + 50)
    return pb.Storage(permit=SIGNER.sign(claims), profile=text)


async def staged(service: Service) -> str:
    key = service.place.store.admin
    credential = {
        "type": "s3",
        "credential-type": "access-key",
        "access-key-id": key.access_key,
        "secret-access-key": key.secret_key,
    }
    request = pb.StageCredentialRequest(credential=json.dumps(credential).encode())
    reply = await service.gateway.StageCredential(request)
    assert reply.credential_kind == "s3:access-key"
    return reply.secret_id


async def test_a_warehouse_is_staged_judged_proved_and_used(service: Service) -> None:
    place, secret_id = service.place, await staged(service)
    normal = await service.storage.NormaliseProfile(
        pb.NormaliseProfileRequest(profile=profile_text(place), secret_id=secret_id)
    )
    assert normal.base_location == place.url
    assert (normal.credential_kind, list(normal.schemes), normal.signs_remotely) == ("s3:access-key", ["s3"], True)

    validated = await service.storage.ValidateStorage(
        pb.ValidateStorageRequest(
            storage=storage(
                place, secret_id, permits.PURPOSE_VALIDATE, profile=normal.profile, location=normal.base_location
            )
        )
    )
    assert [check.passed for check in validated.checks] == [True] * 8
    assert validated.tells_case is False  # SeaweedFS matches policies without case
    await service.storage.KeepSecret(pb.KeepSecretRequest(secret_id=secret_id, warehouse_id=str(WAREHOUSE)))

    files, at = storage(place, secret_id, permits.PURPOSE_FILES), f"{place.url}/t1/metadata/0.gz.metadata.json"
    assert (await service.files.CheckEmpty(pb.CheckEmptyRequest(storage=files))).empty
    write = pb.WriteFileRequest(
        storage=files, location=at, content=gzip.compress(b"{}"), content_type="application/json"
    )
    await service.files.WriteFile(write)
    assert (await service.files.ReadFile(pb.ReadFileRequest(storage=files, location=at))).content == b"{}"
    plain = f"{place.url}/t1/metadata/0.metadata.json"
    await service.files.WriteFile(
        pb.WriteFileRequest(storage=files, location=plain, content=gzip.compress(b"[]"), inflate=True)
    )
    assert (await service.files.ReadFile(pb.ReadFileRequest(storage=files, location=plain))).content == b"[]"

    access = await service.access.VendAccess(
        pb.VendAccessRequest(storage=storage(place, secret_id, permits.PURPOSE_VEND))
    )
    assert access.config["s3.session-token"] == access.credential["s3.session-token"]
    assert access.refresh_property == "client.refresh-credentials-endpoint"
    assert access.expires_at.seconds * 1000 == pytest.approx(int(access.credential["expiration-time"]), abs=1000)

    uri = f"{place.store.endpoint}/{place.store.bucket}/{place.prefix}/t1/metadata/0.gz.metadata.json"
    signing = storage(place, secret_id, permits.PURPOSE_SIGN)
    signed = await service.access.SignRequest(
        pb.SignRequestRequest(
            storage=signing,
            method="GET",
            uri=uri,
            region=place.store.region,
            headers={"range": pb.HeaderValues(values=["bytes=0-1"])},
        )
    )
    assert (signed.uri, signed.cacheable) == (uri, True)
    assert {"range", "authorization", "x-amz-date"} <= signed.headers.keys()

    purge = pb.PurgePageRequest(storage=storage(place, secret_id, permits.PURPOSE_PURGE))
    purged = await service.files.PurgePage(purge)
    assert (purged.deleted, purged.done) == (2, True)
    await service.files.DeleteFiles(pb.DeleteFilesRequest(storage=files, locations=[at]))
    await service.storage.ForgetSecret(pb.ForgetSecretRequest(secret_id=secret_id))


async def test_equal_loads_share_a_credential_and_others_do_not(service: Service) -> None:
    secret_id = await staged(service)

    async def token(**changes: Any) -> str:
        asked = storage(service.place, secret_id, permits.PURPOSE_VEND, **changes)
        reply = await service.access.VendAccess(pb.VendAccessRequest(storage=asked))
        return reply.credential["s3.session-token"]

    assert await token() == await token()
    assert await token() != await token(access=permits.ACCESS_READ)


async def test_a_client_is_told_to_sign_where_it_asks_for_that(service: Service) -> None:
    asked = storage(service.place, await staged(service), permits.PURPOSE_VEND)
    delegation = [context_pb2.DELEGATION_REMOTE_SIGNING]
    reply = await service.access.VendAccess(pb.VendAccessRequest(storage=asked, delegation=delegation))
    assert (reply.sign_remotely, dict(reply.credential), reply.HasField("expires_at")) == (True, {}, False)


async def test_a_request_without_a_permit_or_with_a_foreign_one_does_nothing(service: Service) -> None:
    refusal = await refusal_of(service.files.CheckEmpty(pb.CheckEmptyRequest()))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_PERMIT_REFUSED, {"cause": "missing"})
    foreign = storage(service.place, "", permits.PURPOSE_FILES)
    foreign.permit.CopyFrom(
        PermitSigner(Ed25519PrivateKey.generate()).sign(permits.PermitClaims.FromString(foreign.permit.claims))
    )
    refusal = await refusal_of(service.files.CheckEmpty(pb.CheckEmptyRequest(storage=foreign)))
    assert refusal.metadata == {"cause": "unknown-key"}


@pytest.mark.parametrize(
    "changes",
    [
        {"location": "s3://lake/../x"},
        {"location": ""},
        {"access": permits.ACCESS_UNSPECIFIED},
        {"secret_id": "x"},
        {"purpose": permits.PURPOSE_UNSPECIFIED},
    ],
)
async def test_claims_that_say_nothing_are_refused(service: Service, changes: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"secret_id": "", "purpose": permits.PURPOSE_FILES} | changes
    asked = storage(service.place, arguments.pop("secret_id"), arguments.pop("purpose"), **arguments)
    refusal = await refusal_of(service.files.CheckEmpty(pb.CheckEmptyRequest(storage=asked)))
    assert refusal.metadata == {"cause": "malformed"}


@pytest.mark.parametrize("caller", [None, "gateway"])
async def test_only_the_catalog_reaches_files_whoever_holds_a_permit(service: Service, caller: str | None) -> None:
    asked = storage(service.place, "", permits.PURPOSE_FILES)
    async with connected(service.port, caller) as channel:
        files: vending_pb2_grpc.FileServiceAsyncStub = stub(vending_pb2_grpc.FileServiceStub, channel)
        refusal = await refusal_of(files.CheckEmpty(pb.CheckEmptyRequest(storage=asked)))
    assert refusal.reason == Reason.REASON_WORKLOAD_REFUSED


async def test_a_secret_of_another_warehouse_is_no_secret(service: Service) -> None:
    secret_id = await staged(service)
    await service.storage.KeepSecret(pb.KeepSecretRequest(secret_id=secret_id, warehouse_id=str(uuid4())))
    asked = storage(service.place, secret_id, permits.PURPOSE_FILES)
    refusal = await refusal_of(service.files.CheckEmpty(pb.CheckEmptyRequest(storage=asked)))
    assert refusal.reason == Reason.REASON_NO_SUCH_SECRET


@pytest.mark.parametrize(
    ("reason", "request_"),
    [
        (Reason.REASON_INVALID_FIELD, pb.StageCredentialRequest(credential=b"{}", warehouse_id="x")),
        (Reason.REASON_MALFORMED_DOCUMENT, pb.StageCredentialRequest(credential=b"x")),
        (
            Reason.REASON_MALFORMED_PROJECT_ID,
            pb.StageCredentialRequest(credential=b"{}", context=context_pb2.RequestContext(project_id="a b")),
        ),
    ],
)
async def test_a_bad_request_to_stage_is_refused(
    service: Service, reason: Reason.ValueType, request_: pb.StageCredentialRequest
) -> None:
    assert (await refusal_of(service.gateway.StageCredential(request_))).reason == reason


async def test_the_service_says_how_it_is(service: Service) -> None:
    assert await service.host.probe() == {"database": True}


async def test_a_rotated_key_reads_what_the_old_one_sealed(service: Service, postgres_url: str) -> None:
    secret_id = await staged(service)
    old, new = (base64.b64encode(letter * 32).decode() for letter in (b"k", b"n"))
    database = {"LAKEKEEPER__PG_DATABASE_URL_WRITE": postgres_url}
    both = load(VendingSettings, database | {"LAKEWARD__ENCRYPTION_KEYS": f"two:{new},one:{old}"}).settings
    assert await reencrypt(both.postgres, both.secrets, audits=True) >= 1
    assert await reencrypt(both.postgres, both.secrets, audits=True) == 0
    request = pb.NormaliseProfileRequest(profile=profile_text(service.place), secret_id=secret_id)
    refusal = await refusal_of(service.storage.NormaliseProfile(request))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_SECRET_UNREADABLE, {"key_id": "two"})
    back = load(VendingSettings, database | {"LAKEWARD__ENCRYPTION_KEYS": f"one:{old},two:{new}"}).settings
    await reencrypt(back.postgres, back.secrets, audits=True)
    assert (await service.storage.NormaliseProfile(request)).credential_kind == "s3:access-key"
