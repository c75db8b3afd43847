"""StorageService: secrets, and the judging of storage profiles."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from lakeward_protocol.vending.v1 import vending_pb2 as pb
from lakeward_protocol.vending.v1 import vending_pb2_grpc
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.rpc import failure_of
from lakeward_vending.application.places import ClaimPlace
from lakeward_vending.application.profiles import NormaliseProfile
from lakeward_vending.application.secrets import StageCredential
from lakeward_vending.domain import documents
from lakeward_vending.transport import decode

if TYPE_CHECKING:
    from lakeward_servicekit.permits import PermitVerifier
    from lakeward_servicekit.rpc import Call
    from lakeward_vending.application.caller import Caller
    from lakeward_vending.application.places import FoundMark, PlaceClaims, PlaceReleases
    from lakeward_vending.application.profiles import ProfileNormalisations
    from lakeward_vending.application.secrets import CredentialStagings, SecretBindings, SecretDeletions
    from lakeward_vending.application.validation import StorageValidations

_MAX_TAKEN_OVER: Final = 1000


@dataclasses.dataclass(frozen=True)
class StorageServicer(vending_pb2_grpc.StorageServiceServicer):
    """Keeps secrets and judges profiles; acts on permits that `verifier` verifies."""

    verifier: PermitVerifier
    stage_credential: CredentialStagings
    keep_secret: SecretBindings
    forget_secret: SecretDeletions
    normalise_profile: ProfileNormalisations
    validate_storage: StorageValidations
    claim_place: PlaceClaims
    release_place: PlaceReleases

    async def StageCredential(self, request: pb.StageCredentialRequest, caller: Caller) -> pb.StageCredentialResponse:
        """See the contract."""
        warehouse_id = decode.optional_uuid(request.warehouse_id, field="warehouse_id")
        secret_id, kind = await self.stage_credential(StageCredential(request.credential, warehouse_id), caller=caller)
        return pb.StageCredentialResponse(secret_id=str(secret_id), credential_kind=kind.value)

    async def KeepSecret(self, request: pb.KeepSecretRequest, context: Call) -> pb.KeepSecretResponse:
        """See the contract."""
        del context
        await self.keep_secret(
            decode.uuid(request.secret_id, field="secret_id"),
            warehouse_id=decode.uuid(request.warehouse_id, field="warehouse_id"),
        )
        return pb.KeepSecretResponse()

    async def ForgetSecret(self, request: pb.ForgetSecretRequest, context: Call) -> pb.ForgetSecretResponse:
        """See the contract."""
        del context
        await self.forget_secret(decode.uuid(request.secret_id, field="secret_id"))
        return pb.ForgetSecretResponse()

    async def NormaliseProfile(self, request: pb.NormaliseProfileRequest, context: Call) -> pb.NormaliseProfileResponse:
        """See the contract."""
        del context
        secret_id = decode.optional_uuid(request.secret_id, field="secret_id")
        normal = await self.normalise_profile(NormaliseProfile(request.profile, secret_id, request.replaces or None))
        profile, kind = normal.profile, normal.credential_kind
        return pb.NormaliseProfileResponse(
            profile=documents.dump(profile.document()),
            base_location=str(profile.base),
            place=profile.place,
            credential_kind="" if kind is None else kind.value,
            client_defaults=normal.facts.defaults,
            push_delete_disabled=normal.facts.push_delete_disabled,
            layout=documents.dump(profile.layout.document()),
            schemes=profile.schemes,
            signs_remotely=normal.signs_remotely,
        )

    async def ValidateStorage(self, request: pb.ValidateStorageRequest, context: Call) -> pb.ValidateStorageResponse:
        """See the contract."""
        del context
        prove = self.validate_storage.report if request.report else self.validate_storage
        validation = await prove(permit=decode.permit(request.storage, self.verifier))
        response = pb.ValidateStorageResponse(tells_case=validation.tells_case)
        for result in validation.checks:
            check = response.checks.add(name=result.check.value, passed=result.passed)
            check.duration.FromTimedelta(result.duration)
            if result.failure is not None:
                check.failure.CopyFrom(failure_of(result.failure))
        return response

    async def ClaimPlace(self, request: pb.ClaimPlaceRequest, context: Call) -> pb.ClaimPlaceResponse:
        """See the contract."""
        del context
        if len(request.takes_over) > _MAX_TAKEN_OVER:
            raise invalid_field("takes_over", len(request.takes_over), f"at most {_MAX_TAKEN_OVER} warehouses")
        permit = decode.permit(request.storage, self.verifier)
        claim = ClaimPlace(
            installation=decode.uuid(request.installation, field="installation"),
            claimed_at=decode.moment(request.claimed_at, field="claimed_at"),
            takes_over=frozenset(decode.uuid(each, field="takes_over") for each in request.takes_over),
        )
        claimed = await self.claim_place(claim, permit=permit)
        response = pb.ClaimPlaceResponse(fresh=claimed.fresh)
        if claimed.other is not None:
            response.other.CopyFrom(_mark(claimed.other))
        return response

    async def ReleasePlace(self, request: pb.ReleasePlaceRequest, context: Call) -> pb.ReleasePlaceResponse:
        """See the contract."""
        del context
        permit, before = decode.permit(request.storage, self.verifier), None
        if request.HasField("claimed_before"):
            before = decode.moment(request.claimed_before, field="claimed_before")
        await self.release_place(claimed_before=before, permit=permit)
        return pb.ReleasePlaceResponse()


def _mark(found: FoundMark) -> pb.PlaceMark:
    message = pb.PlaceMark(location=found.location)
    if found.mark is not None:
        message.installation = str(found.mark.installation)
        message.warehouse_id = str(found.mark.warehouse_id)
        message.claimed_at.FromDatetime(found.mark.claimed_at)
    return message
