"""The catalog's own object-store I/O, each call within its permit."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.errors import Reason, Refusal, invalid_field
from lakeward_vending.application.storages import storage_of
from lakeward_vending.domain import inflating
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.permit import Purpose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lakeward_vending.application.ports import ObjectStore, Secrets
    from lakeward_vending.application.storages import Backends
    from lakeward_vending.domain.permit import Permit

MAX_FILE_BYTES: Final = 64 * 1024 * 1024
PAGE: Final = 1000
_INFLATED_IN_LOOP: Final = 64 * 1024


@dataclasses.dataclass(frozen=True, slots=True)
class Purged:
    """What one page of a purge did.

    Attributes:
        deleted: how many files.
        done: whether nothing is left.
    """

    deleted: int
    done: bool


async def read_file(permit: Permit, profile: bytes, *, location: str, secrets: Secrets, backends: Backends) -> bytes:
    """One file, inflated where its name says gzip.

    Raises:
        Refusal: PERMIT_REFUSED, MALFORMED_LOCATION, FILE_NOT_FOUND, FILE_UNREADABLE, and those of the store.
    """
    permit.require(Purpose.FILES, Access.READ)
    file = permit.file_at(location)
    store = await _open(permit, profile, secrets=secrets, backends=backends)
    content = await store.read(file.path, limit=MAX_FILE_BYTES)
    if not inflating.is_gzip_name(file.path):
        return content
    return await _inflated(content, location)


async def write_file(
    permit: Permit,
    profile: bytes,
    *,
    location: str,
    content: bytes,
    content_type: str | None,
    secrets: Secrets,
    backends: Backends,
    inflate: bool = False,
) -> None:
    """Write one new file. Writing the same bytes to the same place again changes nothing.

    Args:
        permit: to write there.
        profile: of the storage.
        location: where.
        content: as it is to lie there, or gzip of that.
        content_type: told to the store; None: nothing is.
        secrets: has the permit's secret.
        backends: the storage kinds.
        inflate: the content is gzip, and lies there inflated.

    Raises:
        Refusal: PERMIT_REFUSED, MALFORMED_LOCATION, TOO_LARGE, FILE_EXISTS, and those of the store; FILE_UNREADABLE where what is
            to be inflated is not gzip, or is more than a file may be.
    """
    permit.require(Purpose.FILES, Access.READ_WRITE)
    file = permit.file_at(location)
    if len(content) > MAX_FILE_BYTES:
        raise Refusal(
            Reason.REASON_TOO_LARGE,
            f"the file is {len(content)} bytes; at most {MAX_FILE_BYTES} are written",
            what="file",
            limit=str(MAX_FILE_BYTES),
        )
    store = await _open(permit, profile, secrets=secrets, backends=backends)
    if inflate:
        content = await _inflated(content, location)
    await store.write(file.path, content, content_type=content_type)


async def delete_files(
    permit: Permit, profile: bytes, *, locations: Sequence[str], secrets: Secrets, backends: Backends
) -> None:
    """Delete files by name; all lie inside the permit, or none is deleted.

    Raises:
        Refusal: PERMIT_REFUSED, MALFORMED_LOCATION, INVALID_FIELD, and those of the store.
    """
    permit.require(Purpose.FILES, Access.READ_WRITE_DELETE)
    if not 1 <= len(locations) <= PAGE:
        raise invalid_field("locations", len(locations), f"1 to {PAGE} files")
    keys = [permit.file_at(location).path for location in locations]
    store = await _open(permit, profile, secrets=secrets, backends=backends)
    await store.delete(keys)


async def is_empty(permit: Permit, profile: bytes, *, secrets: Secrets, backends: Backends) -> bool:
    """Whether nothing lies below the permit's location.

    Raises:
        Refusal: PERMIT_REFUSED, and those of the store.
    """
    permit.require(Purpose.FILES, Access.READ)
    store = await _open(permit, profile, secrets=secrets, backends=backends)
    return not await store.list_page(permit.location.prefix, limit=1)


async def purge_page(permit: Permit, profile: bytes, *, secrets: Secrets, backends: Backends) -> Purged:
    """Delete one page of what lies below the permit's location.

    What is deleted is not listed again, so a purge needs no bookmark: whoever calls until `done` resumes anywhere.

    Raises:
        Refusal: PERMIT_REFUSED, and those of the store.
    """
    permit.require(Purpose.PURGE, Access.READ_WRITE_DELETE)
    if not permit.location.segments:
        # no tabular is a whole bucket: whatever asked for this is wrong
        raise Refusal(Reason.REASON_PERMIT_REFUSED, "a whole bucket is never purged", cause="location")
    store = await _open(permit, profile, secrets=secrets, backends=backends)
    keys = await store.list_page(permit.location.prefix, limit=PAGE)
    if keys:
        await store.delete(keys)
    return Purged(deleted=len(keys), done=len(keys) < PAGE)


async def _inflated(content: bytes, location: str) -> bytes:
    if len(content) <= _INFLATED_IN_LOOP:
        return inflating.inflate(content, limit=MAX_FILE_BYTES, location=location)
    return await asyncio.to_thread(inflating.inflate, content, limit=MAX_FILE_BYTES, location=location)


async def _open(permit: Permit, profile: bytes, *, secrets: Secrets, backends: Backends) -> ObjectStore:
    storage = await storage_of(permit, profile, secrets=secrets)
    return await backends.of(storage.profile).open(storage)
