"""What happens around every method: who may call, whether it may change anything now, for whom, and what a failure looks like.

What a handler is handed beside its request is by its rule: the user whom it acts for, settled; for a batch, what settles the user
of one item; and for a method that acts for nobody, the call.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping
from time import perf_counter
from typing import Any, Final

import grpc

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc.call import Call, Caller, CallerValue, Settle
from lakeward_servicekit.rpc.methods import ActsFor, MethodRule
from lakeward_servicekit.rpc.origin import Audit, Origin, bind_origin, unbind_origin
from lakeward_servicekit.rpc.status import code_of, refusal_of
from lakeward_servicekit.telemetry import spans
from lakeward_servicekit.telemetry.metrics import Counter, Histogram

_log = logging.getLogger(__name__)

# The second is by the method's rule: see the module.
type_of_handler = Callable[[Any, Any], Awaitable[Any]]

# Call metadata that stands in for a RequestContext's field which a native gRPC caller left empty.
_FROM_METADATA = (
    ("request_id", "x-request-id"),
    ("traceparent", "traceparent"),
    ("authorization", "authorization"),
    ("project_id", "x-project-id"),
    ("assumed_role", "x-assume-role"),
    ("user_agent", "user-agent"),
    ("idempotency_key", "idempotency-key"),
)
_CALLS = {caller: Call(caller) for caller in Caller.values()}
# As OpenTelemetry has it: of these codes a server says that it failed.
_OUR_FAULT: Final = frozenset(
    {
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    }
)
# Named and labelled as by gRPC's other servers, whose dashboards know them. A call within a process counts, too.
HANDLED: Final = Counter(
    "grpc_server_handled_total",
    "Calls of a service's methods that were answered, by the answer's code; a batch is one.",
    ("grpc_service", "grpc_method", "grpc_code"),
)
HANDLING: Final = Histogram(
    "grpc_server_handling_seconds",
    "How long calls of a service's methods took.",
    ("grpc_service", "grpc_method"),
)


class Method:
    """One method of a servicer with what stands around it. Called for every call of it, from anywhere."""

    __slots__ = ("_audit", "_handed", "_handler", "_handling", "_named", "_ok", "_read_only", "_settle", "rule")

    def __init__(
        self,
        rule: MethodRule,
        handler: type_of_handler,
        *,
        read_only: bool,
        settle: Settle[object] | None,
        audit: Audit | None = None,
    ) -> None:
        """Wrap `handler`; with `read_only`, mutations are refused; `settle` says who users are; `audit` hears of users' calls.

        Raises:
            ValueError: the method acts for users, and nothing settles who they are.
        """
        if settle is None and rule.acts_for is not ActsFor.NOBODY:
            raise ValueError(f"{rule.path} acts for a user, and its host has nothing that settles who that is")
        self.rule = rule
        self._handler = handler
        self._audit = audit
        self._read_only = read_only
        self._settle = settle if rule.acts_for is ActsFor.USER else None
        self._handed = settle if rule.acts_for is ActsFor.USER_OF_EACH_ITEM else None
        _, service, name = rule.path.split("/")
        self._named = (service, name)
        self._ok = HANDLED.series(service, name, "OK")
        self._handling = HANDLING.series(service, name)

    async def __call__(self, request: Any, caller: CallerValue) -> Any:  # noqa: ANN401 - any message of the contract
        """Answer one call.

        Raises:
            Refusal: always this, whatever went wrong inside; what is not a refusal is logged under the id that the
                caller gets.
        """
        began = perf_counter()
        try:
            answer = await (self._traced if spans.recording else self._answered)(request, caller)
        except Refusal as refusal:
            HANDLED.series(*self._named, code_of(refusal).name).value += 1
            raise
        except asyncio.CancelledError:
            HANDLED.series(*self._named, "CANCELLED").value += 1
            raise
        else:
            self._ok.value += 1
            return answer
        finally:
            self._handling.observe(perf_counter() - began)

    async def _traced(self, request: Any, caller: CallerValue) -> Any:  # noqa: ANN401 - any message of the contract
        """`_answered`, and its span. A stranger's call begins a trace; a service's that comes without one is of none."""
        if caller != Caller.CALLER_USER and not spans.has_parent():
            return await self._answered(request, caller)
        service, name = self._named
        known = {"rpc.system.name": "grpc", "rpc.method": f"{service}/{name}"}
        with spans.span(f"{service}/{name}", kind="server", attributes=known) as told:
            try:
                answer = await self._answered(request, caller)
            except Refusal as refusal:
                code = code_of(refusal)
                told.set("rpc.response.status_code", code.name)
                if code in _OUR_FAULT:
                    told.fail()
                raise
            told.set("rpc.response.status_code", "OK")
            return answer

    async def _answered(self, request: Any, caller: CallerValue) -> Any:  # noqa: ANN401 - any message of the contract
        rule = self.rule
        if caller not in rule.callers:
            raise not_for(caller, rule)
        if self._read_only and rule.mutation:
            raise Refusal(Reason.REASON_MAINTENANCE, "the server is in read-only maintenance; retry when it has ended")
        try:
            if self._settle is not None:
                if self._audit is not None:
                    return await self._audited(request, self._settle, self._audit)
                return await self._handler(request, await self._settle(request.context))
            if self._handed is not None and self._audit is not None:
                return await self._audited_items(request, self._handed, self._audit)
            return await self._handler(request, self._handed or _CALLS[caller])
        except Refusal:
            raise
        except TimeoutError as error:
            raise Refusal(
                Reason.REASON_DEADLINE_EXCEEDED, f"{rule.path} was not done in time; retry, or allow more time"
            ) from error
        except asyncio.CancelledError:
            raise
        except Exception as error:
            raise broken(rule) from error

    async def _audited(self, request: Any, settle: Settle[object], audit: Audit) -> Any:  # noqa: ANN401 - any message
        """Answer a user's call, and record it."""
        rule, user, origin = self.rule, None, None
        try:
            user = await settle(request.context)
            if not rule.mutation:
                answer = await self._handler(request, user)
                if audit.reads:
                    audit.done(rule, request, user, None)
                return answer
            origin = Origin(request.context.client_address[:64], request.context.user_agent[:256])
            token = bind_origin(origin)
            try:
                answer = await self._handler(request, user)
            finally:
                unbind_origin(token)
        except Refusal as refusal:
            audit.refused(rule, request, user, refusal)
            raise
        except Exception:
            audit.failed(rule, request, user)
            raise
        audit.done(rule, request, user, origin)
        return answer

    async def _audited_items(self, request: Any, settle: Settle[object], audit: Audit) -> Any:  # noqa: ANN401 - any message
        """Answer a batch, and record its items: those that were refused, and where reads count, the others."""
        answer = await self._handler(request, settle)
        for asked, item in zip(request.items, answer.items, strict=False):
            refused = item.WhichOneof("outcome") == "failure"
            if not (refused or audit.reads):
                continue
            try:
                user = await settle(asked.context)  # who was settled already is remembered
            except Refusal:
                user = None
            if refused:
                audit.refused(self.rule, asked, user, refusal_of(item.failure))
            else:
                audit.done(self.rule, asked, user, None)
        return answer


