"""From a permit and the profile beside it to storage that can be used."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.remembering import remembered
from lakeward_vending.application.ports import Storage
from lakeward_vending.domain.profiles import profile as profiles

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from lakeward_locations import Location
    from lakeward_vending.application.ports import Secrets, StorageBackend
    from lakeward_vending.domain.permit import Permit
    from lakeward_vending.domain.profiles.profile import Profile


class Backends:
    """The storage kinds of this build, by profile type."""

    def __init__(self, by_type: Mapping[str, StorageBackend]) -> None:
        """Serve the types of `by_type`, as in {"s3": ...}."""
        self._by_type = by_type

    def of(self, profile: Profile) -> StorageBackend:
        """The backend of a profile's type.

        Raises:
            Refusal: STORAGE_KIND_UNSUPPORTED.
        """
        name = profiles.type_name(profile)
        backend = self._by_type.get(name)
        if backend is None:
            raise profiles.unsupported(name)
        return backend


async def storage_of(permit: Permit, profile: bytes, *, secrets: Secrets) -> Storage:
    """The storage that a permit is about.

    Args:
        permit: verified.
        profile: the storage profile that came beside it, as JSON.
        secrets: has the permit's secret.

    Raises:
        Refusal: PERMIT_REFUSED where the profile is not the permit's or has not its location; NO_SUCH_SECRET, also for
            another warehouse's secret; SECRET_UNREADABLE.
    """
    digest = profiles.digest(profile)
    if not hmac.compare_digest(digest, permit.profile_digest):
        raise Refusal(
            Reason.REASON_PERMIT_REFUSED, "the storage profile is not the one that the permit names", cause="profile"
        )
    parsed, base = _parsed(profile)
    if not base.contains(permit.location):
        raise Refusal(
            Reason.REASON_PERMIT_REFUSED,
            f"{permit.location} is not in the warehouse at {base}",
            cause="location",
        )
    credential = None
    if permit.secret_id is not None:
        stored = await secrets.find(permit.secret_id)
        if stored.warehouse_id is not None and stored.warehouse_id != permit.warehouse_id:
            raise no_such_secret(permit.secret_id)
        credential = stored.credential
    return Storage(parsed, digest, credential, permit.secret_id)


def no_such_secret(secret_id: UUID) -> Refusal:
    """The refusal of a secret that is absent or not the caller's to use."""
    return Refusal(
        Reason.REASON_NO_SUCH_SECRET,
        f"there is no secret {secret_id}; stage the credential again",
        secret=str(secret_id),
    )


@remembered(entries=1024, longest=16 * 1024)
def _parsed(text: bytes) -> tuple[Profile, Location]:
    """A profile and its base: both are needed for every load, and change when somebody edits the warehouse."""
    profile = profiles.parse(text)
    return profile, profile.base
