"""Audit records in Postgres, in the schema of the service that decided."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from lakeward_servicekit.audit.records import AuditRecord, Outcome
from lakeward_servicekit.postgres.pools import Connection, Pool

_COLUMNS: Final = (
    "audit_id, at, outcome, action, kind, object_id, object, project_id, warehouse_id, principal, role, reason, request_id, "
    "client, user_agent"
)
_TYPES: Final = ("uuid", "timestamptz", *["text"] * 6, "uuid", *["text"] * 6)
COUNT: Final = len(_TYPES)
_PLACES: Final = tuple(f"${number}" for number in range(1, COUNT + 1))
# A record that is there already was written by an attempt whose outcome was not known.
_ONCE: Final = "on conflict (audit_id) do nothing"
_UNNESTED: Final = ", ".join(f"{{{index}}}::{kind}[]" for index, kind in enumerate(_TYPES))
RECORD_SOME: Final = f"insert into audit_record ({_COLUMNS}) select * from unnest({_UNNESTED}) {_ONCE}"  # noqa: S608 - our names
_VALUES: Final = ", ".join(f"{{{index}}}" for index in range(COUNT))
RECORD_ONE: Final = f"insert into audit_record ({_COLUMNS}) values ({_VALUES}) {_ONCE}"  # noqa: S608 - our names
ADD: Final = RECORD_SOME.format(*_PLACES)
_OWNED: Final = ", ".join(
    "coalesce(w.project_id, r.project_id)" if each == "project_id" else f"r.{each}" for each in _COLUMNS.split(", ")
)
# Where the service knows warehouses: what names one is its project's, whatever project the request named.
ADD_BY_WAREHOUSE: Final = f"""
insert into audit_record ({_COLUMNS})
select {_OWNED} from unnest({_UNNESTED.format(*_PLACES)}) as r({_COLUMNS})
  left join warehouse w on w.warehouse_id = r.warehouse_id
{_ONCE}
"""  # noqa: S608 - our names
# An id begins with its time, so ids alone say where a window of time begins and ends, within a minute.
READ: Final = f"""
select {_COLUMNS} from audit_record
 where ($1::text is null or project_id = $1) and audit_id < $2 and audit_id >= $3 and at >= $4 and at < $5
   and ($6::uuid is null or warehouse_id = $6) and ($7::text is null or principal = $7) and ($8::text is null or action = $8)
   and ($9::text is null or outcome = $9) and ($10::text is null or object_id = $10)
 order by audit_id desc limit $11
"""  # noqa: S608 - our names
FORGET: Final = """
with gone as (
    delete from audit_record a using (
        select audit_id from audit_record where audit_id < $1 order by audit_id limit $2 for update skip locked) old
     where a.audit_id = old.audit_id
    returning a.audit_id)
select count(*) from gone
"""
_SLACK_MS: Final = 60_000


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    """Which records are wanted; None, of each member: any.

    Attributes:
        before: whose ids are smaller: where the page before ended.
        start: at or after this.
        end: before this.
    """

    start: datetime
    end: datetime
    project_id: str | None = None
    before: UUID | None = None
    warehouse_id: UUID | None = None
    principal: str | None = None
    action: str | None = None
    outcome: Outcome | None = None
    object_id: str | None = None


class PostgresAudit:
    """Adds, reads and forgets. All methods raise Refusal DATABASE_UNAVAILABLE."""

    def __init__(self, pool: Pool, *, listings: Pool | None = None, adding: str = ADD) -> None:
        """Write through `pool`, by the statement `adding`; read through `listings`, which may lag behind, where it is given."""
        self._pool: Final = pool
        self._listings: Final = listings or pool
        self._adding: Final = adding

    async def add(self, records: Sequence[AuditRecord]) -> None:
        """Write records down; those that are there already stay as they are."""
        if records:
            async with self._pool.changing() as connection:
                await connection.execute(self._adding, *columns(records))

    async def read(self, wanted: Wanted, *, limit: int) -> Sequence[AuditRecord]:
        """The newest first."""
        last = floor_of(wanted.end, slack=_SLACK_MS)
        rows = await self._listings.fetch(
            READ,
            wanted.project_id,
            last if wanted.before is None else min(wanted.before, last),
            floor_of(wanted.start, slack=-_SLACK_MS),
            wanted.start,
            wanted.end,
            wanted.warehouse_id,
            wanted.principal,
            wanted.action,
            None if wanted.outcome is None else wanted.outcome.value,
            wanted.object_id,
            limit,
        )
        return [_record(row) for row in rows]

    async def forget(self, *, before: datetime, limit: int) -> int:
        """Delete records from before a time, the oldest first; how many went, at most `limit`."""
        async with self._pool.changing() as connection:
            count: int = await connection.fetchval(FORGET, floor_of(before), limit)
        return count


async def record(connection: Connection, records: Sequence[AuditRecord]) -> None:
    """Write records down in the transaction of their change."""
    if records:
        await connection.execute(ADD, *columns(records))


def columns(records: Sequence[AuditRecord]) -> list[list[object]]:
    """What `RECORD_SOME` takes."""
    return [list(column) for column in zip(*map(row_of, records), strict=True)]


def row_of(each: AuditRecord) -> tuple[object, ...]:
    """What `RECORD_ONE` takes. Postgres holds no NUL."""
    return tuple(value.replace("\0", "") if isinstance(value, str) else value for value in _values(each))


def _values(each: AuditRecord) -> tuple[object, ...]:
    return (
        each.audit_id,
        each.at,
        each.outcome.value,
        each.action,
        each.kind,
        each.object_id,
        each.object,
        each.project_id,
        each.warehouse_id,
        each.principal,
        each.role,
        each.reason,
        each.request_id,
        each.client,
        each.user_agent,
    )


def _record(row: Iterable[object]) -> AuditRecord:
    values: dict[str, object] = dict(zip(_COLUMNS.split(", "), row, strict=True))
    return AuditRecord(**{**values, "outcome": Outcome(str(values["outcome"]))})  # type: ignore[arg-type]  # as the table has them


def floor_of(at: datetime, *, slack: int = 0) -> UUID:
    """The smallest id of version 7 of a moment, `slack` milliseconds later."""
    milliseconds = min(max(int(at.timestamp() * 1000) + slack, 0), (1 << 48) - 1)
    return UUID(int=milliseconds << 80)
