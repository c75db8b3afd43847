"""A warehouse with namespaces and tables, made and changed over the public HTTP API as Iceberg's clients do it."""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from bench.client import Connection, Reply
from bench.stack import Lakeward
from lakeward_components.seaweedfs import S3Store
from lakeward_components.sigv4 import Key

OK: Final = 200
NO_CONTENT: Final = 204
CONFLICT: Final = 409

# Fields of a table that looks like one of somebody's, at about 2.5 KB of metadata.
_FIELDS: Final = (
    ("event_id", "uuid"),
    ("event_time", "timestamptz"),
    ("customer_id", "long"),
    ("session", "string"),
    ("country", "string"),
    ("product", "string"),
    ("quantity", "int"),
    ("price", "decimal(18, 2)"),
    ("payload", "string"),
)
SCHEMA: Final = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": number, "name": name, "type": kind, "required": number == 1, "doc": f"the {name.replace('_', ' ')}"}
        for number, (name, kind) in enumerate(_FIELDS, start=1)
    ],
}


class _Snapshot(msgspec.Struct, rename="kebab"):
    snapshot_id: int


class _LogEntry(msgspec.Struct, rename="kebab"):
    snapshot_id: int


class Metadata(msgspec.Struct, rename="kebab"):
    """What a writer has to know of a table's metadata."""

    table_uuid: str
    last_sequence_number: int = 0
    current_snapshot_id: int | None = None
    snapshots: list[_Snapshot] = []
    snapshot_log: list[_LogEntry] = []


class Table(msgspec.Struct, rename="kebab"):
    """What a writer has to know of a loaded table."""

    metadata_location: str
    metadata: Metadata

    @property
    def parent(self) -> int | None:
        """The current snapshot; None where there is none."""
        current = self.metadata.current_snapshot_id
        return None if current in (None, -1) else current

    @property
    def version(self) -> int:
        """The count of commits, by the metadata file's name."""
        return int(self.metadata_location.rsplit("/", 1)[1].partition("-")[0])


_table_decoder: Final = msgspec.json.Decoder(Table)


def table_of(reply: Reply) -> Table:
    """The table that a reply shows."""
    return _table_decoder.decode(reply.expect(OK).body)


@dataclass(frozen=True, slots=True)
class Warehouse:
    """A warehouse.

    Attributes:
        path: where its Iceberg REST begins.
        store: where its files are.
    """

    name: str
    path: str
    store: S3Store

    @property
    def id(self) -> str:
        return self.path.rsplit("/", 1)[1]

    def namespace(self, namespace: str) -> str:
        """The path of a namespace."""
        return f"{self.path}/namespaces/{namespace}"

    def tables(self, namespace: str) -> str:
        """The path of a namespace's tables."""
        return f"{self.namespace(namespace)}/tables"

    def table(self, namespace: str, table: str) -> str:
        """The path of a table."""
        return f"{self.tables(namespace)}/{table}"


async def make_warehouse(
    served: Lakeward, *, vending: bool = True, headers: Mapping[str, str] | None = None
) -> Warehouse:
    """A new warehouse; the server is bootstrapped where it is not.

    Args:
        served: where.
        vending: whether it vends credentials by STS; else it only signs requests.
        headers: of each request, such as a token.
    """
    store = served.stack.s3
    name = f"bench-{secrets.token_hex(4)}"
    key = store.sts_only if vending else store.admin
    roles = {"assume-role-arn": store.role_arn, "sts-role-arn": store.role_arn} if vending else {}
    async with Connection(served.url, headers=headers) as connection:
        info = (await connection.get("/management/v1/info")).expect(OK).json()
        if not info["bootstrapped"]:
            (await connection.post("/management/v1/bootstrap", {"accept-terms-of-use": True})).expect(NO_CONTENT)
        body = {
            "warehouse-name": name,
            "storage-profile": {
                "type": "s3",
                "flavor": "s3-compat",
                "endpoint": store.endpoint,
                "region": store.region,
                "bucket": store.bucket,
                "key-prefix": name,
                "path-style-access": True,
                "sts-enabled": vending,
                "remote-signing-enabled": True,
                "remote-signing-url-style": "path",
                **roles,
            },
            "storage-credential": _credential(key),
        }
        made = (await connection.post("/management/v1/warehouse", body)).expect(200, 201).json()
    warehouse_id = made.get("warehouse-id") or made["id"]
    return Warehouse(name, f"/catalog/v1/{warehouse_id}", store)


