"""What profiles of several kinds share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final, Self

from lakeward_locations import Layout, LayoutError, Location, LocationError
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.domain import place_marks
from lakeward_vending.domain.documents import invalid

if TYPE_CHECKING:
    from lakeward_vending.domain.credentials import CredentialKind
    from lakeward_vending.domain.documents import Members

_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\Z")
_MAX_NAME: Final = 2048


def bucket(text: str, *, field: str = "bucket") -> str:
    """A bucket's name.

    Raises:
        Refusal: INVALID_STORAGE_PROFILE.
    """
    if not _BUCKET.match(text) or ".." in text:
        raise invalid(field, text, "3 to 63 of a-z, 0-9, '.' and '-', a letter or digit at both ends, without '..'")
    return text


def key_prefix(text: str | None, *, field: str, limit: int) -> str | None:
    """The path below the bucket, without outer slashes; None where nothing is left of it.

    Raises:
        Refusal: INVALID_STORAGE_PROFILE: over `limit` bytes, or not the path of a location.
    """
    stripped = (text or "").strip().strip("/")
    if not stripped:
        return None
    if len(stripped.encode()) > limit:
        raise invalid(field, stripped, f"at most {limit} bytes")
    try:
        Location.parse(f"s3://bucket/{stripped}")
    except LocationError as error:
        raise invalid(field, stripped, f"a path of plain segments ({error.fault})") from error
    if any(place_marks.is_reserved(segment) for segment in stripped.split("/")):
        raise invalid(field, stripped, f"no path of {place_marks.NAME}, where Lakeward marks whose places are")
    return stripped


def name(text: str | None, *, field: str) -> str | None:
    """An ARN, URN or the like, passed on as it is; None where it is blank.

    Raises:
        Refusal: INVALID_STORAGE_PROFILE: over 2048 characters, or not printable ASCII without spaces.
    """
    if not text:
        return None
    if len(text) > _MAX_NAME or not text.isascii() or not text.isprintable() or " " in text:
        raise invalid(field, text, f"at most {_MAX_NAME} printable characters without spaces")
    return text


def seconds(number: int | None, *, field: str, low: int, high: int) -> int | None:
    """A span of time in its bounds; None where it is absent.

    Raises:
        Refusal: INVALID_STORAGE_PROFILE.
    """
    if number is not None and not low <= number <= high:
        raise invalid(field, number, f"{low} to {high} seconds")
    return number


def layout(members: Members, *, kept: Layout | None) -> Layout:
    """The storage layout; `kept` where it is left out.

    Raises:
        Refusal: INVALID_STORAGE_PROFILE.
    """
    if not members.has("storage-layout"):
        return kept or Layout()
    try:
        return Layout.parse(members.raw("storage-layout"))
    except LayoutError as error:
        raise invalid("storage-layout", error.value, error.right) from error


class Plain:
    """A profile that a credential leaves as it is.

    Attributes:
        type_name: the public API's `type`.
        credential_family: of the credentials that go with it.
        needs_credential: whether it is of no use without one.
    """

    __slots__ = ()
    type_name: ClassVar[str]
    credential_family: ClassVar[str]
    needs_credential: ClassVar[bool] = True

    def normalised(self, credential: CredentialKind | None) -> Self:
        """What the profile becomes with a credential of its family."""
        del credential
        return self


def check_fixed(old: object, new: object, *fields: str) -> None:
    """Refuse a change of any of these fields, by their names in both profiles; as `immutable`."""
    for field in fields:
        immutable(field.replace("_", "-"), getattr(old, field), getattr(new, field))


def immutable(field: str, old: object, new: object) -> None:
    """Refuse a change of a field that is fixed.

    Raises:
        Refusal: STORAGE_PROFILE_IMMUTABLE.
    """
    if old != new:
        raise Refusal(
            Reason.REASON_STORAGE_PROFILE_IMMUTABLE,
            f"the storage profile's {field} is {old!r} and can't become {new!r}: files would be left behind",
            field=field,
        )


def without_nothing(document: dict[str, object]) -> dict[str, object]:
    """The document without members that are None."""
    return {key: value for key, value in document.items() if value is not None}
