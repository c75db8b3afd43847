"""Judging storage and keeping its secrets, through vending; the role `StorageJudge`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from uuid import UUID

from lakeward_catalog.adapters.vending.permits import Permits
from lakeward_catalog.application.ports.storage import Checked, CheckStatus, Claimed, PlaceMark
from lakeward_catalog.domain.model import Storage, WarehouseId
from lakeward_protocol.vending.v1 import permits_pb2, vending_pb2, vending_pb2_grpc
from lakeward_servicekit.rpc import Channel, refusal_of, stub


class VendingStorage:
    """Asks vending."""

    def __init__(self, channel: Channel, permits: Permits) -> None:
        """Reach vending by `channel`."""
        self._stub: vending_pb2_grpc.StorageServiceAsyncStub = stub(vending_pb2_grpc.StorageServiceStub, channel)
        self._permits = permits

    async def normalise(self, profile: bytes, *, secret_id: UUID | None, replaces: bytes | None) -> Storage:
        """See `StorageJudge`."""
        reply = await self._stub.NormaliseProfile(
            vending_pb2.NormaliseProfileRequest(
                profile=profile, secret_id="" if secret_id is None else str(secret_id), replaces=replaces or b""
            )
        )
        return Storage(
            profile=reply.profile,
            secret_id=secret_id,
            credential_kind=reply.credential_kind or None,
            base_location=reply.base_location,
            place=reply.place,
            layout=reply.layout,
            schemes=tuple(reply.schemes),
            client_defaults=MappingProxyType(dict(reply.client_defaults)),
            push_delete_disabled=reply.push_delete_disabled,
            signs_remotely=reply.signs_remotely,
        )

    async def validate(self, warehouse_id: WarehouseId, storage: Storage, *, principal: str) -> Storage:
        """See `StorageJudge`."""
        permitted = self._whole(warehouse_id, storage, principal)
        reply = await self._stub.ValidateStorage(vending_pb2.ValidateStorageRequest(storage=permitted))
        return dataclasses.replace(storage, tells_case=reply.tells_case if reply.HasField("tells_case") else None)

    async def examine(self, warehouse_id: WarehouseId, storage: Storage, *, principal: str) -> Sequence[Checked]:
        """See `StorageJudge`."""
        permitted = self._whole(warehouse_id, storage, principal)
        reply = await self._stub.ValidateStorage(vending_pb2.ValidateStorageRequest(storage=permitted, report=True))
        return [_checked(check) for check in reply.checks]

    async def claim_place(
        self,
        warehouse_id: WarehouseId,
        storage: Storage,
        *,
        installation: UUID,
        at: datetime,
        takes_over: Sequence[UUID],
    ) -> Claimed:
        """See `StorageJudge`."""
        request = vending_pb2.ClaimPlaceRequest(
            storage=self._for_marks(warehouse_id, storage),
            installation=str(installation),
            takes_over=[str(each) for each in takes_over],
        )
        request.claimed_at.FromDatetime(at)
        reply = await self._stub.ClaimPlace(request)
        return Claimed(_mark(reply.other) if reply.HasField("other") else None, fresh=reply.fresh)

    async def release_place(
        self, warehouse_id: WarehouseId, storage: Storage, *, claimed_before: datetime | None
    ) -> None:
        """See `StorageJudge`."""
        request = vending_pb2.ReleasePlaceRequest(storage=self._for_marks(warehouse_id, storage))
        if claimed_before is not None:
            request.claimed_before.FromDatetime(claimed_before)
        await self._stub.ReleasePlace(request)

    def _for_marks(self, warehouse_id: WarehouseId, storage: Storage) -> vending_pb2.Storage:
        return self._whole(warehouse_id, storage, "service")

    def _whole(self, warehouse_id: WarehouseId, storage: Storage, principal: str) -> vending_pb2.Storage:
        """A permit to try everything in the warehouse's place."""
        return self._permits.storage(
            warehouse_id,
            storage,
            incarnation=None,
            location=storage.base_location,
            access=permits_pb2.ACCESS_READ_WRITE_DELETE,
            purpose=permits_pb2.PURPOSE_VALIDATE,
            principal=principal,
        )

    async def keep_secret(self, secret_id: UUID, warehouse_id: WarehouseId) -> None:
        """See `StorageJudge`."""
        await self._stub.KeepSecret(
            vending_pb2.KeepSecretRequest(secret_id=str(secret_id), warehouse_id=str(warehouse_id))
        )

    async def forget_secret(self, secret_id: UUID) -> None:
        """See `StorageJudge`."""
        await self._stub.ForgetSecret(vending_pb2.ForgetSecretRequest(secret_id=str(secret_id)))


def _checked(message: vending_pb2.ValidationCheck) -> Checked:
    if message.HasField("failure"):
        failed = refusal_of(message.failure)
        return Checked(message.name, CheckStatus.FAILED, message.duration.ToTimedelta(), failed)
    if message.passed:
        return Checked(message.name, CheckStatus.PASSED, message.duration.ToTimedelta())
    return Checked(
        message.name, CheckStatus.SKIPPED, reason="it does not apply to this storage, or another check failed"
    )


def _mark(message: vending_pb2.PlaceMark) -> PlaceMark:
    if not message.warehouse_id:
        return PlaceMark(message.location)
    return PlaceMark(
        message.location,
        UUID(message.installation),
        WarehouseId(UUID(message.warehouse_id)),
        message.claimed_at.ToDatetime(UTC),
    )
