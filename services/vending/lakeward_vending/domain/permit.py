"""What a permit opens: verified claims, as the use cases see them."""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING

from lakeward_locations import Location, LocationError
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.domain.access import Access

if TYPE_CHECKING:
    from uuid import UUID


class Purpose(enum.Enum):
    """What a permit is for: nothing else is done with it."""

    VEND = "vend"
    SIGN = "sign"
    FILES = "files"
    PURGE = "purge"
    VALIDATE = "validate"


@dataclasses.dataclass(frozen=True, slots=True)
class Permit:
    """What the catalog decided.

    Attributes:
        incarnation: the tabular's; None where the warehouse itself is meant.
        location: opened with everything below it.
        principal: who caused it; goes into the store's own audit log as a hash.
        secret_id: the secret to use; None for none.
        profile_digest: SHA-256 of the storage profile that travels beside the permit.
    """

    warehouse_id: UUID
    incarnation: UUID | None
    location: Location
    access: Access
    purpose: Purpose
    principal: str
    secret_id: UUID | None
    profile_digest: bytes

    def require(self, purpose: Purpose, access: Access) -> None:
        """Refuse a use that the permit is not for.

        Raises:
            Refusal: PERMIT_REFUSED.
        """
        if self.purpose is not purpose:
            raise _refused("purpose", f"the permit is to {self.purpose.value}; this call needs one to {purpose.value}")
        if not self.access.allows(access):
            raise _refused("access", f"the permit opens for {self.access.name}; this call needs {access.name}")

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


def _refused(cause: str, message: str) -> Refusal:
    return Refusal(Reason.REASON_PERMIT_REFUSED, message, cause=cause)
