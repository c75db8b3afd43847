"""A refusal on the wire: gRPC status, message, and google.rpc.ErrorInfo with the reason and its metadata."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import grpc
import grpc.aio
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

from lakeward_protocol.errors.v1 import failure_pb2
from lakeward_servicekit.errors import PREFIX, Reason, Refusal, name_of, rule_of

DOMAIN: Final = "lakeward"
DETAILS_KEY: Final = "grpc-status-details-bin"
_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}
_UNREACHED: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)


def code_of(refusal: Refusal) -> grpc.StatusCode:
    """The gRPC status code of a refusal's family."""
    return _CODES[rule_of(refusal.reason).family]


def details_of(refusal: Refusal) -> bytes:
    """What goes into the trailing metadata under `DETAILS_KEY`."""
    info = error_details_pb2.ErrorInfo(reason=name_of(refusal.reason), domain=DOMAIN, metadata=dict(refusal.metadata))
    detail = any_pb2.Any()
    detail.Pack(info)
    status = status_pb2.Status(code=rule_of(refusal.reason).family, message=refusal.message, details=[detail])
    return bytes(status.SerializeToString())


def refusal_from(error: grpc.aio.AioRpcError, *, service: str) -> Refusal:
    """The refusal that a peer sent, or what a failed call without one amounts to.

    Args:
        error: what the call raised.
        service: the peer's name, for the failures that it could not describe itself.
    """
    trailing: Iterable[tuple[str, str | bytes]] = error.trailing_metadata() or ()
    for key, value in trailing:
        if key == DETAILS_KEY and isinstance(value, bytes) and (refusal := _parse(value)) is not None:
            return refusal
    code = error.code()
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return too_late(service)
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return Refusal(Reason.REASON_OVERLOADED, f"{service} has more calls than it serves; retry after a pause")
    return Refusal(
        Reason.REASON_SERVICE_UNAVAILABLE,
        f"{service} can't be reached or broke the call ({code.name}); retry after a pause",
        service=service,
    )


def is_unreached(error: grpc.aio.AioRpcError) -> bool:
    """Whether a call failed on its way to the peer or back, rather than by what the peer answered.

    A peer that ends cancels the calls that it has not answered by then; calls that we cancel ourselves raise no such error.
    """
    return error.code() in _UNREACHED and not is_refusal(error)


def is_refusal(error: grpc.aio.AioRpcError) -> bool:
    """Whether a call failed by what the peer answered."""
    trailing: Iterable[tuple[str, str | bytes]] = error.trailing_metadata() or ()
    return any(key == DETAILS_KEY for key, _ in trailing)


def too_late(service: str) -> Refusal:
    """The refusal that a call amounts to which was not answered in time."""
    return Refusal(Reason.REASON_DEADLINE_EXCEEDED, f"{service} gave no answer in time; retry, or allow more time")


def _parse(value: bytes) -> Refusal | None:
    status = status_pb2.Status.FromString(value)
    for detail in status.details:
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info) and info.domain == DOMAIN:
            try:
                reason = Reason.Value(PREFIX + info.reason)
                return Refusal(reason, status.message, **dict(info.metadata))
            except (ValueError, TypeError, KeyError):
                return None  # a newer peer's reason, or newer keys: its status code is all that we know
    return None


def failure_of(refusal: Refusal) -> failure_pb2.Failure:
    """The refusal as an item of a batch."""
    return failure_pb2.Failure(reason=refusal.reason, message=refusal.message, metadata=dict(refusal.metadata))


def refusal_of(failure: failure_pb2.Failure) -> Refusal:
    """The refusal that an item of a batch stands for."""
    return Refusal(failure.reason, failure.message, **dict(failure.metadata))
