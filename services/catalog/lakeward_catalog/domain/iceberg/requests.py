"""Reading the bodies of create and commit requests into typed values.

Every function here raises `Refusal` MALFORMED_DOCUMENT, with the path, for a body that is not JSON, is nested too
deeply, or has a member of the wrong type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Final, TypeVar

import msgspec

from lakeward_catalog.domain.iceberg.documents import Invalid, JsonObject, convert, decode, join, malformed, read
from lakeward_catalog.domain.iceberg.partitioning import PartitionSpec
from lakeward_catalog.domain.iceberg.requirements import Requirement, read_requirement, read_view_requirement
from lakeward_catalog.domain.iceberg.schema import Schema
from lakeward_catalog.domain.iceberg.sorting import SortOrder
from lakeward_catalog.domain.iceberg.updates import TABLE_UPDATES, Update
from lakeward_catalog.domain.iceberg.views.updates import VIEW_UPDATES
from lakeward_catalog.domain.iceberg.views.version import ViewVersion

T = TypeVar("T")


class Identifier(msgspec.Struct, frozen=True, rename="kebab"):
    """A table's or view's name, as a body gives it."""

    namespace: tuple[str, ...]
    name: str


class CommitRequest(msgspec.Struct, frozen=True):
    """Changes to one table or view."""

    identifier: Identifier | None
    requirements: tuple[Requirement, ...]
    updates: tuple[Update, ...]


TableCommitRequest = CommitRequest
ViewCommitRequest = CommitRequest


class CreateTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table to create. Ids in schema, spec and order only say what refers to what."""

    name: str
    schema: Schema
    location: str | None = None
    partition_spec: PartitionSpec | None = None
    write_order: SortOrder | None = None
    stage_create: bool = False
    properties: Mapping[str, str] = {}


class CreateView(msgspec.Struct, frozen=True, kw_only=True):
    """A view to create. The version's id, timestamp and schema id are the catalog's to give."""

    name: str
    schema: Schema
    view_version: ViewVersion
    location: str | None = None
    properties: Mapping[str, str] = {}


class _CreateTable(msgspec.Struct, rename="kebab"):
    name: str
    schema: Schema
    location: str | None = None
    partition_spec: PartitionSpec | None = None
    write_order: SortOrder | None = None
    stage_create: bool | None = None
    properties: dict[str, str] | None = None


class _CreateView(msgspec.Struct, rename="kebab"):
    name: str
    schema: Schema
    view_version: ViewVersion
    location: str | None = None
    properties: dict[str, str] | None = None


# Each update builds on what the ones before it made, so that what many cost grows with their square. A table of nine thousand
# snapshots can still be made in one commit.
MAX_UPDATES: Final = 10_000
_Changes = Annotated[list[JsonObject], msgspec.Meta(max_length=MAX_UPDATES)]


class _Commit(msgspec.Struct, rename="kebab"):
    updates: _Changes
    requirements: _Changes | None = None
    identifier: Identifier | None = None


class _Transaction(msgspec.Struct, rename="kebab"):
    table_changes: list[JsonObject]


def parse_create_table(body: bytes) -> CreateTable:
    """Read a createTable request."""
    read_ = _read(body, _CreateTable)
    return CreateTable(
        name=read_.name,
        schema=read_.schema,
        location=read_.location,
        partition_spec=read_.partition_spec,
        write_order=read_.write_order,
        stage_create=bool(read_.stage_create),
        properties=read_.properties or {},
    )


def parse_create_view(body: bytes) -> CreateView:
    """Read a createView request."""
    read_ = _read(body, _CreateView)
    return CreateView(
        name=read_.name,
        schema=read_.schema,
        view_version=read_.view_version,
        location=read_.location,
        properties=read_.properties or {},
    )


def parse_commit(body: bytes) -> CommitRequest:
    """Read an updateTable request.

    Raises:
        Refusal: UNKNOWN_UPDATE and UNKNOWN_REQUIREMENT too.
    """
    return _commit(_read(body, JsonObject), path="")


def parse_transaction(body: bytes) -> tuple[CommitRequest, ...]:
    """Read a commitTransaction request, in its order. Whether identifiers are given and unique is not judged here.

    Raises:
        Refusal: UNKNOWN_UPDATE and UNKNOWN_REQUIREMENT too.
    """
    changes = _read(body, _Transaction).table_changes
    return tuple(_commit(change, path=f"table-changes[{index}]") for index, change in enumerate(changes))


class _Split(msgspec.Struct, rename="kebab"):
    table_changes: list[msgspec.Raw]


def split_transaction(body: bytes) -> tuple[bytes, ...]:
    """Each change of a transaction as it came, of a body that `parse_transaction` has read."""
    return tuple(bytes(raw) for raw in decode(body, _Split).table_changes)


def parse_view_commit(body: bytes) -> CommitRequest:
    """Read a replaceView request.

    Raises:
        Refusal: UNKNOWN_UPDATE and UNKNOWN_REQUIREMENT too.
    """
    commit = _convert(_read(body, JsonObject), _Commit, path="")
    return CommitRequest(
        commit.identifier,
        tuple(_at(f"requirements[{i}]", read_view_requirement, r) for i, r in enumerate(commit.requirements or ())),
        tuple(_at(f"updates[{i}]", VIEW_UPDATES.read, u) for i, u in enumerate(commit.updates)),
    )


def _commit(value: object, *, path: str) -> CommitRequest:
    commit = _convert(value, _Commit, path=path)
    return CommitRequest(
        commit.identifier,
        tuple(
            _at(join(path, f"requirements[{i}]"), read_requirement, r) for i, r in enumerate(commit.requirements or ())
        ),
        tuple(_at(join(path, f"updates[{i}]"), TABLE_UPDATES.read, u) for i, u in enumerate(commit.updates)),
    )


def _at(path: str, reader: Callable[[JsonObject], T], value: JsonObject) -> T:
    try:
        return reader(value)
    except Invalid as finding:
        raise malformed(join(path, finding.path), finding.message) from None


def _read(body: bytes, kind: type[T]) -> T:
    try:
        return convert(read(body), kind)
    except Invalid as finding:
        raise malformed(finding.path, finding.message) from None


def _convert(value: object, kind: type[T], *, path: str) -> T:
    try:
        return convert(value, kind)
    except Invalid as finding:
        raise malformed(join(path, finding.path), finding.message) from None
