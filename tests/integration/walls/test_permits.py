"""Vending acts on the catalog's permits and on nothing else, though the catalog itself calls."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from lakeward_protocol.common.v1 import context_pb2
from lakeward_protocol.vending.v1 import permits_pb2 as permits
from lakeward_protocol.vending.v1 import vending_pb2 as pb
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.permits import PermitSigner
from lakeward_servicekit.workload import WorkloadIdentity
from tests.integration.walls.conftest import Walled
from tests.support.audit import Objects
from tests.support.wire import WORKLOAD, call

pytestmark = pytest.mark.integration

_ACCESS, _FILES, _STORAGE = (
    f"/lakeward.vending.v1.{name}/" for name in ("VendingService", "FileService", "StorageService")
)
PURPOSES: Mapping[str, permits.Purpose.ValueType] = {
    f"{_ACCESS}VendAccess": permits.PURPOSE_VEND,
    f"{_ACCESS}SignRequest": permits.PURPOSE_SIGN,
    f"{_FILES}ReadFile": permits.PURPOSE_FILES,
    f"{_FILES}WriteFile": permits.PURPOSE_FILES,
    f"{_FILES}DeleteFiles": permits.PURPOSE_FILES,
    f"{_FILES}CheckEmpty": permits.PURPOSE_FILES,
    f"{_FILES}PurgePage": permits.PURPOSE_PURGE,
    f"{_FILES}ListFiles": permits.PURPOSE_FILES,
    f"{_FILES}ReadPart": permits.PURPOSE_FILES,
    f"{_STORAGE}ValidateStorage": permits.PURPOSE_VALIDATE,
    f"{_STORAGE}ClaimPlace": permits.PURPOSE_VALIDATE,
    f"{_STORAGE}ReleasePlace": permits.PURPOSE_VALIDATE,
}


def _request(walled: Walled, path: str, storage: pb.Storage, *, file: str | None = None) -> Message:
    """One that a sound permit lets through; purging is of a place where nothing lies."""
    file = file or f"{walled.location}/metadata/of-the-test"
    uri = f"{walled.store.endpoint}/{file.removeprefix('s3://')}"
    vended = [context_pb2.DELEGATION_VENDED_CREDENTIALS]
    made: dict[str, Message] = {
        "VendAccess": pb.VendAccessRequest(storage=storage, delegation=vended),
        "SignRequest": pb.SignRequestRequest(storage=storage, method="GET", uri=uri, region=walled.store.region),
        "ReadFile": pb.ReadFileRequest(storage=storage, location=file),
        "WriteFile": pb.WriteFileRequest(storage=storage, location=file, content=b"{}"),
        "DeleteFiles": pb.DeleteFilesRequest(storage=storage, locations=[file]),
        "CheckEmpty": pb.CheckEmptyRequest(storage=storage),
        "PurgePage": pb.PurgePageRequest(storage=storage),
        "ListFiles": pb.ListFilesRequest(storage=storage, limit=10),
        "ReadPart": pb.ReadPartRequest(storage=storage, location=file, length=10),
        "ValidateStorage": pb.ValidateStorageRequest(storage=storage),
        "ClaimPlace": pb.ClaimPlaceRequest(
            storage=storage,
            installation=str(uuid4()),
            claimed_at=Timestamp(seconds=int(dt.datetime.now(dt.UTC).timestamp())),
        ),
        "ReleasePlace": pb.ReleasePlaceRequest(storage=storage),
    }
    return made[path.rpartition("/")[2]]


def _claims(walled: Walled, path: str) -> permits.PermitClaims:
    claims = walled.claims(PURPOSES[path])
    if path.endswith("/PurgePage"):
        claims.location = f"{walled.location}-nothing-lies-here"
    return claims


async def _call(walled: Walled, path: str, request: Message) -> Message | Refusal:
    proof = WorkloadIdentity("catalog", walled.installation.keys["catalog"]).token_for("vending")
    return await call(walled.channels["vending"], path, request, metadata={WORKLOAD: proof})


async def test_a_sound_permit_opens_each_method(walled: Walled) -> None:
    """The twin: what every test below spoils in one thing."""
    order = [
        "WriteFile",
        "ReadFile",
        "CheckEmpty",
        "ListFiles",
        "ReadPart",
        "VendAccess",
        "SignRequest",
        "ValidateStorage",
        "ClaimPlace",
        "ReleasePlace",
        "PurgePage",
        "DeleteFiles",
    ]
    for path in sorted(PURPOSES, key=lambda path: order.index(path.rpartition("/")[2])):
        storage = walled.storage(walled.signer.sign(_claims(walled, path)))
        answer = await _call(walled, path, _request(walled, path, storage))
        assert not isinstance(answer, Refusal), f"{path}: {answer}"


Spoil = Callable[[Walled, permits.PermitClaims], permits.Permit | None]


def _changed(change: Callable[[permits.PermitClaims], object]) -> Spoil:
    """Signed by the catalog, with other claims."""

    def spoil(walled: Walled, claims: permits.PermitClaims) -> permits.Permit:
        change(claims)
        return walled.signer.sign(claims)

    return spoil


def _tampered(change: Callable[[permits.PermitClaims], object]) -> Spoil:
    """Changed after it was signed."""

    def spoil(walled: Walled, claims: permits.PermitClaims) -> permits.Permit:
        sound = walled.signer.sign(claims)
        change(claims)
        return permits.Permit(claims=claims.SerializeToString(), signature=sound.signature, key_id=sound.key_id)

    return spoil


def _shifted(seconds: float, *, longer: float = 0) -> Callable[[permits.PermitClaims], None]:
    def shift(claims: permits.PermitClaims) -> None:
        issued = claims.issued_at.ToDatetime() + dt.timedelta(seconds=seconds)
        claims.issued_at.FromDatetime(issued)
        claims.expires_at.FromDatetime(issued + dt.timedelta(seconds=55 + longer))

    return shift


def _stranger(walled: Walled, claims: permits.PermitClaims) -> permits.Permit:
    return PermitSigner(Ed25519PrivateKey.generate()).sign(claims)


def _stranger_by_the_catalog_s_name(walled: Walled, claims: permits.PermitClaims) -> permits.Permit:
    forged = _stranger(walled, claims)
    return permits.Permit(claims=forged.claims, signature=forged.signature, key_id=walled.signer.sign(claims).key_id)


def _gateway(walled: Walled, claims: permits.PermitClaims) -> permits.Permit:
    return PermitSigner(walled.installation.keys["gateway"]).sign(claims)


SPOILT: Mapping[str, Spoil] = {
    "none": lambda walled, claims: None,
    "unsigned": lambda walled, claims: permits.Permit(claims=claims.SerializeToString(), key_id="x"),
    "signed by a stranger": _stranger,
    "signed by a stranger under the catalog's name": _stranger_by_the_catalog_s_name,
    "signed by the gateway": _gateway,
    "expired": _changed(_shifted(-120)),
    "from the future": _changed(_shifted(60)),
    "for longer than a permit may be": _changed(_shifted(0, longer=600)),
    "for longer than a signer's scope may be": _changed(_shifted(0, longer=7200)),
    "with another location put in": _tampered(lambda claims: setattr(claims, "location", f"{claims.location}/x")),
    "with another incarnation put in": _tampered(lambda claims: setattr(claims, "incarnation", uuid4().bytes)),
    "with another warehouse put in": _tampered(lambda claims: setattr(claims, "warehouse_id", uuid4().bytes)),
    "with a later end put in": _tampered(
        lambda claims: claims.expires_at.FromDatetime(dt.datetime(2100, 1, 1, tzinfo=dt.UTC))
    ),
    "of no purpose": _changed(lambda claims: setattr(claims, "purpose", permits.PURPOSE_UNSPECIFIED)),
    "of no access": _changed(lambda claims: setattr(claims, "access", permits.ACCESS_UNSPECIFIED)),
    "for another profile": _changed(lambda claims: setattr(claims, "profile_sha256", b"\0" * 32)),
    "for no profile": _changed(lambda claims: setattr(claims, "profile_sha256", b"")),
    "for a place outside of the warehouse": _changed(lambda claims: setattr(claims, "location", "s3://warehouse/else")),
    "for another bucket": _changed(lambda claims: setattr(claims, "location", "s3://outside/x")),
    "for the place above the warehouse": _changed(lambda claims: setattr(claims, "location", "s3://warehouse")),
    "without a location": _changed(lambda claims: setattr(claims, "location", "")),
}


@pytest.mark.parametrize(("path", "spoilt"), list(product(PURPOSES, SPOILT)))
async def test_a_permit_that_is_not_sound_opens_nothing(walled: Walled, path: str, spoilt: str) -> None:
    claims = _claims(walled, path)
    request = _request(walled, path, walled.storage(SPOILT[spoilt](walled, claims)))
    answer = await _call(walled, path, request)
    assert isinstance(answer, Refusal), "it opened"
    assert answer.reason == Reason.REASON_PERMIT_REFUSED, answer


@pytest.mark.parametrize("path", PURPOSES)
async def test_a_permit_of_another_purpose_opens_nothing(walled: Walled, path: str) -> None:
    for purpose in permits.Purpose.values():
        if purpose == PURPOSES[path]:
            continue
        claims = _claims(walled, path)
        claims.purpose = purpose
        answer = await _call(walled, path, _request(walled, path, walled.storage(walled.signer.sign(claims))))
        assert isinstance(answer, Refusal)
        assert answer.reason == Reason.REASON_PERMIT_REFUSED, (permits.Purpose.Name(purpose), answer)


_NEEDS = {"WriteFile": permits.ACCESS_READ_WRITE, "DeleteFiles": permits.ACCESS_READ_WRITE_DELETE}
_NEEDS |= {"PurgePage": permits.ACCESS_READ_WRITE_DELETE, "ValidateStorage": permits.ACCESS_READ_WRITE_DELETE}
_NEEDS |= {"ClaimPlace": permits.ACCESS_READ_WRITE_DELETE, "ReleasePlace": permits.ACCESS_READ_WRITE_DELETE}


@pytest.mark.parametrize("method", _NEEDS)
async def test_a_permit_of_less_access_does_not_write_or_delete(walled: Walled, method: str) -> None:
    (path,) = (path for path in PURPOSES if path.endswith(method))
    for access in (permits.ACCESS_READ, permits.ACCESS_READ_WRITE):
        if access >= _NEEDS[method]:
            continue
        claims = _claims(walled, path)
        claims.access = access
        answer = await _call(walled, path, _request(walled, path, walled.storage(walled.signer.sign(claims))))
        assert isinstance(answer, Refusal)
        assert answer.reason == Reason.REASON_PERMIT_REFUSED, answer


def _outside(walled: Walled) -> Iterator[str]:
    yield walled.location + "-sibling/metadata/f"
    yield walled.location
    yield walled.location.rpartition("/")[0] + "/other/metadata/f"
    yield f"{walled.location}/../other/f"
    yield f"{walled.location}/%2e%2e/other/f"
    yield f"{walled.location}/metadata//../../../f"
    yield walled.location.replace("s3://", "s3://outside/") + "/f"
    yield walled.location.replace("s3://", "gs://") + "/f"
    yield walled.location.upper() + "/f"


@pytest.mark.parametrize("method", ["ReadFile", "ReadPart", "WriteFile", "DeleteFiles"])
async def test_no_file_outside_of_the_permit_s_location_is_touched(walled: Walled, method: str) -> None:
    (path,) = (path for path in PURPOSES if path.endswith(method))
    objects = Objects(walled.store)
    before = await objects.listing("")
    for file in _outside(walled):
        storage = walled.storage(walled.signer.sign(_claims(walled, path)))
        answer = await _call(walled, path, _request(walled, path, storage, file=file))
        assert isinstance(answer, Refusal), f"{file} was let through"
        assert answer.reason in {Reason.REASON_PERMIT_REFUSED, Reason.REASON_MALFORMED_LOCATION}, (file, answer)
    assert await objects.listing("") == before


async def test_another_profile_beside_a_sound_permit_opens_nothing(walled: Walled) -> None:
    for path in PURPOSES:
        permit = walled.signer.sign(_claims(walled, path))
        for profile in (b"", b"{}", walled.profile + b" ", walled.profile.replace(b"127.0.0.1", b"127.0.0.2")):
            answer = await _call(walled, path, _request(walled, path, walled.storage(permit, profile)))
            assert isinstance(answer, Refusal)
            assert answer.reason == Reason.REASON_PERMIT_REFUSED, (path, answer)


async def test_a_secret_of_another_warehouse_is_as_good_as_none(walled: Walled) -> None:
    for path in PURPOSES:
        claims = _claims(walled, path)
        claims.warehouse_id = uuid4().bytes
        answer = await _call(walled, path, _request(walled, path, walled.storage(walled.signer.sign(claims))))
        assert isinstance(answer, Refusal)
        assert answer.reason == Reason.REASON_NO_SUCH_SECRET, (path, answer)
