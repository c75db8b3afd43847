"""A channel to a service in another process, whose calls raise refusals."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2

from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.rpc.call import KEPT_BACK, remaining
from lakeward_servicekit.rpc.lanes import Lane, Lanes
from lakeward_servicekit.rpc.methods import DEFAULT_SECONDS, MAX_FRAME_BYTES, MUCH, REST, MethodRule, rule_at
from lakeward_servicekit.rpc.status import is_refusal, is_unreached, refusal_from, too_late
from lakeward_servicekit.telemetry import outgoing_headers, spans

WORKLOAD_KEY: Final = "x-lakeward-workload"

# How long a call that may be repeated waits for a peer that went away, as it does while it is started again. Longer than the
# longest pause between two attempts to connect, else a peer that is back would be missed.
_RECONNECT_SECONDS: Final = 1.5

_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MAX_FRAME_BYTES),
    ("grpc.max_send_message_length", MAX_FRAME_BYTES),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.lb_policy_name", "round_robin"),
)


class Channel(Protocol):
    """What generated stubs need: a channel over the wire, or into this process."""

    def unary_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - grpc's own signature
        """A callable for one method."""
        ...

    def unary_stream(self, method: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - grpc's own signature
        """A callable for one method that answers by a stream."""
        ...


def stub(generated: Any, channel: Channel) -> Any:  # noqa: ANN401 - generated stubs are typed by what they are assigned to
    """Make a generated stub over a channel of either kind, as in `stub(TableServiceStub, channel)`."""
    return generated(channel)


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class ChannelSecurity:
    """TLS towards a peer.

    Attributes:
        ca: PEM of the authorities that the peer's certificate may come from; None: the system's.
        certificate: PEM of our own certificate, where the peer asks for one.
        key: PEM of its key.
        name: the name to expect in the peer's certificate where it is not the address's.
    """

    ca: bytes | None
    certificate: bytes | None = None
    key: bytes | None = None
    name: str | None = None


class RemoteChannel:
    """A channel whose calls raise `Refusal`, carry the request's correlation, and keep within the caller's deadline."""

    def __init__(self, channel: grpc.aio.Channel, *, service: str, token: Callable[[str], str] | None) -> None:
        """Wrap a channel.

        Args:
            channel: to the peer.
            service: its name.
            token: mints the workload token that proves who we are, for a peer's name; None where mTLS does that.
        """
        self._channel = channel
        self._service = service
        self._token = token

    def unary_unary(
        self,
        method: str,
        request_serializer: Callable[[Any], bytes],
        response_deserializer: Callable[[bytes], Any],
        **kwargs: Any,  # noqa: ANN401 - grpc's own signature
    ) -> _RemoteCall:
        """A callable for one method."""
        call: Callable[..., Awaitable[Any]] = self._channel.unary_unary(method, None, response_deserializer, **kwargs)
        rule = rule_at(method)
        lanes = None
        if rule is not None and rule.stays_open:
            stream: Callable[..., grpc.aio.StreamStreamCall[bytes, bytes]] = self._channel.stream_stream(
                method, **kwargs
            )
            lanes = Lanes(
                lambda: stream(metadata=self._proof(), wait_for_ready=False),
                read=response_deserializer,
                is_answer=is_refusal,
            )
        return _RemoteCall(call, request_serializer, rule, service=self._service, proof=self._proof, lanes=lanes)

    def unary_stream(
        self,
        method: str,
        request_serializer: Callable[[Any], bytes],
        response_deserializer: Callable[[bytes], Any],
        **kwargs: Any,  # noqa: ANN401 - grpc's own signature
    ) -> Callable[[Any], AsyncGenerator[Any, None]]:
        """A callable for one method that answers by a stream, which has no deadline of its own."""
        call: Callable[..., grpc.aio.UnaryStreamCall[bytes, Any]] = self._channel.unary_stream(
            method, None, response_deserializer, **kwargs
        )

        async def answers(request: Any) -> AsyncGenerator[Any, None]:  # noqa: ANN401 - any message of the contract
            metadata = outgoing_headers() + self._proof()
            stream = call(request_serializer(request), metadata=metadata, wait_for_ready=False, timeout=remaining())
            try:
                async for answer in stream:
                    yield answer
            except grpc.aio.AioRpcError as error:
                raise refusal_from(error, service=self._service) from error
            finally:
                stream.cancel()

        return answers

    def _proof(self) -> list[tuple[str, str]]:
        return [] if self._token is None else [(WORKLOAD_KEY, self._token(self._service))]


class _RemoteCall:
    __slots__ = ("_call", "_lanes", "_name", "_proof", "_repeatable", "_seconds", "_serialized", "_service")

    def __init__(
        self,
        call: Callable[..., Awaitable[Any]],
        serialized: Callable[[Any], bytes],
        rule: MethodRule | None,
        *,
        service: str,
        proof: Callable[[], list[tuple[str, str]]],
        lanes: Lanes | None,
    ) -> None:
        self._name = service if rule is None else rule.path.removeprefix("/")
        self._call = call
        self._serialized = serialized
        self._repeatable = rule is not None and rule.repeatable
        self._seconds = DEFAULT_SECONDS if rule is None else rule.seconds
        self._service = service
        self._proof = proof
        self._lanes = lanes

    async def __call__(self, request: Any, timeout: float | None = None) -> Any:  # noqa: ANN401, ASYNC109 - a stub's own signature
        asking = self.asked(request, timeout)
        del request
        return (await asking)[0]

    async def asked(self, request: Any, timeout: float | None = None) -> tuple[Any, Lane | None]:  # noqa: ANN401, ASYNC109 - as above
        """The answer, and the lane that it came over; None: it came by a call of its own."""
        # a coroutine, so that nobody but it has the request
        asking = self._ask(request, timeout)
        del request
        if not spans.recording:
            return await asking
        with spans.inner(self._name, attributes={"rpc.system.name": "grpc", "rpc.method": self._name}):
            return await asking

    async def _ask(self, request: Any, timeout: float | None) -> tuple[Any, Lane | None]:  # noqa: ANN401, ASYNC109 - as above
        # gRPC would hold the message beside its bytes until the answer, and there are bodies of 32 MiB.
        sent = self._serialized(request)
        del request
        if len(sent) > MUCH:
            await asyncio.sleep(REST)
        asked = self._seconds if timeout is None else timeout
        metadata = outgoing_headers()
        # what belongs to a request goes by a call of its own, which says which one it is
        if self._lanes is not None and not metadata:
            answer = await self._over_lane(self._lanes, sent, seconds=_within(asked))
            if answer is not None:
                return answer
        metadata += self._proof()
        try:
            return await self._call(sent, timeout=_within(asked), metadata=metadata, wait_for_ready=False), None
        except grpc.aio.AioRpcError as error:
            if not (self._repeatable and is_unreached(error)):
                raise refusal_from(error, service=self._service) from error
            lost = error
        patience = _within(min(asked, _RECONNECT_SECONDS))
        try:
            return await self._call(sent, timeout=patience, metadata=metadata, wait_for_ready=True), None
        except grpc.aio.AioRpcError as error:
            # a peer that is still away is told as that, not as one that took too long
            late = error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
            raise refusal_from(lost if late else error, service=self._service) from error
        finally:
            del lost  # it has this frame in its traceback

    async def _over_lane(self, lanes: Lanes, sent: bytes, *, seconds: float) -> tuple[Any, Lane] | None:
        try:
            return await lanes.ask(sent, seconds=seconds)
        except grpc.aio.AioRpcError as error:
            raise refusal_from(error, service=self._service) from error
        except TimeoutError as error:
            raise too_late(self._service) from error


def _within(seconds: float) -> float:
    """So many seconds, or what is left of the deadline of the call at hand."""
    left = remaining()
    return max(seconds if left is None else min(seconds, left - KEPT_BACK), 0.001)


async def is_serving(channel: Channel, *, seconds: float) -> bool:
    """Whether the service at the other end says that it can serve; False where it gives no answer in time."""
    check = channel.unary_unary(
        "/grpc.health.v1.Health/Check",
        request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
        response_deserializer=health_pb2.HealthCheckResponse.FromString,
    )
    try:
        reply = await check(health_pb2.HealthCheckRequest(), timeout=seconds)
    except Refusal:
        return False
    return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)


@asynccontextmanager
async def connect(
    address: str,
    *,
    service: str,
    security: ChannelSecurity | None = None,
    token: Callable[[str], str] | None = None,
) -> AsyncIterator[RemoteChannel]:
    """A channel to a service.

    Args:
        address: "host:port", or a gRPC name such as "dns:///catalog:50051" for client-side balancing.
        service: the peer's name, as "catalog".
        security: TLS; None: cleartext.
        token: see `RemoteChannel`.
    """
    options: list[tuple[str, Any]] = list(_OPTIONS)
    if security is None:
        channel = grpc.aio.insecure_channel(address, options=options)
    else:
        if security.name is not None:
            options.append(("grpc.ssl_target_name_override", security.name))
        credentials = grpc.ssl_channel_credentials(security.ca, security.key, security.certificate)
        channel = grpc.aio.secure_channel(address, credentials, options=options)
    try:
        yield RemoteChannel(channel, service=service, token=token)
    finally:
        await channel.close(None)
