"""The kinds of load, and the two 3 KB tables that they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bench.client import Connection
from bench.freshness import PROPERTY, Counter
from bench.generators import Wrk, run_wrk
from bench.stack import Lakeward
from bench.warehouse import OK, Warehouse, make_namespace, make_table

BYTES: Final = 3072
CLIENT_MANAGED: Final[Mapping[str, str]] = {"x-iceberg-access-delegation": "client-managed"}
NAMESPACE: Final = "loads"
WRITTEN: Final = "written"
STILL: Final = "still"
_FILLINGS: Final = 8


@dataclass(frozen=True, slots=True)
class Leg:
    """One kind of load.

    Attributes:
        where: see `fresh.lua`.
        judged: whether goal and floor are this one's.
    """

    name: str
    table: str
    headers: Mapping[str, str]
    where: str
    status: int = OK
    judged: bool = False


def legs(tag: str) -> Sequence[Leg]:
    """All of them; `tag` is that of the table which nobody writes to."""
    return (
        Leg("no delegation", WRITTEN, CLIENT_MANAGED, "property", judged=True),
        Leg("no delegation, gzip", WRITTEN, {**CLIENT_MANAGED, "accept-encoding": "gzip"}, "location"),
        Leg("vended credentials, gzip", WRITTEN, {"accept-encoding": "gzip"}, "location"),
        Leg("304", STILL, {**CLIENT_MANAGED, "if-none-match": tag}, "nothing", status=304),
    )


async def load(served: Lakeward, warehouse: Warehouse, leg: Leg, told: Counter, *, seconds: float) -> Wrk:
    """One leg, every reply of it checked against what the writer told."""
    return await run_wrk(
        f"{served.url}{warehouse.table(NAMESPACE, leg.table)}",
        script="fresh.lua",
        arguments=[str(told.path), leg.where, str(leg.status)],
        seconds=seconds,
        headers=leg.headers,
    )


async def prepare(served: Lakeward, warehouse: Warehouse) -> tuple[str, bytes]:
    """Make the tables: (the tag of the one that nobody writes to, the body of its load)."""
    async with Connection(served.url, headers={"accept-encoding": "identity"}) as connection:
        await make_namespace(connection, warehouse, NAMESPACE)
        # one older file in the log, so that a table stays at its size however many commits are made
        properties = {"write.metadata.previous-versions-max": "1", PROPERTY: "0" * 12}
        for name in (WRITTEN, STILL):
            await make_table(connection, warehouse, NAMESPACE, name, properties=properties)
            await _fill(connection, warehouse.table(NAMESPACE, name))
        reply = (await connection.get(warehouse.table(NAMESPACE, STILL), CLIENT_MANAGED)).expect(OK)
    return reply.headers["etag"], reply.body


async def _fill(connection: Connection, path: str) -> None:
    """Commits until the reply to a load is 3 KB long."""
    for _ in range(_FILLINGS):
        reply = (await connection.get(path, CLIENT_MANAGED)).expect(OK)
        missing = BYTES - len(reply.body)
        comment = reply.json()["metadata"]["properties"].get("comment", "")
        if missing == 0:
            return
        updates = {"comment": prose(len(comment) + missing - (0 if comment else len(',"comment":""')))}
        body = {"requirements": [], "updates": [{"action": "set-properties", "updates": updates}]}
        (await connection.post(path, body)).expect(OK)
    raise RuntimeError(f"{path} can't be brought to {BYTES} bytes")


def prose(length: int) -> str:
    """Text of a length, as people write it into comments."""
    text = "Events of the shop, one row each, kept for thirteen months and then archived by the nightly job. "
    return (text * (length // len(text) + 1))[:length]
