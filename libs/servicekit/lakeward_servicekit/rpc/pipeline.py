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

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc.call import Call, Caller, CallerValue, Settle
from lakeward_servicekit.rpc.methods import ActsFor, MethodRule
from lakeward_servicekit.rpc.status import code_of
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

    __slots__ = ("_handed", "_handler", "_handling", "_named", "_ok", "_read_only", "_settle", "rule")

    def __init__(
        self, rule: MethodRule, handler: type_of_handler, *, read_only: bool, settle: Settle[object] | None
    ) -> None:
        """Wrap `handler`; with `read_only`, mutations are refused; `settle` says who users are.

        Raises:
            ValueError: the method acts for users, and nothing settles who they are.
        """
        if settle is None and rule.acts_for is not ActsFor.NOBODY:
            raise ValueError(f"{rule.path} acts for a user, and its host has nothing that settles who that is")
        self.rule = rule
        self._handler = handler
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
            answer = await self._answered(request, caller)
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

    async def _answered(self, request: Any, caller: CallerValue) -> Any:  # noqa: ANN401 - any message of the contract
        rule = self.rule
        if caller not in rule.callers:
            raise _not_for(caller, rule)
        if self._read_only and rule.mutation:
            raise Refusal(Reason.REASON_MAINTENANCE, "the server is in read-only maintenance; retry when it has ended")
        try:
            if self._settle is not None:
                return await self._handler(request, await self._settle(request.context))
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
            error_id = str(uuid.uuid4())
            _log.exception("a call failed", extra={"method": rule.path, "error_id": error_id})
            raise Refusal(
                Reason.REASON_INTERNAL,
                f"an internal error happened; the log has it under {error_id}",
                error_id=error_id,
            ) from error


def _not_for(caller: CallerValue, rule: MethodRule) -> Refusal:
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
