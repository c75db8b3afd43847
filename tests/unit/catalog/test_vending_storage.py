"""What the catalog asks vending about storage, over an in-process channel to a servicer that remembers what it was asked."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from datetime import UTC
from typing import Any
from uuid import UUID, uuid4

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lakeward_catalog.adapters.vending.permits import Permits
from lakeward_catalog.adapters.vending.storage import VendingStorage
from lakeward_catalog.application.ports.storage import Claimed, PlaceMark, StorageJudge
from lakeward_catalog.domain.model import WarehouseId
from lakeward_protocol.vending.v1 import permits_pb2, vending_pb2, vending_pb2_grpc
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.permits import PermitSigner
from lakeward_servicekit.rpc import Caller, Host
from tests.support.catalog.house import refusal_of
from tests.support.catalog.values import NOON, HeldClock, a_storage
from tests.support.settling import as_it_came

WAREHOUSE = WarehouseId(uuid4())


class Remembering(vending_pb2_grpc.StorageServiceServicer):
    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.claimed = vending_pb2.ClaimPlaceResponse(fresh=True)
        self.tells_case: bool | None = None

    async def StageCredential(self, request: Any, context: Any) -> vending_pb2.StageCredentialResponse:
        raise AssertionError("the catalog never sees a credential")

    async def NormaliseProfile(self, request: Any, context: Any) -> vending_pb2.NormaliseProfileResponse:
        self.asked.append(request)
        return vending_pb2.NormaliseProfileResponse(
            profile=b'{"normal": true}',
            base_location="s3://lake/base",
            place="lake",
            credential_kind="s3:access-key" if request.secret_id else "",
            client_defaults={"s3.region": "eu"},
            push_delete_disabled=True,
            layout=json.dumps({"type": "default"}).encode(),
            schemes=["s3", "s3a"],
            signs_remotely=True,
        )

    async def ValidateStorage(self, request: Any, context: Any) -> vending_pb2.ValidateStorageResponse:
        self.asked.append(request)
        return vending_pb2.ValidateStorageResponse(tells_case=self.tells_case)

    async def ClaimPlace(self, request: Any, context: Any) -> vending_pb2.ClaimPlaceResponse:
        self.asked.append(request)
        return self.claimed

    async def ReleasePlace(self, request: Any, context: Any) -> vending_pb2.ReleasePlaceResponse:
        self.asked.append(request)
        return vending_pb2.ReleasePlaceResponse()

    async def KeepSecret(self, request: Any, context: Any) -> vending_pb2.KeepSecretResponse:
        self.asked.append(request)
        if request.warehouse_id != str(WAREHOUSE):
            raise Refusal(Reason.REASON_NO_SUCH_SECRET, "another's", secret=request.secret_id)
        return vending_pb2.KeepSecretResponse()

    async def ForgetSecret(self, request: Any, context: Any) -> vending_pb2.ForgetSecretResponse:
        self.asked.append(request)
        return vending_pb2.ForgetSecretResponse()


@pytest.fixture
def servicer() -> Remembering:
    return Remembering()


@pytest.fixture
def judge(servicer: Remembering) -> StorageJudge:
    host = Host("vending", settle=as_it_came)
    host.add(vending_pb2_grpc.add_StorageServiceServicer_to_server, servicer)
    permits = Permits(PermitSigner(Ed25519PrivateKey.generate()), HeldClock())
    return VendingStorage(host.channel(caller=Caller.CALLER_CATALOG), permits)


@pytest.mark.parametrize("secret_id", [None, uuid4()])
async def test_a_normal_form_says_all_that_a_warehouse_stores(
    judge: StorageJudge, servicer: Remembering, secret_id: UUID | None
) -> None:
    storage = await judge.normalise(b"{}", secret_id=secret_id, replaces=b'{"old": 1}')
    assert (storage.secret_id, storage.credential_kind) == (secret_id, "s3:access-key" if secret_id else None)
    assert storage.profile == b'{"normal": true}'
    assert (storage.base_location, storage.place, storage.schemes) == ("s3://lake/base", "lake", ("s3", "s3a"))
    assert storage.client_defaults == {"s3.region": "eu"}
    (asked,) = servicer.asked
    assert (asked.replaces, asked.secret_id) == (b'{"old": 1}', str(secret_id) if secret_id else "")


async def test_a_proof_is_permitted_for_the_warehouses_base_and_nothing_else(
    judge: StorageJudge, servicer: Remembering
) -> None:
    storage = a_storage(base="s3://lake/base")
    await judge.validate(WAREHOUSE, storage, principal="oidc~anna")
    (asked,) = servicer.asked
    claims = permits_pb2.PermitClaims.FromString(asked.storage.permit.claims)
    assert (claims.purpose, claims.access) == (
        permits_pb2.PURPOSE_VALIDATE,
        permits_pb2.ACCESS_READ_WRITE_DELETE,
    )
    assert (claims.location, claims.warehouse_id, claims.incarnation) == ("s3://lake/base", WAREHOUSE.bytes, b"")
    assert claims.secret_id == str(storage.secret_id)
    assert claims.profile_sha256 == hashlib.sha256(storage.profile).digest()
    assert asked.storage.profile == storage.profile


async def test_a_place_is_claimed_and_released_by_permits_for_the_warehouses_base(
    judge: StorageJudge, servicer: Remembering
) -> None:
    storage, installation, ended = a_storage(base="s3://lake/base"), uuid4(), uuid4()
    claimed = await judge.claim_place(WAREHOUSE, storage, installation=installation, at=NOON, takes_over=[ended])
    assert claimed == Claimed(None, fresh=True)
    await judge.release_place(WAREHOUSE, storage, claimed_before=NOON)
    await judge.release_place(WAREHOUSE, storage, claimed_before=None)
    claim, release, wide = servicer.asked
    assert (claim.installation, list(claim.takes_over)) == (str(installation), [str(ended)])
    assert claim.claimed_at.ToDatetime(UTC) == release.claimed_before.ToDatetime(UTC) == NOON
    assert not wide.HasField("claimed_before")
    for asked in servicer.asked:
        claims = permits_pb2.PermitClaims.FromString(asked.storage.permit.claims)
        assert (claims.location, claims.warehouse_id) == ("s3://lake/base", WAREHOUSE.bytes)
        assert (claims.purpose, claims.access) == (
            permits_pb2.PURPOSE_VALIDATE,
            permits_pb2.ACCESS_READ_WRITE_DELETE,
        )


async def test_whose_a_taken_place_is_comes_back_as_vending_said_it(judge: StorageJudge, servicer: Remembering) -> None:
    theirs, other = uuid4(), uuid4()
    mark = vending_pb2.PlaceMark(location="s3://lake/m", installation=str(theirs), warehouse_id=str(other))
    mark.claimed_at.FromDatetime(NOON)
    for said, known in (
        (mark, PlaceMark("s3://lake/m", theirs, WarehouseId(other), NOON)),
        (vending_pb2.PlaceMark(location="s3://lake/m"), PlaceMark("s3://lake/m")),
    ):
        servicer.claimed = vending_pb2.ClaimPlaceResponse(other=said)
        claimed = await judge.claim_place(WAREHOUSE, a_storage(), installation=uuid4(), at=NOON, takes_over=[])
        assert claimed == Claimed(known, fresh=False)


@pytest.mark.parametrize("tells_case", [True, False, None])
async def test_what_a_proof_learns_comes_back_with_the_storage(
    judge: StorageJudge, servicer: Remembering, tells_case: bool | None
) -> None:
    servicer.tells_case = tells_case
    storage = a_storage(tells_case=not tells_case)
    proved = await judge.validate(WAREHOUSE, storage, principal="oidc~anna")
    assert proved == dataclasses.replace(storage, tells_case=tells_case)


async def test_a_secret_is_kept_for_its_warehouse_and_forgotten_by_its_id(
    judge: StorageJudge, servicer: Remembering
) -> None:
    secret = uuid4()
    await judge.keep_secret(secret, WAREHOUSE)
    await judge.forget_secret(secret)
    assert [each.secret_id for each in servicer.asked] == [str(secret)] * 2
    refusal = await refusal_of(judge.keep_secret(secret, WarehouseId(uuid4())))
    assert refusal.reason == Reason.REASON_NO_SUCH_SECRET
