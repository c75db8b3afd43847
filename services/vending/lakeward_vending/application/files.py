"""The catalog's own object-store I/O, each call within its permit."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.errors import Reason, Refusal, invalid_field
from lakeward_vending.domain import inflating
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.permit import Purpose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lakeward_locations import Location
    from lakeward_vending.application.storages import Storages
    from lakeward_vending.domain.permit import Permit

MAX_FILE_BYTES: Final = 64 * 1024 * 1024
MAX_PART_BYTES: Final = 8 * 1024 * 1024
_MAX_OFFSET: Final = 1 << 62
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


@dataclasses.dataclass(frozen=True, slots=True)
class WriteFile:
    """A file to be written.

    Attributes:
        location: where.
        content: as it is to lie there, or gzip of that.
        content_type: told to the store; None: nothing is.
        inflate: the content is gzip, and lies there inflated.
    """

    location: str
    content: bytes
    content_type: str | None
    inflate: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class FileReads:
    """Read one file, inflated where its name says gzip.

    Raises:
        Refusal: PERMIT_REFUSED, MALFORMED_LOCATION, FILE_NOT_FOUND, FILE_UNREADABLE, and those of the store.
    """

    storages: Storages

    async def __call__(self, location: str, *, permit: Permit) -> bytes:
        """See the class."""
        permit.require(Purpose.FILES, Access.READ)
        file = permit.file_at(location)
        store = await self.storages.open(permit)
        content = await store.read(file.path, limit=MAX_FILE_BYTES)
        if content is None:
            raise _absent(file, permit)
        if not inflating.is_gzip_name(file.path):
            return content
        return await _inflated(content, location)


@dataclasses.dataclass(frozen=True, slots=True)
class FileWrites:
    """Write one new file. Writing the same bytes to the same place again changes nothing.

    Raises:
        FileExists: another one is there.
        Refusal: PERMIT_REFUSED, MALFORMED_LOCATION, TOO_LARGE, and those of the store; FILE_UNREADABLE where what is to be
            inflated is not gzip, or is more than a file may be.
    """

    storages: Storages

    async def __call__(self, command: WriteFile, *, permit: Permit) -> None:
        """See the class."""
        permit.require(Purpose.FILES, Access.READ_WRITE)
        key = permit.file_at(command.location).path
        content = command.content
        if len(content) > MAX_FILE_BYTES:
            raise Refusal(
                Reason.REASON_TOO_LARGE,
                f"the file is {len(content)} bytes; at most {MAX_FILE_BYTES} are written",
                what="file",
                limit=str(MAX_FILE_BYTES),
            )
        store = await self.storages.open(permit)
        if command.inflate:
            content = await _inflated(content, command.location)
        await store.write(key, content, content_type=command.content_type)


@dataclasses.dataclass(frozen=True, slots=True)
class FileDeletions:
    """Delete files by name; all lie inside the permit, or none is deleted.

    Raises:
        Refusal: PERMIT_REFUSED, MALFORMED_LOCATION, INVALID_FIELD, and those of the store.
    """

    storages: Storages

    async def __call__(self, locations: Sequence[str], *, permit: Permit) -> None:
        """See the class."""
        permit.require(Purpose.FILES, Access.READ_WRITE_DELETE)
        if not 1 <= len(locations) <= PAGE:
            raise invalid_field("locations", len(locations), f"1 to {PAGE} files")
        keys = [permit.file_at(location).path for location in locations]
        store = await self.storages.open(permit)
        await store.delete(keys)


@dataclasses.dataclass(frozen=True, slots=True)
class EmptinessChecks:
    """Whether nothing lies below the permit's location.

    Raises:
        Refusal: PERMIT_REFUSED, and those of the store.
    """

    storages: Storages

    async def __call__(self, *, permit: Permit) -> bool:
        """See the class."""
        permit.require(Purpose.FILES, Access.READ)
        store = await self.storages.open(permit)
        return not await store.list_page(permit.location.prefix, limit=1)


@dataclasses.dataclass(frozen=True, slots=True)
class PagePurges:
    """Delete one page of what lies below the permit's location.

    What is deleted is not listed again, so a purge needs no bookmark: whoever calls until `done` resumes anywhere.

    Raises:
        Refusal: PERMIT_REFUSED, and those of the store.
    """

    storages: Storages

    async def __call__(self, *, permit: Permit) -> Purged:
        """See the class."""
        permit.require(Purpose.PURGE, Access.READ_WRITE_DELETE)
        if not permit.location.segments:
            # no tabular is a whole bucket: whatever asked for this is wrong
            raise Refusal(Reason.REASON_PERMIT_REFUSED, "a whole bucket is never purged", cause="location")
        store = await self.storages.open(permit)
        keys = await store.list_page(permit.location.prefix, limit=PAGE)
        if keys:
            await store.delete(keys)
        return Purged(deleted=len(keys), done=len(keys) < PAGE)


@dataclasses.dataclass(frozen=True, slots=True)
class ListFiles:
    """A page of files; see the contract."""

    below: str
    after: str
    limit: int


@dataclasses.dataclass(frozen=True, slots=True)
class FileListings:
    """A page of what lies below the permit's location: paths below it, with sizes.

    Raises:
        Refusal: PERMIT_REFUSED, INVALID_FIELD, and those of the store.
    """

    storages: Storages

    async def __call__(self, command: ListFiles, *, permit: Permit) -> Sequence[tuple[str, int]]:
        """See the class."""
        permit.require(Purpose.FILES, Access.READ)
        if not 1 <= command.limit <= PAGE:
            raise invalid_field("limit", command.limit, f"1 to {PAGE}")
        root = permit.location.prefix
        store = await self.storages.open(permit)
        after = f"{root}{command.after}" if command.after else ""
        found = await store.list_objects(f"{root}{command.below}", after=after, limit=command.limit)
        return [(each.key.removeprefix(root), each.size) for each in found]


@dataclasses.dataclass(frozen=True, slots=True)
class ReadPart:
    """A part of a file; see the contract."""

    location: str
    offset: int
    length: int


@dataclasses.dataclass(frozen=True, slots=True)
class PartReads:
    """Read a part of a file below the permit's location, as it lies there.

    Raises:
        Refusal: PERMIT_REFUSED, MALFORMED_LOCATION, INVALID_FIELD, FILE_NOT_FOUND, and those of the store.
    """

    storages: Storages

    async def __call__(self, command: ReadPart, *, permit: Permit) -> bytes:
        """See the class."""
        permit.require(Purpose.FILES, Access.READ)
        file = permit.file_at(command.location)
        if not 1 <= command.length <= MAX_PART_BYTES:
            raise invalid_field("length", command.length, f"1 to {MAX_PART_BYTES} bytes")
        if command.offset >= _MAX_OFFSET:
            raise invalid_field("offset", command.offset, f"below {_MAX_OFFSET}")
        store = await self.storages.open(permit)
        content = await store.read_part(file.path, offset=command.offset, length=command.length)
        if content is None:
            raise _absent(file, permit)
        return content


def _absent(file: Location, permit: Permit) -> Refusal:
    # by the scheme that is ours, whatever the one that was asked by
    name = dataclasses.replace(file, scheme=permit.profile.schemes[0])
    return Refusal(Reason.REASON_FILE_NOT_FOUND, f"there is no file {name}", location=str(name))


async def _inflated(content: bytes, location: str) -> bytes:
    if len(content) <= _INFLATED_IN_LOOP:
        return inflating.inflate(content, limit=MAX_FILE_BYTES, location=location)
    return await asyncio.to_thread(inflating.inflate, content, limit=MAX_FILE_BYTES, location=location)
