"""The audit of a service: who may read it, and how its parts are put together."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, Generic, Protocol, TypeVar
from uuid import UUID, uuid4

from lakeward_protocol.audit.v1 import audit_pb2
from lakeward_servicekit.audit.postgres import PostgresAudit, Wanted
from lakeward_servicekit.audit.recording import Recorder, recording
from lakeward_servicekit.audit.records import AuditRecord, Outcome
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal, invalid_field
from lakeward_servicekit.leases import Lease, keep_holding
from lakeward_servicekit.postgres.leases import PostgresLeases
from lakeward_servicekit.postgres.pools import Pool
from lakeward_servicekit.settings.audit import AuditSettings
from lakeward_servicekit.system import SystemClock, SystemIds

FORGETTER: Final = "audit-forgetter"
MOST: Final = 1000
DEFAULT: Final = 100
_FORGET_EVERY: Final = timedelta(minutes=10)
_AT_ONCE: Final = 1000
_LONGEST: Final = 512
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_END: Final = datetime(9999, 1, 1, tzinfo=UTC)


class AuditDoors(Protocol):
    """Who may read records; the caller is the service's own."""

    async def server(self, action: Action, *, caller: Any) -> None:  # noqa: ANN401 - each service's own
        """Raises FORBIDDEN."""

    async def project_id(self, action: Action, *, caller: Any) -> str:  # noqa: ANN401 - each service's own
        """The id of the project that the call names. Raises PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN."""
        ...


class AuditReads(Protocol):
    """Finds records, the newest first."""

    async def read(self, wanted: Wanted, *, limit: int) -> Sequence[AuditRecord]:
        """Those that are wanted, at most `limit`. Raises DATABASE_UNAVAILABLE."""
        ...


class ListRequest(Protocol):
    """`ListAuditRecordsRequest` of any service."""

    @property
    def filter(self) -> audit_pb2.AuditFilter:
        """Which records are wanted."""
        ...


Answer = TypeVar("Answer")


@dataclasses.dataclass(frozen=True, slots=True)
class AuditListings(Generic[Answer]):
    """Reads a service's records for who may read who has rights: they say as much about people. A servicer of both contracts.

    Attributes:
        response: makes the service's `ListAuditRecordsResponse`.
    """

    doors: AuditDoors
    store: AuditReads
    response: Callable[..., Answer]

    async def ListAuditRecords(  # noqa: N802 - the contract's name
        self,
        request: ListRequest,
        caller: Any,  # noqa: ANN401 - each service's own
    ) -> Answer:
        """See the contract."""
        wanted, project_id = request.filter, None
        if wanted.whole_server:
            await self.doors.server(Action.SERVER_READ_ASSIGNMENTS, caller=caller)
        else:
            project_id = await self.doors.project_id(Action.PROJECT_READ_ASSIGNMENTS, caller=caller)
        size = min(wanted.page_size or DEFAULT, MOST)
        found = await self.store.read(_wanted(wanted, project_id), limit=size + 1)
        shown = found[:size]
        return self.response(
            records=[message_of(each) for each in shown],
            next_page_token=str(shown[-1].audit_id) if len(found) > size else "",
        )


def _wanted(request: audit_pb2.AuditFilter, project_id: str | None) -> Wanted:
    outcome = request.outcome
    if outcome and outcome not in set(Outcome):
        raise invalid_field("outcome", outcome[:100], "allowed, refused or failed")
    try:
        before = UUID(request.page_token) if request.page_token else None
    except ValueError:
        raise Refusal(Reason.REASON_INVALID_PAGE_TOKEN, "the page token is not one that the audit handed out") from None
    try:
        warehouse_id = UUID(request.warehouse_id) if request.warehouse_id else None
    except ValueError:
        raise invalid_field("warehouse_id", request.warehouse_id[:100], "a warehouse's id, which is a UUID") from None
    return Wanted(
        start=request.start.ToDatetime(UTC) if request.HasField("start") else _EPOCH,
        end=request.end.ToDatetime(UTC) if request.HasField("end") else _END,
        project_id=project_id,
        before=before,
        warehouse_id=warehouse_id,
        principal=_text(request.principal),
        action=_text(request.action),
        outcome=Outcome(outcome) if outcome else None,
        object_id=_text(request.object_id),
    )


def _text(text: str) -> str | None:
    return text[:_LONGEST].replace("\0", "") or None


def message_of(each: AuditRecord) -> audit_pb2.AuditRecord:
    """A record, as the contract has it."""
    message = audit_pb2.AuditRecord(
        audit_id=str(each.audit_id),
        outcome=each.outcome.value,
        action=each.action,
        kind=each.kind,
        object_id=each.object_id,
        object=each.object,
        project_id=each.project_id,
        warehouse_id="" if each.warehouse_id is None else str(each.warehouse_id),
        principal=each.principal,
        role=each.role,
        reason=each.reason,
        request_id=each.request_id,
        client=each.client,
        user_agent=each.user_agent,
    )
    message.at.FromDatetime(each.at)
    return message


def recorder_of(settings: AuditSettings, *, default_project: str = "") -> Recorder | None:
    """What hears of a service's calls; None where nothing is recorded."""
    if settings.records == "off":
        return None
    return Recorder(
        clock=SystemClock(),
        ids=SystemIds(),
        lines=settings.log_lines,
        reads=settings.records == "all",
        default_project=default_project,
    )


@asynccontextmanager
async def auditing(
    settings: AuditSettings, recorder: Recorder | None, store: PostgresAudit, pool: Pool, *, forgets: bool
) -> AsyncIterator[None]:
    """Write rows, and forget those that are old, until the block ends; of several processes one forgets.

    Args:
        settings: how long records are kept.
        recorder: whose records become rows; None: there are none.
        store: where they go.
        pool: of the service's schema, for the lease.
        forgets: old records go; not while nothing may be changed.
    """
    forget = partial(_keep_forgetting, store=store, kept=settings.retention)
    loop: Callable[[], Awaitable[None]] | None = None
    if forgets:
        loop = partial(keep_holding, PostgresLeases(pool), FORGETTER, forget, holder=str(uuid4()))
    running = [] if loop is None else [asyncio.ensure_future(loop())]
    try:
        if recorder is None:
            yield
        else:
            async with recording(recorder, store):
                yield
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _keep_forgetting(_lease: Lease, *, store: PostgresAudit, kept: timedelta) -> None:
    while True:
        await forget_old(store, before=SystemClock().now() - kept)
        await asyncio.sleep(_FORGET_EVERY.total_seconds())


async def forget_old(store: PostgresAudit, *, before: datetime, at_once: int = _AT_ONCE) -> None:
    """Delete records from before a time, some at a time."""
    while await store.forget(before=before, limit=at_once) >= at_once:
        pass
