"""What a permit opens: verified claims, as the use cases see them."""

from __future__ import annotations

import dataclasses
import enum
import hmac
from typing import TYPE_CHECKING

from lakeward_locations import Location, LocationError
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.remembering import remembered
from lakeward_vending.domain.profiles import profile as profiles

if TYPE_CHECKING:
    from uuid import UUID

    from lakeward_vending.domain.access import Access
    from lakeward_vending.domain.profiles.profile import Profile


class Purpose(enum.Enum):
    """What a permit is for: nothing else is done with it."""

    VEND = "vend"
    SIGN = "sign"
    FILES = "files"
    PURGE = "purge"
    VALIDATE = "validate"


@dataclasses.dataclass(frozen=True, slots=True)
class Permit:
    """What the catalog decided, and the storage profile that travels beside it.

    Attributes:
        incarnation: the tabular's; None where the warehouse itself is meant.
        location: opened with everything below it.
        principal: who caused it; goes into the store's own audit log as a hash.
        secret_id: the secret to use; None for none.
        profile: of the storage; `profile_beside` has held it against the claims.
        profile_digest: SHA-256 of its text.
    """

    warehouse_id: UUID
    incarnation: UUID | None
    location: Location
    access: Access
    purpose: Purpose
    principal: str
    secret_id: UUID | None
    profile: Profile
    profile_digest: bytes

    def require(self, purpose: Purpose, access: Access) -> None:
        """Refuse a use that the permit is not for.

        Raises:
            Refusal: PERMIT_REFUSED.
        """
        if self.purpose is not purpose:
            raise _refused("purpose", f"the permit is to {self.purpose.value}; this call needs one to {purpose.value}")
        if self.access < access:
            raise beyond(self.access, access)

    def file_at(self, text: str) -> Location:
        """A file that the permit covers.

        Raises:
            Refusal: MALFORMED_LOCATION, or PERMIT_REFUSED for a place outside.
        """
        try:
            location = Location.parse(text)
        except LocationError as error:
            raise Refusal(Reason.REASON_MALFORMED_LOCATION, str(error), location=error.location) from error
        if text.endswith("/") or not self.location.strictly_contains(location):
            raise _refused("location", f"{location} is no file inside {self.location}, which the permit opens")
        return location


def profile_beside(text: bytes, *, digest: bytes, location: Location) -> Profile:
    """The storage profile that came beside a permit with these claims.

    Args:
        text: JSON of the profile.
        digest: SHA-256 of the profile that the catalog decided on.
        location: what the permit opens.

    Raises:
        Refusal: PERMIT_REFUSED where the profile is another, or has not the location.
    """
    if not hmac.compare_digest(profiles.digest(text), digest):
        raise _refused("profile", "the storage profile is not the one that the permit names")
    profile, base = _parsed(text)
    if not base.contains(location):
        raise _refused("location", f"{location} is not in the warehouse at {base}")
    return profile


def beyond(access: Access, needed: Access) -> Refusal:
    """The refusal of what needs more than is open."""
    return _refused("access", f"the permit opens for {access.name}; this call needs {needed.name}")


@remembered(entries=1024, longest=16 * 1024)
def _parsed(text: bytes) -> tuple[Profile, Location]:
    """A profile and its base: warehouses have many permits, and change when somebody edits them."""
    profile = profiles.parse(text)
    return profile, profile.base


def _refused(cause: str, message: str) -> Refusal:
    return Refusal(Reason.REASON_PERMIT_REFUSED, message, cause=cause)
