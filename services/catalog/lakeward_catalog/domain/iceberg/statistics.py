"""Statistics files, partition statistics files and encryption keys: what metadata lists beside its snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TypeVar

import msgspec

from lakeward_catalog.domain.iceberg.documents import Int, Long
from lakeward_catalog.domain.iceberg.parts import Part


class BlobMetadata(msgspec.Struct, frozen=True, rename="kebab"):
    """One blob of a statistics file."""

    type: str
    snapshot_id: Long
    sequence_number: Long
    fields: tuple[Int, ...]
    properties: dict[str, str] | None = None


class StatisticsHead(msgspec.Struct, frozen=True, rename="kebab"):
    """What the engine reads of a statistics file's entry."""

    snapshot_id: Long
    statistics_path: str
    file_size_in_bytes: Long
    file_footer_size_in_bytes: Long
    blob_metadata: tuple[BlobMetadata, ...]


class StatisticsFile(Part[StatisticsHead]):
    """A statistics file of one snapshot."""

    __slots__ = ()
    HEAD = StatisticsHead

    @property
    def snapshot_id(self) -> int:
        """The snapshot it describes."""
        return self.head.snapshot_id


class PartitionStatisticsHead(msgspec.Struct, frozen=True, rename="kebab"):
    """What the engine reads of a partition statistics file's entry."""

    snapshot_id: Long
    statistics_path: str
    file_size_in_bytes: Long


class PartitionStatisticsFile(Part[PartitionStatisticsHead]):
    """A partition statistics file of one snapshot."""

    __slots__ = ()
    HEAD = PartitionStatisticsHead

    @property
    def snapshot_id(self) -> int:
        """The snapshot it describes."""
        return self.head.snapshot_id


F = TypeVar("F", StatisticsFile, PartitionStatisticsFile)


def replace(files: Sequence[F], file: F) -> tuple[F, ...]:
    """The files with `file` in place of whatever its snapshot had; the same tuple if the content is the same."""
    mine = [known for known in files if known.snapshot_id == file.snapshot_id]
    if len(mine) == 1 and mine[0].same_content(file):
        return tuple(files)
    if not mine:
        return tuple(chain(files, (file,)))
    place = files.index(mine[0])
    others = [known for known in files if known.snapshot_id != file.snapshot_id]
    others.insert(place, file)
    return tuple(others)


class EncryptedKeyHead(msgspec.Struct, frozen=True, rename="kebab"):
    """What the engine reads of an encryption key; the key itself is encrypted and opaque."""

    key_id: str
    encrypted_key_metadata: str
    encrypted_by_id: str | None = None
    properties: dict[str, str] | None = None


class EncryptedKey(Part[EncryptedKeyHead]):
    """An encrypted key of the table."""

    __slots__ = ()
    HEAD = EncryptedKeyHead
