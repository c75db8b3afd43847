"""Recording what was asked of a service: a log line at once, and a row soon, where no transaction has written it.

Nobody waits for a row: records wait in a bounded queue, and where that is full, or the database takes none, they are lost, and
how many is told. Their log lines are not.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import operator
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol
from uuid import UUID

from google.protobuf.descriptor import Descriptor

from lakeward_servicekit.audit.records import MOST_NAMED, AuditRecord, Outcome
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.errors import Family, Refusal, name_of, rule_of
from lakeward_servicekit.rpc.methods import ActsFor, MethodRule
from lakeward_servicekit.rpc.origin import Origin
from lakeward_servicekit.system import Clock, Ids

LOGGER: Final = "lakeward.audit"
MESSAGE: Final = "audited"
MOST_WAITING: Final = 20_000
_BATCH: Final = 500
_EVERY_SECONDS: Final = 1.0
_LAST_SECONDS: Final = 5.0

_log: Final = logging.getLogger(__name__)
_lines: Final = logging.getLogger(LOGGER)
_RIGHTS: Final = frozenset({Family.FAMILY_PERMISSION_DENIED, Family.FAMILY_UNAUTHENTICATED})
_UNSEEN: Final = frozenset({Family.FAMILY_NOT_FOUND, Family.FAMILY_UNAUTHENTICATED})
_MEMBERS: Final = (
    "tabular_id",
    "table_id",
    "view_id",
    "namespace_id",
    "role_id",
    "user_id",
    "warehouse_id",
    "project_id",
)
_PATHS: Final = ("table", "view", "ident", "source", "namespace")
_VALUE: Final = operator.itemgetter(1)
_ACTIONS: Final[dict[str, str]] = {}  # by method, of which there are some two hundred


class AuditStore(Protocol):
    """Where rows go."""

    async def add(self, records: Sequence[AuditRecord]) -> None:
        """Write records down. Raises DATABASE_UNAVAILABLE."""


class Recorder:
    """Records calls of a service's methods.

    Attributes:
        reads: calls that change nothing are recorded too, where they are allowed.
        lost: records that no row was written of since that was last told.
    """

    def __init__(
        self, *, clock: Clock, ids: Ids, lines: bool, reads: bool, default_project: str = "", most: int = MOST_WAITING
    ) -> None:
        """Nothing is recorded yet.

        Args:
            clock: the time.
            ids: of records.
            lines: whether log lines are written.
            reads: see the class.
            default_project: of calls that name none.
            most: records that may wait for their rows.
        """
        self.reads: Final = reads
        self.lost = 0
        self._clock: Final = clock
        self._ids: Final = ids
        self._has_lines: Final = lines
        self._default_project: Final = default_project
        self._most: Final = most
        self._waiting: Final[deque[AuditRecord]] = deque()
        if lines:
            _lines.setLevel(logging.INFO)  # whatever the level of the other lines is

    def done(self, rule: MethodRule, request: Any, user: object, origin: Origin | None) -> None:  # noqa: ANN401 - any message
        """A call was answered; a change that its own transaction has recorded has its row already."""
        record = self._record(rule, request, user, Outcome.ALLOWED)
        self._keep(record, row=origin is None or not origin.recorded)

    def refused(self, rule: MethodRule, request: Any, user: object, refusal: Refusal) -> None:  # noqa: ANN401 - any message
        """A call was refused. Of those that would change nothing, refusals for want of a right count, unless all reads do."""
        family = rule_of(refusal.reason).family
        if not (rule.mutation or self.reads or family in _RIGHTS):
            return
        outcome = Outcome.FAILED if family is Family.FAMILY_INTERNAL else Outcome.REFUSED
        record = self._record(rule, request, user, outcome, reason=name_of(refusal.reason), names=family not in _UNSEEN)
        self._keep(record, row=True)

    def failed(self, rule: MethodRule, request: Any, user: object) -> None:  # noqa: ANN401 - any message
        """A call broke, and what it was to change may be changed or not."""
        if rule.mutation or self.reads:
            self._keep(self._record(rule, request, user, Outcome.FAILED, reason="INTERNAL"), row=True)

    def take(self, most: int) -> Sequence[AuditRecord]:
        """Records that wait, the oldest first; they wait no longer."""
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]

    def _keep(self, record: AuditRecord, *, row: bool) -> None:
        if self._has_lines:
            _lines.info(MESSAGE, extra=line_of(record))
        if not row:
            return
        if len(self._waiting) >= self._most:
            self.lost += 1
        else:
            self._waiting.append(record)

    def _record(
        self,
        rule: MethodRule,
        request: Any,  # noqa: ANN401 - any message
        user: object,
        outcome: Outcome,
        *,
        reason: str = "",
        names: bool = True,
    ) -> AuditRecord:
        context = request.context
        principal: Principal | None = getattr(user, "principal", None)
        warehouse_id = _uuid(getattr(request, "warehouse_id", ""))
        return AuditRecord(
            audit_id=self._ids.uuid7(),
            at=self._clock.now(),
            outcome=outcome,
            action=_ACTIONS.get(rule.path) or _action_of(rule),
            object_id=_object_id(request),
            object=_path_of(request)[:MOST_NAMED] if names else "",
            project_id=(getattr(user, "project", None) or self._default_project)[:128],
            warehouse_id=warehouse_id,
            principal="" if principal is None else principal.user_id,
            role="" if principal is None else principal.role_id,
            reason=reason,
            request_id=context.request_id[:128],
            client=context.client_address[:64],
            user_agent=context.user_agent[:256],
        )


def line_of(record: AuditRecord) -> dict[str, object]:
    """The fields of a record's log line; empty ones are left out."""
    said: dict[str, object] = {
        "event_source": "audit",
        "audit_id": str(record.audit_id),
        "outcome": record.outcome.value,
        "action": record.action,
        "object_kind": record.kind,
        "object_id": record.object_id,
        "object": record.object,
        "project_id": record.project_id,
        "warehouse_id": "" if record.warehouse_id is None else str(record.warehouse_id),
        "principal": record.principal,
        "assumed_role": record.role,
        "reason": record.reason,
        "client": record.client,
        "user_agent": record.user_agent,
    }
    return dict(filter(_VALUE, said.items()))


