"""Processes that are killed in the middle of a commit storm."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

import asyncpg
import pytest

from tests.support import failpoint
from tests.support.audit import Findings
from tests.support.faults import House, Tally, storm
from tests.support.installations import SERVICES, Composition

pytestmark = pytest.mark.integration

WRITERS = {"shared": 4, "alone": 1, "apart": 1}
COMMITS = 12
ONE, FOUR = Composition.ONE_PROCESS, Composition.FOUR_PROCESSES


def _explained(findings: Findings, tally: Tally) -> str:
    orphans = "\n  ".join(findings.orphans) or "none"
    return "\n".join([*findings.wrong, *tally.lies, f"answers: {dict(tally.answers)}", f"orphans:\n  {orphans}"])


@pytest.mark.parametrize(
    ("composition", "victim", "kills"),
    [(ONE, "lakeward", 3), *((FOUR, service, 1) for service in SERVICES)],
    indirect=["composition"],
)
async def test_a_commit_storm_loses_and_doubles_nothing_when_a_process_is_killed(
    house: House, victim: str, kills: int, record_property: Callable[[str, object], None]
) -> None:
    tables, tally = await house.tables(WRITERS), Tally()
    total = COMMITS * sum(tables.values())
    async with asyncio.TaskGroup() as group:
        group.create_task(storm(house.installation.url, tables, commits=COMMITS, seed=7, tally=tally))
        for kill in range(1, kills + 1):
            await tally.reaches(kill * total // (kills + 2))
            await house.installation.kill(victim)
            await house.installation.start()

    assert tally.done == total
    findings = await house.audit(tally.acknowledged)
    assert not findings.wrong + tally.lies, _explained(findings, tally)
    record_property("orphans", findings.orphans)


async def test_a_crash_between_the_file_and_its_pointer_leaves_an_orphan_and_nothing_else(house: House) -> None:
    tables, tally = await house.tables({"t": 1}), Tally()
    await storm(house.installation.url, tables, commits=2, seed=1, tally=tally)
    async with asyncio.TaskGroup() as group, house.faulty_catalog(failpoint.DIE) as catalog:
        group.create_task(storm(house.installation.url, tables, commits=3, seed=2, tally=tally))
        assert await catalog.ended() == -signal.SIGKILL

    findings = await house.audit(tally.acknowledged)
    assert not findings.wrong + tally.lies, _explained(findings, tally)
    assert len(findings.orphans) == 1, "the process died before the file was there, or after it was pointed to"


@pytest.mark.parametrize("composition", [ONE], indirect=True)
async def test_a_pointer_that_is_set_before_its_file_is_written_is_found_by_the_audit(house: House) -> None:
    """The twin: what the order of file and pointer guards against, with the order undone."""
    tables, tally = await house.tables({"t": 1}), Tally()
    async with house.faulty_catalog(failpoint.FORGET):
        await storm(house.installation.url, tables, commits=1, seed=3, tally=tally)
        findings = await house.audit(tally.acknowledged)
    assert [found for found in findings.wrong if "is pointed to, and is not there" in found]


@pytest.mark.parametrize("composition", [ONE], indirect=True)
async def test_the_audit_sees_lost_and_doubled_commits_and_lost_and_doubled_events(house: House) -> None:
    """The twin of the storms: each fault that must not be there, made by hand."""
    tables, tally = await house.tables({"t": 1}), Tally()
    (table,) = tables
    await storm(house.installation.url, tables, commits=2, seed=4, tally=tally)
    first, second = tally.acknowledged[table]
    assert not (await house.audit(tally.acknowledged)).wrong

    lost = await house.audit({table: [first, second, 42]})
    assert [found for found in lost.wrong if "42 was acknowledged and is lost" in found]
    doubled = await house.audit({table: [first]})
    assert [found for found in doubled.wrong if "more often than it was acknowledged" in found]

    connection = await asyncpg.connect(house.database)
    try:
        await connection.execute(_DOUBLE, table.warehouse.id)
        assert [found for found in (await house.audit(tally.acknowledged)).wrong if "is there 2 times" in found]
        await connection.execute(_LOSE, table.warehouse.id)
        assert [found for found in (await house.audit(tally.acknowledged)).wrong if "its events tell of" in found]
    finally:
        await connection.close()


_DOUBLE = """
with waiting as (
    insert into lakeward_catalog.outbox (event_id, stream, kind, verb, body)
    select event_id, stream, kind, verb, body from lakeward_catalog.outbox where stream = $1 and verb = 'committed' limit 1
    returning event_id)
insert into lakeward_catalog.event_log (stream, seq, slot, event_id, kind, verb, body, at)
select stream, seq + 1000, slot, event_id, kind, verb, body, at from lakeward_catalog.event_log
 where stream = $1 and verb = 'committed' and not exists (select from waiting) limit 1
"""
_LOSE = """
with gone as (delete from lakeward_catalog.outbox where stream = $1 and verb = 'committed')
delete from lakeward_catalog.event_log where stream = $1 and verb = 'committed'
"""
