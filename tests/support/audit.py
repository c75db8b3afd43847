"""The audit of what faults leave: tables, their files and their events, against what clients were told."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote, urlencode
from xml.etree import ElementTree as ET

import asyncpg
import httpx

from lakeward_components.seaweedfs import S3Store
from lakeward_components.sigv4 import signed
from tests.support.http import NOBODY
from tests.support.installations import Installation
from tests.support.warehouses import Warehouse, tables_of

_PAUSE: Final = 0.05
_PATIENCE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Table:
    """A table that is written to."""

    warehouse: Warehouse
    namespace: str
    name: str

    @property
    def path(self) -> str:
        return f"{tables_of(self.warehouse, self.namespace)}/{self.name}"

    @property
    def subject(self) -> str:
        """What its events are about."""
        return f"{self.namespace}.{self.name}"


def snapshot_ids(metadata: Mapping[str, Any]) -> list[int]:
    return [entry["snapshot-id"] for entry in metadata.get("snapshots", ())]


async def load(http: httpx.AsyncClient, table: Table) -> dict[str, Any]:
    """The table's metadata, once the server gives it: an outage is waited for."""
    return (await loaded(http, table))["metadata"]  # type: ignore[no-any-return]


async def loaded(http: httpx.AsyncClient, table: Table) -> dict[str, Any]:
    """What a load answers, once it does."""
    async with asyncio.timeout(_PATIENCE):
        while True:
            try:
                reply = await http.get(table.path)
            except httpx.TransportError:
                await asyncio.sleep(_PAUSE)
                continue
            if reply.is_success:
                return reply.json()  # type: ignore[no-any-return]
            assert reply.status_code in {429, 502, 503, 504}, f"a load was answered {reply.status_code}: {reply.text}"
            await asyncio.sleep(_PAUSE)


@dataclass(frozen=True, slots=True)
class Event:
    """A table's event, as consumers get it."""

    id: str
    subject: str
    verb: str
    data: Mapping[str, Any]


@dataclass(slots=True)
class Findings:
    """What an audit found.

    Attributes:
        wrong: sentences; none where all is well.
        orphans: metadata files that nothing points to: allowed.
    """

    wrong: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)


async def audit(
    installation: Installation, database: str, store: S3Store, acknowledged: Mapping[Table, Collection[int]]
) -> Findings:
    """Compare what clients were told with the tables, their files and their events.

    Args:
        installation: which serves.
        database: its Postgres, by a way that works.
        store: where its files are, the same.
        acknowledged: the snapshots of each table, all of which and nothing else must be there.
    """
    findings = Findings()
    objects = Objects(store)
    connection = await asyncpg.connect(database)
    try:
        streams = sorted({table.warehouse.id for table in acknowledged})
        events = await events_of(connection, streams, findings)
    finally:
        await connection.close()
    async with httpx.AsyncClient(verify=NOBODY, base_url=installation.url, timeout=30) as http:
        for table, ids in acknowledged.items():
            await _audit_table(
                table,
                answer=await loaded(http, table),
                acknowledged=ids,
                events=events,
                objects=objects,
                findings=findings,
            )
    return findings


async def _audit_table(
    table: Table,
    *,
    answer: Mapping[str, Any],
    acknowledged: Collection[int],
    events: Sequence[Event],
    objects: Objects,
    findings: Findings,
) -> None:
    metadata = answer["metadata"]
    files = [entry["metadata-file"] for entry in metadata["metadata-log"]] + [answer["metadata-location"]]
    findings.wrong += _wrong_snapshots(table, metadata, acknowledged)
    findings.wrong += _wrong_events(table, files, [event for event in events if event.subject == table.subject])
    there = set(await objects.files(metadata["location"]))
    findings.wrong += [f"{table.name}: {file} is pointed to, and is not there" for file in files if file not in there]
    findings.orphans += sorted(there - set(files))
    if answer["metadata-location"] in there:
        written = await objects.document(answer["metadata-location"])
        if written != metadata:
            findings.wrong.append(f"{table.name}: {answer['metadata-location']} is not what the catalog answers")


def _wrong_snapshots(table: Table, metadata: Mapping[str, Any], acknowledged: Collection[int]) -> Iterable[str]:
    there = Counter(snapshot_ids(metadata))
    expected = Counter(acknowledged)
    for snapshot_id in expected - there:
        yield f"{table.name}: the commit of {snapshot_id} was acknowledged and is lost"
    for snapshot_id in there - expected:
        yield f"{table.name}: the commit of {snapshot_id} is there more often than it was acknowledged"
    parents = {entry["snapshot-id"]: entry.get("parent-snapshot-id") for entry in metadata["snapshots"]}
    lineage: list[int] = []
    at = metadata.get("refs", {}).get("main", {}).get("snapshot-id")
    while at is not None and len(lineage) <= len(parents):
        lineage.append(at)
        at = parents.get(at)
    if set(lineage) != set(there) or len(lineage) != len(there):
        yield f"{table.name}: main's history has {len(lineage)} snapshots of {len(there)}"
    logged = Counter(entry["snapshot-id"] for entry in metadata["snapshot-log"])
    if logged != there:
        yield f"{table.name}: its snapshot log differs from its snapshots"


