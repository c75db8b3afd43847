"""What the catalog asks vending for files and access, over an in-process channel to servicers that remember it."""

from __future__ import annotations

import gzip
from datetime import UTC, timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lakeward_catalog.adapters.vending.client_access import VendingAccess
from lakeward_catalog.adapters.vending.files import VendingFiles
from lakeward_catalog.adapters.vending.permits import Permits
from lakeward_catalog.application.caller import Delegation
from lakeward_catalog.application.ports.access import Access, ClientAccess, StorageRequest
from lakeward_catalog.application.ports.files import Files
from lakeward_locations import Location
from lakeward_protocol.common.v1 import context_pb2
from lakeward_protocol.vending.v1 import permits_pb2, vending_pb2, vending_pb2_grpc
from lakeward_servicekit.deflated import deflate
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.permits import PermitSigner
from lakeward_servicekit.rpc import Caller, Host
from tests.support.catalog.house import refusal_of
from tests.support.catalog.values import NOON, FreshIds, HeldClock, a_namespace, a_project, a_tabular, a_warehouse

WAREHOUSE = a_warehouse(a_project())
TABLE = a_tabular(a_namespace(WAREHOUSE, "sales"))
WHO = "oidc~anna"


class FilesThere(vending_pb2_grpc.FileServiceServicer):
    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.refuses: Refusal | None = None

    def _note(self, request: Any) -> None:
        self.asked.append(request)
        if self.refuses is not None:
            raise self.refuses

    async def ReadFile(self, request: Any, context: Any) -> vending_pb2.ReadFileResponse:
        self._note(request)
        return vending_pb2.ReadFileResponse(content=b"{}")

    async def WriteFile(self, request: Any, context: Any) -> vending_pb2.WriteFileResponse:
        self._note(request)
        return vending_pb2.WriteFileResponse()

    async def DeleteFiles(self, request: Any, context: Any) -> vending_pb2.DeleteFilesResponse:
        self._note(request)
        return vending_pb2.DeleteFilesResponse()

    async def CheckEmpty(self, request: Any, context: Any) -> vending_pb2.CheckEmptyResponse:
        self._note(request)
        return vending_pb2.CheckEmptyResponse(empty=True)

    async def PurgePage(self, request: Any, context: Any) -> vending_pb2.PurgePageResponse:
        self._note(request)
        return vending_pb2.PurgePageResponse(deleted=7, done=True)


class AccessThere(vending_pb2_grpc.VendingServiceServicer):
    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.vends = vending_pb2.VendAccessResponse()

    async def VendAccess(self, request: Any, context: Any) -> vending_pb2.VendAccessResponse:
        self.asked.append(request)
        return self.vends

    async def SignRequest(self, request: Any, context: Any) -> vending_pb2.SignRequestResponse:
        self.asked.append(request)
        headers = {"authorization": vending_pb2.HeaderValues(values=["AWS4"])}
        return vending_pb2.SignRequestResponse(uri=request.uri, headers=headers, cacheable=True)


@pytest.fixture
def there() -> FilesThere:
    return FilesThere()


@pytest.fixture
def vending() -> AccessThere:
    return AccessThere()


def permits() -> Permits:
    return Permits(PermitSigner(Ed25519PrivateKey.generate()), HeldClock())


@pytest.fixture
def files(there: FilesThere) -> Files:
    host = Host("vending")
    host.add(vending_pb2_grpc.add_FileServiceServicer_to_server, there)
    return VendingFiles(host.channel(caller=Caller.CALLER_CATALOG), permits())


@pytest.fixture
def access(vending: AccessThere) -> ClientAccess:
    host = Host("vending")
    host.add(vending_pb2_grpc.add_VendingServiceServicer_to_server, vending)
    return VendingAccess(host.channel(caller=Caller.CALLER_CATALOG), permits(), FreshIds())


def claims(request: Any) -> permits_pb2.PermitClaims:
    return permits_pb2.PermitClaims.FromString(request.storage.permit.claims)


def said(request: Any) -> tuple[Any, ...]:
    permit = claims(request)
    return permit.purpose, permit.access, permit.location, permit.incarnation, permit.principal


