"""Commit storms, and the audit of what they leave.

Writers behave as Iceberg's clients do: a 409 is tried again on what won, a 503 and 429 after a pause, and after an outcome that
is unknown the table is read before anything else is done. Unlike those clients they keep a snapshot's id until it is in, so
that a commit that was lost or doubled shows.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from lakeward_components.seaweedfs import S3Store
from tests.support.audit import Findings, Table, audit, load, snapshot_ids
from tests.support.http import NOBODY
from tests.support.installations import Installation, Process, Program
from tests.support.proxy import Line
from tests.support.warehouses import Warehouse, make_namespace, make_table, make_warehouse

FAILPOINT: Final = "tests.support.failpoint"
UNKNOWN: Final = "CommitStateUnknownException"
_PAUSE: Final = 0.05
_PATIENCE: Final = 60.0
# Every metadata file is to be accounted for, so none may be forgotten.
_KEEP_FILES: Final = {"write.metadata.previous-versions-max": "10000"}


async def create(http: httpx.AsyncClient, warehouse: Warehouse, namespace: str, name: str) -> Table:
    """A table that keeps all of its metadata files."""
    await make_table(http, warehouse, namespace, name, **_KEEP_FILES)
    return Table(warehouse, namespace, name)


def append(metadata: Mapping[str, Any], snapshot_id: int, *, by: str = "test") -> dict[str, Any]:
    """The commit of one snapshot on top of `metadata`'s main branch."""
    main = metadata.get("refs", {}).get("main", {}).get("snapshot-id")
    snapshot = {
        "snapshot-id": snapshot_id,
        **({} if main is None else {"parent-snapshot-id": main}),
        "sequence-number": metadata["last-sequence-number"] + 1,
        "timestamp-ms": metadata["last-updated-ms"] + 1,
        "manifest-list": f"{metadata['location']}/metadata/snap-{snapshot_id}.avro",
        "summary": {"operation": "append", "writer": by},
        "schema-id": 0,
    }
    return {
        "requirements": [
            {"type": "assert-table-uuid", "uuid": metadata["table-uuid"]},
            {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": main},
        ],
        "updates": [
            {"action": "add-snapshot", "snapshot": snapshot},
            {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": snapshot_id},
        ],
    }


@dataclass(frozen=True, slots=True)
class Lines:
    """What stands before each component."""

    postgres: Line
    store: Line
    nats: Line

    async def mend(self) -> None:
        """Let everything pass again."""
        for line in (self.postgres, self.store, self.nats):
            line.cut_each(None)
            line.resume()
            await line.accept()


class House:
    """An installation and what is needed to harm and to audit it.

    Attributes:
        lines: that it reaches its components by.
        home: of its processes' folders.
        settings: the environment that its processes share.
        database: URL of its Postgres, past the line.
        store: by the direct way.
        nats: URL, by the direct way.
    """

    def __init__(
        self,
        installation: Installation,
        lines: Lines,
        *,
        home: Path,
        settings: Mapping[str, str],
        database: str,
        store: S3Store,
        nats: str,
    ) -> None:
        self.installation: Final = installation
        self.lines: Final = lines
        self.home: Final = home
        self.settings: Final = settings
        self.database: Final = database
        self.store: Final = store
        self.nats: Final = nats

    async def warehouse(self, http: httpx.AsyncClient) -> Warehouse:
        """A new one, whose store is behind its line; its own name for the bucket's server."""
        line = self.lines.store
        return await make_warehouse(http, self.store, endpoint=f"http://{line.host}:{line.port}")

    async def tables(self, names: Mapping[str, int]) -> dict[Table, int]:
        """New tables in a new warehouse, with how many writers each gets."""
        async with httpx.AsyncClient(verify=NOBODY, base_url=self.installation.url, timeout=30) as http:
            warehouse = await self.warehouse(http)
            namespace = await make_namespace(http, warehouse)
            return {await create(http, warehouse, namespace, name): writers for name, writers in names.items()}

    async def audit(self, acknowledged: Mapping[Table, Collection[int]]) -> Findings:
        return await audit(self.installation, self.database, self.store, acknowledged)

    @asynccontextmanager
    async def faulty_catalog(self, fault: str) -> AsyncIterator[Process]:
        """The catalog's process with a fault of `tests.support.failpoint`, and the sound one again at the end."""
        catalog = self.installation.hosting("catalog")
        sound = catalog.program
        host = "catalog" if sound.arguments == ("serve", "catalog") else "lakeward"
        try:
            await catalog.stop()
            catalog.program = Program(FAILPOINT, (host,), {**sound.environment, "FAILPOINT": fault})
            await self.installation.start()
            yield catalog
        finally:
            await catalog.kill()
            catalog.program = sound
            await self.installation.start()


@dataclass(slots=True)
class Tally:
    """What a storm's writers saw.

    Attributes:
        acknowledged: snapshots whose commit was answered with success, or found after an unknown outcome, by table.
        answers: how often each answer came.
        lies: answers that said that nothing was done, though it was.
    """

    acknowledged: dict[Table, list[int]] = field(default_factory=dict)
    answers: Counter[str] = field(default_factory=Counter)
    lies: list[str] = field(default_factory=list)
    _moved: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    @property
    def done(self) -> int:
        return sum(map(len, self.acknowledged.values()))

    def acknowledge(self, table: Table, snapshot_id: int) -> None:
        self.acknowledged.setdefault(table, []).append(snapshot_id)
        self._moved.set()

    async def reaches(self, number: int) -> None:
        """Wait until so many commits are acknowledged."""
        async with asyncio.timeout(_PATIENCE):
            while self.done < number:
                self._moved.clear()
                await self._moved.wait()


async def storm(url: str, tables: Mapping[Table, int], *, commits: int, seed: int, tally: Tally) -> None:
    """Commit at once from many writers, until every one of their snapshots is in.

    Args:
        url: of an installation.
        tables: how many writers each table has.
        commits: of each writer.
        seed: of the snapshots' ids.
        tally: filled while it goes on.
    """
    numbers = random.Random(seed)
    async with httpx.AsyncClient(verify=NOBODY, base_url=url, timeout=30) as http, asyncio.TaskGroup() as group:
        for table, writers in tables.items():
            for writer in range(writers):
                ids = [numbers.getrandbits(62) for _ in range(commits)]
                group.create_task(_write(http, table, ids, name=f"{table.name}-{writer}", tally=tally))


async def _write(http: httpx.AsyncClient, table: Table, ids: Iterable[int], *, name: str, tally: Tally) -> None:
    for snapshot_id in ids:
        async with asyncio.timeout(_PATIENCE):
            await _commit(http, table, snapshot_id, name=name, tally=tally)
        tally.acknowledge(table, snapshot_id)


async def _commit(http: httpx.AsyncClient, table: Table, snapshot_id: int, *, name: str, tally: Tally) -> None:
    """Commit until the snapshot is in, by a success or by what an unknown outcome turned out to be."""
    answer, is_open = "", False
    while True:
        metadata = await load(http, table)
        if snapshot_id in snapshot_ids(metadata):
            # what is open may come to be any time later, and then the refusal of the next try is true, too
            if answer and not is_open:
                tally.lies.append(f"{name}: {answer}, and snapshot {snapshot_id} is in")
            return
        answer = await _post(http, table, append(metadata, snapshot_id, by=name))
        is_open = is_open or answer == "lost" or answer.endswith(UNKNOWN)
        tally.answers[answer] += 1
        if answer == "200":
            return
        if answer.startswith("5") or answer in {"lost", "429 TooManyRequestsException"}:
            await asyncio.sleep(_PAUSE)  # an engine pauses too


async def _post(http: httpx.AsyncClient, table: Table, body: Mapping[str, Any]) -> str:
    try:
        reply = await http.post(table.path, json=body)
    except httpx.TransportError:
        return "lost"
    if reply.is_success:
        return "200"
    kind = reply.json()["error"]["type"]
    assert reply.status_code in {409, 429, 500, 502, 503, 504}, (
        f"a commit was answered {reply.status_code}: {reply.text}"
    )
    assert reply.status_code not in {500, 502, 504} or kind == UNKNOWN, f"{reply.status_code} {kind} hides the outcome"
    assert reply.status_code != 409 or kind == "CommitFailedException", reply.text
    return f"{reply.status_code} {kind}"
