"""What tests do with tables of a house, a line each.

await commit(house, prop("a"))                         # sales.orders, unless another path is given
document(await load(house, "sales", "orders"))          # its metadata
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from lakeward_catalog.domain.bodies import text_of
from lakeward_protocol.catalog.v1 import tables_pb2
from lakeward_servicekit.deflated import Deflated
from tests.support.catalog.house import SCHEMA, House, context, ident, table_body, tabular

Json = dict[str, Any]
ORDERS: Final = ("sales", "orders")
STAGED: Final[Json] = {"stage-create": True}


def prop(key: str, value: str = "x") -> Json:
    return {"action": "set-properties", "updates": {key: value}}


def snapshot(number: int, **members: Any) -> tuple[Json, Json]:
    """Updates that append the snapshot of this number, from 1, to main."""
    added: Json = {
        "snapshot-id": number,
        "sequence-number": number,
        "timestamp-ms": 2_000_000_000_000 + number,
        "manifest-list": f"s3://lake/demo/snap-{number}.avro",
        "summary": {"operation": "append"},
        "schema-id": 0,
        **({"parent-snapshot-id": number - 1} if number > 1 else {}),
        **members,
    }
    return {"action": "add-snapshot", "snapshot": added}, ref("main", number)


def ref(name: str, snapshot_id: int, kind: str = "branch") -> Json:
    return {"action": "set-snapshot-ref", "ref-name": name, "type": kind, "snapshot-id": snapshot_id}


def commit(
    house: House,
    *updates: Json,
    path: Sequence[str] = ORDERS,
    requirements: Sequence[Mapping[str, Any]] = (),
    key: object = "",
    authorization: str = "",
    deflated: bool = False,
    **members: Any,
) -> Awaitable[Any]:
    body = json.dumps({"requirements": list(requirements), "updates": updates, **members}).encode()
    called: Awaitable[Any] = house.tables.CommitTable(
        tables_pb2.CommitTableRequest(
            context=context(idempotency_key=str(key), authorization=authorization),
            warehouse_id=house.warehouse_id,
            table=tabular(*path),
            body=body,
            accept_deflate=deflated,
        )
    )
    return called


def transaction(
    house: House,
    *changes: tuple[Sequence[str], Json],
    requirements: Mapping[str, Sequence[Json]] | None = None,
    key: object = "",
) -> Awaitable[Any]:
    """One update a table; `requirements` by the table's name."""
    entries = [
        {
            "identifier": {"namespace": list(path[:-1]), "name": path[-1]},
            "requirements": (requirements or {}).get(path[-1], []),
            "updates": [update],
        }
        for path, update in changes
    ]
    called: Awaitable[Any] = house.tables.CommitTransaction(
        tables_pb2.CommitTransactionRequest(
            context=context(idempotency_key=str(key)),
            warehouse_id=house.warehouse_id,
            body=json.dumps({"table-changes": entries}).encode(),
        )
    )
    return called


def load(house: House, *path: str, **members: Any) -> Awaitable[Any]:
    called: Awaitable[Any] = house.tables.LoadTable(
        tables_pb2.LoadTableRequest(warehouse_id=house.warehouse_id, table=tabular(*(path or ORDERS)), **members)
    )
    return called


def create(house: House, name: str = "new", *, key: object = "", **members: Any) -> Awaitable[Any]:
    called: Awaitable[Any] = house.tables.CreateTable(
        tables_pb2.CreateTableRequest(
            context=context(idempotency_key=str(key)),
            warehouse_id=house.warehouse_id,
            namespace=ident("sales"),
            body=table_body(name, **members),
        )
    )
    return called


def drop(house: House, name: str, *, purge: bool = False) -> Awaitable[Any]:
    called: Awaitable[Any] = house.tables.DropTable(
        tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", name), purge=purge)
    )
    return called


def register(
    house: House, location: str, *, name: str = "found", key: object = "", overwrite: bool = False
) -> Awaitable[Any]:
    called: Awaitable[Any] = house.tables.RegisterTable(
        tables_pb2.RegisterTableRequest(
            context=context(idempotency_key=str(key)),
            warehouse_id=house.warehouse_id,
            namespace=ident("sales"),
            name=name,
            metadata_location=location,
            overwrite=overwrite,
        )
    )
    return called


def document(reply: Any) -> Json:
    """The metadata of a reply about a table, compressed or not."""
    body = reply.table.metadata
    text = body.plain
    if body.HasField("deflated"):
        text = text_of(Deflated(body.deflated.raw, body.deflated.crc32, body.deflated.size))
    found: Json = json.loads(text)
    return found


def properties(reply: Any) -> list[str]:
    return sorted(document(reply)["properties"])


def a_file(location: str, **members: Any) -> bytes:
    """A metadata file of an empty table."""
    return json.dumps(
        {
            "format-version": 2,
            "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
            "location": location,
            "last-sequence-number": 0,
            "last-updated-ms": 1,
            "last-column-id": 1,
            "current-schema-id": 0,
            "schemas": [SCHEMA],
            "default-spec-id": 0,
            "partition-specs": [{"spec-id": 0, "fields": []}],
            "last-partition-id": 999,
            "default-sort-order-id": 0,
            "sort-orders": [{"order-id": 0, "fields": []}],
            **members,
        }
    ).encode()


def once_after(write: Callable[..., Awaitable[Any]], happens: Callable[[], Awaitable[Any]]) -> Callable[..., Any]:
    """`write`, behind whose first call something else happens."""
    pending = [happens]

    async def written(*args: Any, **kwargs: Any) -> Any:
        result = await write(*args, **kwargs)
        if pending:
            await pending.pop()()
        return result

    return written


async def until(holds: Callable[[], bool]) -> None:
    """Let others run until a fact holds; it is expected to, soon."""
    async with asyncio.timeout(10):
        while not holds():
            await asyncio.sleep(0)