FILES, READ = permits_pb2.PURPOSE_FILES, permits_pb2.ACCESS_READ


async def test_a_file_is_read_within_its_folder_and_for_no_table(files: Files, there: FilesThere) -> None:
    within = Location.parse("s3://lake/base/t/metadata")
    assert await files.read(WAREHOUSE, "s3://lake/base/t/metadata/x.json", within=within, principal=WHO) == b"{}"
    (asked,) = there.asked
    assert (asked.location, said(asked)) == (
        "s3://lake/base/t/metadata/x.json",
        (FILES, READ, str(within), b"", WHO),
    )


async def test_a_file_is_written_within_its_table_and_nothing_is_deleted_with_that_permit(
    files: Files, there: FilesThere
) -> None:
    await files.write(WAREHOUSE, TABLE, f"{TABLE.location}/metadata/x.json", deflate(b"text"), principal=WHO)
    (asked,) = there.asked
    writes = (FILES, permits_pb2.ACCESS_READ_WRITE, TABLE.location, TABLE.incarnation.bytes, WHO)
    assert (gzip.decompress(asked.content), asked.inflate, said(asked)) == (b"text", True, writes)


async def test_a_file_whose_name_says_gzip_is_left_so(files: Files, there: FilesThere) -> None:
    await files.write(WAREHOUSE, TABLE, f"{TABLE.location}/metadata/x.gz.metadata.json", deflate(b"t"), principal=WHO)
    (asked,) = there.asked
    assert (gzip.decompress(asked.content), asked.inflate) == (b"t", False)


@pytest.mark.parametrize(
    ("count", "pages"), [(0, []), (1, [1]), (1000, [1000]), (1001, [1000, 1]), (2500, [1000, 1000, 500])]
)
async def test_files_are_deleted_by_name_page_by_page(
    files: Files, there: FilesThere, count: int, pages: list[int]
) -> None:
    places = [f"{TABLE.location}/metadata/{n}.json" for n in range(count)]
    await files.delete(WAREHOUSE, TABLE, places, principal=WHO)
    assert [len(asked.locations) for asked in there.asked] == pages
    assert [place for asked in there.asked for place in asked.locations] == places
    deletes = (FILES, permits_pb2.ACCESS_READ_WRITE_DELETE, TABLE.location, TABLE.incarnation.bytes, WHO)
    assert all(said(asked) == deletes for asked in there.asked)


async def test_a_place_is_looked_at_with_the_right_to_read_it_alone(files: Files, there: FilesThere) -> None:
    place = Location.parse("s3://lake/base/new")
    assert await files.is_empty(WAREHOUSE, place, principal=WHO)
    assert said(there.asked[0]) == (FILES, READ, "s3://lake/base/new", b"", WHO)


async def test_a_purge_is_the_services_own_and_names_what_was_dropped(files: Files, there: FilesThere) -> None:
    place = Location.parse(TABLE.location)
    assert await files.purge_page(WAREHOUSE, TABLE.incarnation, place) == (7, True)
    permit = claims(there.asked[0])
    assert (permit.purpose, permit.access, permit.principal) == (
        permits_pb2.PURPOSE_PURGE,
        permits_pb2.ACCESS_READ_WRITE_DELETE,
        "service",
    )
    assert (permit.location, permit.incarnation) == (TABLE.location, TABLE.incarnation.bytes)


async def test_what_vending_refuses_is_refused_in_its_words(files: Files, there: FilesThere) -> None:
    there.refuses = Refusal(Reason.REASON_FILE_NOT_FOUND, "no such file", location="s3://lake/base/x")
    refusal = await refusal_of(
        files.read(WAREHOUSE, "s3://lake/base/x", within=Location.parse("s3://lake/base/t"), principal=WHO)
    )
    assert (refusal.reason, refusal.metadata["location"]) == (Reason.REASON_FILE_NOT_FOUND, "s3://lake/base/x")


