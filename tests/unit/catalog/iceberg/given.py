"""Tables, views and commits to start a test from."""

from __future__ import annotations

import json
from typing import Any, Self

import pytest

from lakeward_catalog.domain.iceberg import (
    TableCommit,
    TableMetadata,
    ViewCommit,
    ViewMetadata,
    apply_to_table,
    apply_to_view,
    create_table,
    create_view,
    parse_commit,
    parse_create_table,
    parse_create_view,
    parse_view_commit,
)
from lakeward_servicekit.errors import Refusal, name_of

UUID = "0198c0de-0000-7000-8000-000000000001"
LOCATION = "s3://bucket/warehouse/t"
T0 = 1_700_000_000_000
Json = dict[str, Any]


def field(field_id: int, name: str, kind: Any = "long", *, required: Any = False, **more: Any) -> Json:
    return {"id": field_id, "name": name, "required": required, "type": kind, **more}


def schema(*fields: Json, **more: Any) -> Json:
    return {"type": "struct", "fields": list(fields), **more}


PLAIN = schema(field(1, "id", required=True), field(2, "name", "string"), field(3, "at", "timestamp"))


def a_table(*, format_version: Any = 2, snapshots: Any = 0, **request: Any) -> TableMetadata:
    body = json.dumps({"name": "t", "schema": PLAIN, **request}).encode()
    table = create_table(
        parse_create_table(body), table_uuid=UUID, location=LOCATION, format_version=format_version, now_ms=T0
    )
    for _ in range(snapshots):
        table = commit(table, *append(table)).metadata
    return table


def a_snapshot(table: TableMetadata, snapshot_id: int | None = None, **more: Any) -> Json:
    number = table.last_sequence_number + 1
    snapshot: Json = {
        "snapshot-id": 2**62 + len(table.snapshots) + 1 if snapshot_id is None else snapshot_id,
        "timestamp-ms": table.last_updated_ms + 1,
        "manifest-list": f"{LOCATION}/metadata/snap-{len(table.snapshots) + 1}.avro",
        "summary": {"operation": "append", "added-records": "1"},
        "schema-id": 0,
    }
    if table.current_snapshot_id is not None:
        snapshot["parent-snapshot-id"] = table.current_snapshot_id
    if table.format_version > 1:
        snapshot["sequence-number"] = number
    if table.format_version > 2:
        snapshot |= {"first-row-id": table.next_row_id, "added-rows": 10}
    return snapshot | more


def append(table: TableMetadata, snapshot_id: Any = None, **more: Any) -> tuple[Json, Json]:
    snapshot = a_snapshot(table, snapshot_id, **more)
    return {"action": "add-snapshot", "snapshot": snapshot}, main(snapshot["snapshot-id"])


def main(snapshot_id: int) -> Json:
    return {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": snapshot_id}


def properties(**updates: str) -> Json:
    return {"action": "set-properties", "updates": updates}


def commit(
    table: TableMetadata,
    *updates: Json,
    requirements: tuple[Json, ...] = (),
    now_ms: int = T0 + 1000,
    previous_file: str | None = None,
    **more: Any,
) -> TableCommit:
    request = parse_commit(json.dumps({"requirements": requirements, "updates": updates}).encode())
    return apply_to_table(
        table,
        request.requirements,
        request.updates,
        object_name="ns.t",
        now_ms=now_ms,
        previous_file=previous_file,
        **more,
    )


def a_view(**request: Any) -> ViewMetadata:
    body = {"name": "v", "schema": PLAIN, "view-version": a_version(), "properties": {}, **request}
    return create_view(parse_create_view(json.dumps(body).encode()), view_uuid=UUID, location=LOCATION, now_ms=T0)


def sql(dialect: str = "spark", text: str = "select 1") -> Json:
    return {"type": "sql", "sql": text, "dialect": dialect}


def a_version(*representations: Json, **more: Any) -> Json:
    return {
        "version-id": 1,
        "timestamp-ms": T0,
        "schema-id": 0,
        "summary": {"engine-name": "spark"},
        "representations": list(representations) or [sql()],
        "default-namespace": ["ns"],
        **more,
    }


def commit_view(
    view: ViewMetadata, *updates: Json, requirements: tuple[Json, ...] = (), now_ms: int = T0 + 1
) -> ViewCommit:
    request = parse_view_commit(json.dumps({"requirements": requirements, "updates": updates}).encode())
    return apply_to_view(view, request.requirements, request.updates, object_name="ns.v", now_ms=now_ms)


def document(metadata: TableMetadata | ViewMetadata) -> Json:
    decoded: Json = json.loads(metadata.encode())
    return decoded


class Refused:
    """Expects a refusal for one reason: `with refused("COMMIT_CONFLICT") as refusal: ...; refusal.metadata`."""

    def __init__(self, reason: str, **metadata: str) -> None:
        self._reason = reason
        self._wanted = metadata
        self.message = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if error is not None and not isinstance(error, Refusal):
            return False
        if error is None:
            pytest.fail(f"nothing was refused; {self._reason} was expected")
        assert (name_of(error.reason), {**error.metadata} | self._wanted) == (self._reason, {**error.metadata}), error
        self.message = error.message
        return True


def refused(reason: str, **metadata: Any) -> Refused:
    return Refused(reason, **metadata)
