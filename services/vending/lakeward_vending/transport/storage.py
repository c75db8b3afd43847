"""StorageService: secrets, and the judging of storage profiles."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from lakeward_protocol.vending.v1 import vending_pb2 as pb
from lakeward_protocol.vending.v1 import vending_pb2_grpc
from lakeward_servicekit.errors import invalid_field
from lakeward_vending.transport import decode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from uuid import UUID

    from lakeward_servicekit.permits import PermitVerifier
    from lakeward_servicekit.rpc import Call
    from lakeward_vending.application.caller import Caller
    from lakeward_vending.application.marking_places import Claimed, FoundMark
    from lakeward_vending.application.normalise_profile import NormalisedProfile
    from lakeward_vending.application.validate_storage import Validation
    from lakeward_vending.domain.credentials import CredentialKind

_MAX_TAKEN_OVER: Final = 1000


class StorageServicer(vending_pb2_grpc.StorageServiceServicer):
    """Keeps secrets and judges profiles.

    Args:
        verifier: verifies permits.
        stage_credential: the use case, its ports filled.
        keep_secret: the same.
        forget_secret: the same.
        normalise_profile: the same.
        validate_storage: the same.
        claim_place: the same.
        release_place: the same.
    """

    def __init__(
        self,
        *,
        verifier: PermitVerifier,
        stage_credential: Callable[..., Awaitable[tuple[UUID, CredentialKind]]],
        keep_secret: Callable[..., Awaitable[None]],
        forget_secret: Callable[..., Awaitable[None]],
        normalise_profile: Callable[..., Awaitable[NormalisedProfile]],
        validate_storage: Callable[..., Awaitable[Validation]],
        claim_place: Callable[..., Awaitable[Claimed]],
        release_place: Callable[..., Awaitable[None]],
    ) -> None:
        """Act on what `verifier` verifies."""
        self._permit = partial(decode.permit, verifier=verifier)
        self._stage_credential = stage_credential
        self._keep_secret = keep_secret
        self._forget_secret = forget_secret
        self._normalise_profile = normalise_profile
        self._validate_storage = validate_storage
        self._claim_place = claim_place
        self._release_place = release_place

    async def StageCredential(self, request: pb.StageCredentialRequest, caller: Caller) -> pb.StageCredentialResponse:
        """See the contract."""
        warehouse_id = decode.optional_uuid(request.warehouse_id, field="warehouse_id")
        secret_id, kind = await self._stage_credential(
            request.credential, project_id=caller.project, warehouse_id=warehouse_id, caller=caller.principal
        )
        return pb.StageCredentialResponse(secret_id=str(secret_id), credential_kind=kind.value)

    async def KeepSecret(self, request: pb.KeepSecretRequest, context: Call) -> pb.KeepSecretResponse:
        """See the contract."""
        del context
        await self._keep_secret(
            decode.uuid(request.secret_id, field="secret_id"),
            warehouse_id=decode.uuid(request.warehouse_id, field="warehouse_id"),
        )
        return pb.KeepSecretResponse()

    async def ForgetSecret(self, request: pb.ForgetSecretRequest, context: Call) -> pb.ForgetSecretResponse:
        """See the contract."""
        del context
        await self._forget_secret(decode.uuid(request.secret_id, field="secret_id"))
        return pb.ForgetSecretResponse()

    async def NormaliseProfile(self, request: pb.NormaliseProfileRequest, context: Call) -> pb.NormaliseProfileResponse:
        """See the contract."""
        del context
        normal = await self._normalise_profile(
            request.profile,
            secret_id=decode.optional_uuid(request.secret_id, field="secret_id"),
            replaces=request.replaces or None,
        )
        return pb.NormaliseProfileResponse(
            profile=normal.text,
            base_location=str(normal.base),
            place=normal.place,
            credential_kind="" if normal.credential_kind is None else normal.credential_kind.value,
            client_defaults=normal.client_defaults,
            push_delete_disabled=normal.push_delete_disabled,
            layout=normal.layout,
            schemes=normal.schemes,
            signs_remotely=normal.signs_remotely,
        )

    async def ValidateStorage(self, request: pb.ValidateStorageRequest, context: Call) -> pb.ValidateStorageResponse:
        """See the contract."""
        del context
        storage = request.storage
        validation = await self._validate_storage(self._permit(storage), storage.profile)
        response = pb.ValidateStorageResponse(tells_case=validation.tells_case)
        for result in validation.checks:
            check = response.checks.add(name=result.check.value, passed=result.passed)
            check.duration.FromTimedelta(result.duration)
        return response

    async def ClaimPlace(self, request: pb.ClaimPlaceRequest, context: Call) -> pb.ClaimPlaceResponse:
        """See the contract."""
        del context
        if len(request.takes_over) > _MAX_TAKEN_OVER:
            raise invalid_field("takes_over", len(request.takes_over), f"at most {_MAX_TAKEN_OVER} warehouses")
        claimed = await self._claim_place(
            self._permit(request.storage),
            request.storage.profile,
            installation=decode.uuid(request.installation, field="installation"),
            claimed_at=decode.moment(request.claimed_at, field="claimed_at"),
            takes_over=frozenset(decode.uuid(each, field="takes_over") for each in request.takes_over),
        )
        response = pb.ClaimPlaceResponse(fresh=claimed.fresh)
        if claimed.other is not None:
            response.other.CopyFrom(_mark(claimed.other))
        return response

    async def ReleasePlace(self, request: pb.ReleasePlaceRequest, context: Call) -> pb.ReleasePlaceResponse:
        """See the contract."""
        del context
        before = request.claimed_before if request.HasField("claimed_before") else None
        await self._release_place(
            self._permit(request.storage),
            request.storage.profile,
            claimed_before=None if before is None else decode.moment(before, field="claimed_before"),
        )
        return pb.ReleasePlaceResponse()


def _mark(found: FoundMark) -> pb.PlaceMark:
    message = pb.PlaceMark(location=found.location)
    if found.mark is not None:
        message.installation = str(found.mark.installation)
        message.warehouse_id = str(found.mark.warehouse_id)
        message.claimed_at.FromDatetime(found.mark.claimed_at)
    return message