@pytest.mark.parametrize(
    ("level", "said_access"),
    [(Access.READ, READ), (Access.READ_WRITE_DELETE, permits_pb2.ACCESS_READ_WRITE_DELETE)],
)
async def test_access_is_vended_for_one_table_and_as_far_as_was_decided(
    access: ClientAccess, vending: AccessThere, level: Access, said_access: int
) -> None:
    accepted = frozenset({Delegation.VENDED_CREDENTIALS, Delegation.REMOTE_SIGNING})
    await access.vend(WAREHOUSE, TABLE, level, delegation=accepted, principal=WHO)
    (asked,) = vending.asked
    assert said(asked) == (
        permits_pb2.PURPOSE_VEND,
        said_access,
        TABLE.location,
        TABLE.incarnation.bytes,
        WHO,
    )
    assert sorted(asked.delegation) == sorted(
        [context_pb2.DELEGATION_VENDED_CREDENTIALS, context_pb2.DELEGATION_REMOTE_SIGNING]
    )
    assert asked.storage.profile == WAREHOUSE.storage.profile


async def test_what_was_vended_is_told_whole(access: ClientAccess, vending: AccessThere) -> None:
    nothing = await access.vend(WAREHOUSE, TABLE, Access.READ, delegation=frozenset(), principal=WHO)
    assert (dict(nothing.config), dict(nothing.credential), nothing.expires_at) == ({}, {}, None)
    vending.vends = vending_pb2.VendAccessResponse(
        config={"s3.region": "eu"}, credential={"token": "x"}, sign_remotely=True, refresh_property="refresh"
    )
    vending.vends.expires_at.FromDatetime(NOON + timedelta(hours=1))
    vended = await access.vend(WAREHOUSE, TABLE, Access.READ, delegation=frozenset(), principal=WHO)
    assert (vended.config, vended.credential, vended.sign_remotely, vended.refresh_property) == (
        {"s3.region": "eu"},
        {"token": "x"},
        True,
        "refresh",
    )
    assert vended.expires_at == (NOON + timedelta(hours=1)).replace(tzinfo=UTC)


def request(body: bytes | None = None) -> StorageRequest:
    return StorageRequest("PUT", "https://s3/lake/base/x", "eu", {"x-a": ("1", "2")}, body)


@pytest.mark.parametrize("body", [None, b"", b"<Delete/>"])
async def test_a_request_goes_to_be_signed_as_it_came(
    access: ClientAccess, vending: AccessThere, body: bytes | None
) -> None:
    signed = await access.sign(WAREHOUSE, TABLE, Access.READ, request(body), principal=WHO)
    (asked,) = vending.asked
    assert (asked.method, asked.uri, asked.region) == ("PUT", "https://s3/lake/base/x", "eu")
    assert {name: list(values.values) for name, values in asked.headers.items()} == {"x-a": ["1", "2"]}
    assert (asked.body if asked.HasField("body") else None) == body
    assert said(asked)[:4] == (permits_pb2.PURPOSE_SIGN, READ, TABLE.location, TABLE.incarnation.bytes)
    assert (signed.uri, dict(signed.headers), signed.cacheable) == (asked.uri, {"authorization": ("AWS4",)}, True)


async def test_where_no_table_is_known_the_permit_is_for_a_place_where_nothing_can_lie(
    access: ClientAccess, vending: AccessThere
) -> None:
    for _ in range(2):
        await access.sign(WAREHOUSE, None, Access.READ, request(), principal=WHO)
    places = [Location.parse(claims(asked).location) for asked in vending.asked]
    assert places[0] != places[1]
    base = Location.parse(WAREHOUSE.storage.base_location)
    assert all(base.strictly_contains(place) for place in places)
    assert [claims(asked).incarnation for asked in vending.asked] == [b"", b""]


async def test_how_long_credentials_should_last_is_passed_on(access: ClientAccess, vending: AccessThere) -> None:
    await access.vend(WAREHOUSE, TABLE, Access.READ, delegation=frozenset(), principal=WHO)
    await access.vend(
        WAREHOUSE, TABLE, Access.READ, delegation=frozenset(), principal=WHO, min_validity=timedelta(minutes=5)
    )
    assert [asked.min_validity.ToTimedelta() for asked in vending.asked] == [timedelta(0), timedelta(minutes=5)]