@asynccontextmanager
async def recording(recorder: Recorder, store: AuditStore) -> AsyncIterator[None]:
    """Write rows until the block ends, and then what still waits, for a few seconds."""
    writing = asyncio.create_task(_write(recorder, store))
    try:
        yield
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        try:
            async with asyncio.timeout(_LAST_SECONDS):
                await write_waiting(recorder, store)
        except TimeoutError:
            _log.warning("audit records were not written before the end")


async def _write(recorder: Recorder, store: AuditStore) -> None:
    while True:
        await asyncio.sleep(_EVERY_SECONDS)
        await write_waiting(recorder, store)


async def write_waiting(recorder: Recorder, store: AuditStore) -> None:
    """Write rows of all that waits; what the database does not take is lost, and told."""
    while records := recorder.take(_BATCH):
        try:
            await store.add(records)
        except Refusal as refused:
            recorder.lost += len(records)
            _log.warning("audit records were not taken", extra={"refusal": str(refused)})
            break
    if recorder.lost:
        _log.error("audit records have no row, only log lines", extra={"records": recorder.lost})
        recorder.lost = 0


def _action_of(rule: MethodRule) -> str:
    """The method's name; of an item of a batch, that of the method that takes one alone."""
    name = rule.path.rpartition("/")[2]
    if rule.acts_for is ActsFor.USER_OF_EACH_ITEM:
        name = name.removeprefix("Batch").removesuffix("s")
    _ACTIONS[rule.path] = name
    return name


def _object_id(request: Any) -> str:  # noqa: ANN401 - any message
    for name in _said_by(request.DESCRIPTOR)[0]:
        value = getattr(request, name)
        if isinstance(value, str) and value and (name == "user_id" or _uuid(value) is not None):
            return value[:256]
    return ""


def _path_of(request: Any) -> str:  # noqa: ANN401 - any message
    for name in _said_by(request.DESCRIPTOR)[1]:
        value = getattr(request, name)
        if isinstance(value, (str, bytes)):
            continue
        if hasattr(value, "parts") and value.parts:
            return ".".join(value.parts)
        if hasattr(value, "namespace") and hasattr(value, "name") and value.name:
            return ".".join((*value.namespace.parts, value.name))
    return ""


@functools.cache  # of the contract's messages, of which there are some hundreds
def _said_by(message: Descriptor) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The members of a request that say what it is about: ids, and paths."""
    members = message.fields_by_name
    return tuple(name for name in _MEMBERS if name in members), tuple(name for name in _PATHS if name in members)


def _uuid(text: object) -> UUID | None:
    try:
        return UUID(text) if isinstance(text, str) and text else None
    except ValueError:
        return None