def broken(rule: MethodRule) -> Refusal:
    """What is told of a failure that is no refusal; it is at hand, and is logged under the id that the caller gets."""
    error_id = str(uuid.uuid4())
    _log.exception("a call failed", extra={"method": rule.path, "error_id": error_id})
    return Refusal(
        Reason.REASON_INTERNAL, f"an internal error happened; the log has it under {error_id}", error_id=error_id
    )


def not_for(caller: CallerValue, rule: MethodRule) -> Refusal:
    """WORKLOAD_REFUSED, of a caller whom a method's rule does not name."""
    if caller == Caller.CALLER_USER:
        message = f"{rule.path} is for Lakeward's own services"
    else:
        message = f"{rule.path} is not for {Caller.Name(caller).removeprefix('CALLER_').lower()}"
    return Refusal(Reason.REASON_WORKLOAD_REFUSED, message, method=rule.path)


def fill_context(request: Any, metadata: Mapping[str, str]) -> None:  # noqa: ANN401 - any message with a context
    """Let the call's metadata stand in for what the request's context leaves empty.

    Raises:
        Refusal: IDEMPOTENCY_KEY_INVALID, for an empty one.
    """
    context = request.context
    for field, key in _FROM_METADATA:
        if not getattr(context, field) and (value := metadata.get(key)):
            setattr(context, field, value)
    if not context.idempotency_key and "idempotency-key" in metadata:
        idempotency_key(metadata["idempotency-key"])


def idempotency_key(sent: str) -> str:
    """A key that came as a header. Who sends one means to be protected from repetition: none at all is not what it gets.

    Raises:
        Refusal: IDEMPOTENCY_KEY_INVALID, for an empty one. In a context an empty key is an absent one.
    """
    if not sent.strip():
        raise Refusal(
            Reason.REASON_IDEMPOTENCY_KEY_INVALID,
            "the idempotency key is empty; send a version 7 UUID, or leave the header out",
            key="",
        )
    return sent
