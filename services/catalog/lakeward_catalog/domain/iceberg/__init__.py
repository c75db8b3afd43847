"""The Iceberg metadata engine: table formats 1 to 3 and view format 1, as pure functions over immutable values.

Nothing here reads a clock, draws an id or touches a file: times (milliseconds since the epoch), UUIDs and paths are
arguments. Every refusal is a `lakeward_servicekit.errors.Refusal`. What the engine does not know survives it: unknown
members of every object are kept, and what a commit does not touch keeps its bytes.

Requests, from the JSON bodies of the REST API (`requests`):
    parse_create_table(body) -> CreateTable            name, location, schema, partition_spec, write_order,
                                                       stage_create, properties
    parse_commit(body) -> TableCommitRequest           identifier | None, requirements, updates
    parse_transaction(body) -> tuple[TableCommitRequest, ...]
    parse_create_view(body) -> CreateView              name, location, schema, view_version, properties
    parse_view_commit(body) -> ViewCommitRequest       identifier | None, requirements, updates

Tables:
    parse_table(body) -> TableMetadata                 a body that this engine encoded; nothing is checked twice
    register_table(body, *, fresh_uuid, allowed_format_versions) -> TableMetadata       a foreign file; all is checked
    choose_format_version(properties, *, allowed, default) -> int
    create_table(request, *, table_uuid, location, format_version, now_ms) -> TableMetadata
    apply_to_table(base, requirements, updates, *, object_name, now_ms, previous_file, staged,
                   allowed_format_versions) -> TableCommit        metadata, changed, trimmed
    metadata.encode() -> bytes      metadata.segments(selection) -> Segments        Selection.ALL | Selection.REFS

Views:
    parse_view(body) -> ViewMetadata
    register_view(body) -> ViewMetadata
    create_view(request, *, view_uuid, location, now_ms) -> ViewMetadata
    apply_to_view(base, requirements, updates, *, object_name, now_ms) -> ViewCommit    metadata, changed
    metadata.encode() -> bytes

Metadata files (`files`):
    first_file(location, *, file_uuid, compressed) -> str
    next_file(location, previous, *, file_uuid, compressed) -> str
    deletable(location, trimmed) -> tuple[str, ...]        those inside the table's own metadata/ folder
    is_compressed(properties) -> bool

Source: the Iceberg table and view specifications, and the schemas of the Iceberg REST OpenAPI document.
"""

from lakeward_catalog.domain.iceberg.commits import TableCommit, apply_to_table
from lakeward_catalog.domain.iceberg.creating import create_table
from lakeward_catalog.domain.iceberg.documents import Invalid
from lakeward_catalog.domain.iceberg.files import deletable, first_file, is_compressed, is_gzip_name, next_file
from lakeward_catalog.domain.iceberg.properties import choose_format_version
from lakeward_catalog.domain.iceberg.reading import parse_table, register_table
from lakeward_catalog.domain.iceberg.requests import (
    CommitRequest,
    CreateTable,
    CreateView,
    Identifier,
    TableCommitRequest,
    ViewCommitRequest,
    parse_commit,
    parse_create_table,
    parse_create_view,
    parse_transaction,
    parse_view_commit,
)
from lakeward_catalog.domain.iceberg.requirements import Requirement
from lakeward_catalog.domain.iceberg.table import END, MIDDLE, Segments, Selection, TableMetadata
from lakeward_catalog.domain.iceberg.updates import Update
from lakeward_catalog.domain.iceberg.views.commits import ViewCommit, apply_to_view, create_view
from lakeward_catalog.domain.iceberg.views.metadata import ViewMetadata, parse_view, register_view

__all__ = [
    "END",
    "MIDDLE",
    "CommitRequest",
    "CreateTable",
    "CreateView",
    "Identifier",
    "Invalid",
    "Requirement",
    "Segments",
    "Selection",
    "TableCommit",
    "TableCommitRequest",
    "TableMetadata",
    "Update",
    "ViewCommit",
    "ViewCommitRequest",
    "ViewMetadata",
    "apply_to_table",
    "apply_to_view",
    "choose_format_version",
    "create_table",
    "create_view",
    "deletable",
    "first_file",
    "is_compressed",
    "is_gzip_name",
    "next_file",
    "parse_commit",
    "parse_create_table",
    "parse_create_view",
    "parse_table",
    "parse_transaction",
    "parse_view",
    "parse_view_commit",
    "register_table",
    "register_view",
]
