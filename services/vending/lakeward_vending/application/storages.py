"""From a permit to storage that can be used."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.application.ports import Storage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from lakeward_vending.application.ports import ObjectStore, Secrets, StorageKind
    from lakeward_vending.domain.permit import Permit
    from lakeward_vending.domain.profiles.profile import Profile


@dataclasses.dataclass(frozen=True, slots=True)
class Kinds:
    """The storage kinds of this build, by the profile types that they serve, as in {"s3": ...}."""

    by_type: Mapping[str, StorageKind]

    def of(self, profile: Profile) -> StorageKind:
        """The kind that serves a profile.

        Raises:
            Refusal: STORAGE_KIND_UNSUPPORTED.
        """
        kind = self.by_type.get(profile.type_name)
        if kind is None:
            *others, last = self.by_type
            served = f"{', '.join(others)} and {last} are" if others else f"{last} is"
            raise Refusal(
                Reason.REASON_STORAGE_KIND_UNSUPPORTED,
                f"this build has no adapter for storage of type {profile.type_name}; {served} served",
                type=profile.type_name,
            )
        return kind


@dataclasses.dataclass(frozen=True, slots=True)
class Storages:
    """Finds the storage that a permit is about."""

    secrets: Secrets
    kinds: Kinds

    async def of(self, permit: Permit) -> tuple[StorageKind, Storage]:
        """The storage, and its kind.

        Raises:
            Refusal: STORAGE_KIND_UNSUPPORTED; NO_SUCH_SECRET, also for another warehouse's secret; SECRET_UNREADABLE.
        """
        credential = None
        if permit.secret_id is not None:
            stored = await self.secrets.find(permit.secret_id)
            if stored is None or stored.warehouse_id not in {None, permit.warehouse_id}:
                raise no_such_secret(permit.secret_id)
            credential = stored.credential
        storage = Storage(permit.profile, permit.profile_digest, credential, permit.secret_id)
        return self.kinds.of(permit.profile), storage

    async def open(self, permit: Permit) -> ObjectStore:
        """The storage's bucket, through the server's credential.

        Raises:
            Refusal: as `of`, and those of `StorageKind.open`.
        """
        kind, storage = await self.of(permit)
        return await kind.open(storage)


def no_such_secret(secret_id: UUID) -> Refusal:
    """The refusal of a secret that is absent or not the caller's to use."""
    return Refusal(
        Reason.REASON_NO_SUCH_SECRET,
        f"there is no secret {secret_id}; stage the credential again",
        secret=str(secret_id),
    )