def _credential(key: Key) -> Mapping[str, str]:
    return {
        "type": "s3",
        "credential-type": "access-key",
        "access-key-id": key.access_key,
        "secret-access-key": key.secret_key,
    }


async def make_namespace(connection: Connection, warehouse: Warehouse, namespace: str) -> None:
    (await connection.post(f"{warehouse.path}/namespaces", {"namespace": [namespace]})).expect(OK)


async def make_table(
    connection: Connection,
    warehouse: Warehouse,
    namespace: str,
    name: str,
    *,
    properties: Mapping[str, str] | None = None,
) -> Table:
    body = {"name": name, "schema": SCHEMA, "properties": properties or {}}
    return table_of(await connection.post(warehouse.tables(namespace), body))


_snapshot_ids = itertools.count(secrets.randbits(40) << 20)


def append(table: Table) -> tuple[int, Mapping[str, Any]]:
    """The commit of one more snapshot on what was loaded: (its id, the body)."""
    snapshot_id = next(_snapshot_ids)
    location = table.metadata_location.rsplit("/", 1)[0]
    snapshot = {
        "snapshot-id": snapshot_id,
        "sequence-number": table.metadata.last_sequence_number + 1,
        "timestamp-ms": int(time.time() * 1000),
        "manifest-list": f"{location}/snap-{snapshot_id}-1-{secrets.token_hex(16)}.avro",
        "schema-id": 0,
        "summary": _summary(table.metadata.last_sequence_number + 1),
    }
    if table.parent is not None:
        snapshot["parent-snapshot-id"] = table.parent
    reference = {"ref-name": "main", "type": "branch", "snapshot-id": snapshot_id}
    return snapshot_id, {
        "requirements": [
            {"type": "assert-table-uuid", "uuid": table.metadata.table_uuid},
            {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": table.parent},
        ],
        "updates": [
            {"action": "add-snapshot", "snapshot": snapshot},
            {"action": "set-snapshot-ref", **reference},
        ],
    }


def advanced(table: Table, snapshot_id: int) -> Table:
    """The table after its append was acknowledged, as far as the next append has to know it.

    Reading it from a reply of thousands of snapshots would cost the writer more than the commit costs the server.
    """
    metadata = Metadata(
        table.metadata.table_uuid,
        last_sequence_number=table.metadata.last_sequence_number + 1,
        current_snapshot_id=snapshot_id,
    )
    return Table(table.metadata_location, metadata)


def _summary(number: int) -> Mapping[str, str]:
    # what an append of one file by an engine says
    return {
        "operation": "append",
        "added-data-files": "1",
        "added-records": "1000",
        "added-files-size": "34567",
        "changed-partition-count": "1",
        "total-records": str(number * 1000),
        "total-files-size": str(number * 34567),
        "total-data-files": str(number),
        "total-delete-files": "0",
        "total-position-deletes": "0",
        "total-equality-deletes": "0",
    }


def check_log(table: Table, acknowledged: Sequence[int]) -> tuple[int, int]:
    """(Commits that were acknowledged and are lost, snapshots that are there twice).

    Both the snapshots and the log of what was current are looked at.
    """
    lost = doubled = 0
    for entries in (table.metadata.snapshots, table.metadata.snapshot_log):
        there = [entry.snapshot_id for entry in entries]
        lost += len(set(acknowledged) - set(there))
        doubled += len(there) - len(set(there))
    return lost, doubled