def _wrong_events(table: Table, files: Sequence[str], events: Sequence[Event]) -> Iterable[str]:
    """Each metadata file was announced once, in order, each after the one before it."""
    announced = [
        event.data["tabular"]["metadata-location"] for event in events if event.verb in {"created", "committed"}
    ]
    if announced != list(files):
        yield f"{table.name}: its events tell of {len(announced)} files, its log of {len(files)}, or in another order"
    commits = [event for event in events if event.verb == "committed"]
    for before, event in zip(files, commits, strict=False):
        if event.data["previous-metadata-location"] != before:
            yield f"{table.name}: event {event.id} follows {event.data['previous-metadata-location']}, not {before}"


_LOGGED: Final = """
select stream, seq, event_id, kind, verb, body from lakeward_catalog.event_log
 where stream = any($1::text[]) order by stream, seq
"""
_WAITING: Final = """
select stream, event_id, kind, verb, body from lakeward_catalog.outbox where stream = any($1::text[]) order by outbox_id
"""
_NEWEST: Final = "select stream, seq from lakeward_catalog.event_stream where stream = any($1::text[])"


async def events_of(
    connection: asyncpg.Connection[asyncpg.Record], streams: Sequence[str], findings: Findings
) -> Sequence[Event]:
    """The tables' events of some streams, sequenced ones first; gaps and repetitions are findings."""
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        logged, waiting = await connection.fetch(_LOGGED, streams), await connection.fetch(_WAITING, streams)
        newest = {row["stream"]: row["seq"] for row in await connection.fetch(_NEWEST, streams)}
    sequences: dict[str, list[int]] = {}
    for row in logged:
        sequences.setdefault(row["stream"], []).append(row["seq"])
    for stream, sequence in sequences.items():
        if sequence != list(range(1, len(sequence) + 1)) or newest.get(stream) != len(sequence):
            findings.wrong.append(
                f"stream {stream} has gaps: {len(sequence)} events, the newest is {newest.get(stream)}"
            )
    rows = [*logged, *waiting]
    findings.wrong += [
        f"event {event_id} is there {times} times"
        for event_id, times in Counter(row["event_id"] for row in rows).items()
        if times > 1
    ]
    documents = [(row, json.loads(row["body"])) for row in rows if row["kind"] == "table"]
    return [Event(body["id"], body["subject"], row["verb"], body["data"]) for row, body in documents]


class Objects:
    """A store's bucket, for a test to look into by the direct way."""

    def __init__(self, store: S3Store) -> None:
        self._store = store

    async def listing(self, prefix: str) -> Sequence[str]:
        """Every key below a prefix."""
        keys: list[str] = []
        asked = {"list-type": "2", "prefix": prefix}
        while True:
            listed = ET.fromstring(await self._call("GET", f"?{urlencode(asked, quote_via=quote)}"))
            keys += (str(key.text) for key in listed.iterfind("{*}Contents/{*}Key"))
            following = listed.findtext("{*}NextContinuationToken")
            if not following:
                return sorted(keys)
            asked["continuation-token"] = following

    async def read(self, uri: str) -> bytes:
        return await self._call("GET", "/" + quote(self.key_of(uri)))

    async def delete(self, uri: str) -> None:
        await self._call("DELETE", "/" + quote(self.key_of(uri)))

    def key_of(self, uri: str) -> str:
        return uri.removeprefix(f"s3://{self._store.bucket}/")

    def uri_of(self, key: str) -> str:
        return f"s3://{self._store.bucket}/{key}"

    async def files(self, location: str) -> Sequence[str]:
        """URIs of everything below a table's location."""
        return [self.uri_of(key) for key in await self.listing(self.key_of(location) + "/")]

    async def document(self, uri: str) -> Any:
        """A metadata file's JSON."""
        content = await self.read(uri)
        return json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)

    async def _call(self, method: str, where: str) -> bytes:
        store = self._store
        url = f"{store.endpoint}/{store.bucket}{where}"
        headers = signed(method, url, key=store.admin, region=store.region, now=datetime.now(UTC))
        async with httpx.AsyncClient(verify=NOBODY, timeout=10) as http:
            reply = await http.request(method, url, headers=headers)
        assert reply.is_success, f"{method} {where} answered {reply.status_code}: {reply.text}"
        return reply.content
