"""A service's methods, hosted: reachable in this process and over gRPC with health, and reflection where strangers may call."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

import grpc
import grpc.aio
from google.protobuf.message import DecodeError
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc.call import Caller, CallerValue, Settle, bind_deadline, unbind_deadline
from lakeward_servicekit.rpc.client import Channel
from lakeward_servicekit.rpc.draining import UnderWay, stop
from lakeward_servicekit.rpc.health import Checks
from lakeward_servicekit.rpc.inprocess import InProcessChannel
from lakeward_servicekit.rpc.lanes import Asked, Questions
from lakeward_servicekit.rpc.methods import MAX_FRAME_BYTES, MUCH, REST, MethodRule, rules_of_service
from lakeward_servicekit.rpc.origin import Audit
from lakeward_servicekit.rpc.pipeline import Method, fill_context
from lakeward_servicekit.rpc.status import DETAILS_KEY, code_of, details_of
from lakeward_servicekit.rpc.streams import OpenStreams, StreamMethod
from lakeward_servicekit.telemetry import incoming

_PROBE_SECONDS = 2.0
# What may stand once: which of two is meant would be a guess, and a proxy in front may have guessed otherwise.
_SINGLE = frozenset({"authorization", "idempotency-key", "x-assume-role", "x-project-id"})


class Workloads(Protocol):
    """Says which service a call comes from."""

    def caller_of(self, metadata: Mapping[str, str], peer_names: Iterable[str]) -> CallerValue:
        """The service that proved itself, by a workload token or a certificate's names; CALLER_USER where none tried.

        Raises:
            Refusal: WORKLOAD_REFUSED, for a proof that does not hold.
        """
        ...


class NoWorkloads:
    """Takes every call over the wire for a user's: nothing is configured that could prove otherwise."""

    def caller_of(self, metadata: Mapping[str, str], peer_names: Iterable[str]) -> CallerValue:
        """CALLER_USER, whatever the call claims."""
        del metadata, peer_names
        return Caller.CALLER_USER


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class ServerSecurity:
    """TLS of a listener.

    Attributes:
        certificate: PEM of the certificate and its chain.
        key: PEM of its key.
        client_ca: PEM of the authorities for clients' certificates; None: clients need none. With it every caller needs one,
            Envoy too: Python's gRPC can't ask for a certificate without demanding it.
    """

    certificate: bytes
    key: bytes
    client_ca: bytes | None


class Host:
    """The methods of one service.

    Args:
        name: the service's name, as "catalog".
        settle: says who the users are whom its methods act for, before they run; None: none of them acts for any.
        read_only: whether mutations are refused, for maintenance.
        reflects: whether it tells strangers which methods it has, as a service does that has a route from outside.
        audit: hears of every call that its methods answer for a user; None: nobody does.
    """

    def __init__(
        self,
        name: str,
        *,
        settle: Settle[object] | None = None,
        read_only: bool = False,
        reflects: bool = False,
        audit: Audit | None = None,
    ) -> None:
        """Start empty; see the class."""
        self.name = name
        self._settle = settle
        self._reflects = reflects
        self._read_only = read_only
        self._audit = audit
        self._methods: dict[str, Method | StreamMethod] = {}
        self._registrations: list[Callable[[Any], None]] = []
        self._services: list[str] = []
        self._probes: dict[str, Callable[[], Awaitable[None]]] = {}

    @property
    def methods(self) -> Mapping[str, Method | StreamMethod]:
        """The hosted methods by path."""
        return self._methods

    def add(self, register: Callable[[Any, Any], None], servicer: object) -> None:
        """Host a servicer.

        Args:
            register: the generated `add_XServicer_to_server`.
            servicer: what it takes.

        Raises:
            ValueError: a method of it acts for users, and the host has nothing that settles who they are; or a method's rule does
                not say whom it acts for.
        """
        register(servicer, _Collector(self))

    def add_probe(self, name: str, ping: Callable[[], Awaitable[None]]) -> None:
        """Name something that serving needs; `ping` raises Refusal where it is away."""
        self._probes[name] = ping

    async def probe(self) -> Mapping[str, bool]:
        """Whether each thing that serving needs is there, by name."""
        return dict(zip(self._probes, await asyncio.gather(*map(_answers, self._probes.values())), strict=True))

    def channel(self, *, caller: CallerValue) -> Channel:
        """A channel into this process, for a caller that the composition vouches for."""
        return InProcessChannel(self._methods, caller=caller)

    @asynccontextmanager
    async def serve(
        self,
        listen: str,
        *,
        security: ServerSecurity | None = None,
        workloads: Workloads | None = None,
        max_concurrent: int = 4096,
    ) -> AsyncIterator[int]:
        """Serve over gRPC until the block ends; then say not-serving, and drain.

        Args:
            listen: "host:port"; port 0 takes a free one.
            security: TLS; None: cleartext.
            workloads: recognises services; None: every caller counts as a user.
            max_concurrent: calls under way at once; more are refused before any work.

        Yields:
            The port.
        """
        server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", MAX_FRAME_BYTES),
                ("grpc.max_send_message_length", MAX_FRAME_BYTES),
                ("grpc.so_reuseport", 0),
                ("grpc.keepalive_permit_without_calls", 1),
                ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
            ],
            maximum_concurrent_rpcs=max_concurrent,
        )
        wire = _Wire(self._methods, workloads or NoWorkloads())
        for registration in self._registrations:
            registration(wire.registrar(server))
        checks = Checks(self.probe, self._services)
        health_pb2_grpc.add_HealthServicer_to_server(checks, server)
        if self._reflects:
            health = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
            reflection.enable_server_reflection([*self._services, health, reflection.SERVICE_NAME], server)
        port = _bind(server, listen, security)
        await server.start()
        await checks.look()
        watching = asyncio.create_task(checks.watch())
        try:
            yield port
        finally:
            watching.cancel()
            await checks.enter_graceful_shutdown()
            wire.drain()
            await stop(server, wire.under_way)

    def collect(self, service: str, handlers: Mapping[str, Any], registration: Callable[[Any], None]) -> None:
        """Take a generated registration in; called by the collector."""
        rules = rules_of_service(service)
        for name, handler in handlers.items():
            path = f"/{service}/{name}"
            rule = rules[path]
            self._methods[path] = (
                StreamMethod(rule, handler.unary_stream, settle=self._settle, audit=self._audit)
                if rule.streams
                else Method(
                    rule, handler.unary_unary, read_only=self._read_only, settle=self._settle, audit=self._audit
                )
            )
        self._services.append(service)
        self._registrations.append(registration)


async def _answers(ping: Callable[[], Awaitable[None]]) -> bool:
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            await ping()
    except (Refusal, TimeoutError):
        return False
    return True


def _bind(server: grpc.aio.Server, listen: str, security: ServerSecurity | None) -> int:
    if security is None:
        return server.add_insecure_port(listen)
    credentials = grpc.ssl_server_credentials(
        [(security.key, security.certificate)],
        root_certificates=security.client_ca,
        require_client_auth=security.client_ca is not None,
    )
    return server.add_secure_port(listen, credentials)


class _Collector:
    """Stands in for a server while generated code registers a servicer, and keeps what it registers."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def add_generic_rpc_handlers(self, handlers: Iterable[Any]) -> None:
        """Generated code calls this first; the second call has all that is needed."""

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Any]) -> None:
        def registration(server: Any) -> None:  # noqa: ANN401 - a grpc server or what stands before it
            server.register(service, handlers)

        self._host.collect(service, handlers, registration)


class _Wire:
    """The methods as gRPC handlers: proof of the caller, deadline, correlation, and refusals as statuses."""

    def __init__(self, methods: Mapping[str, Method | StreamMethod], workloads: Workloads) -> None:
        self._methods = methods
        self._workloads = workloads
        self._questions = Questions()
        self._streams = OpenStreams()
        self.under_way = UnderWay()

    def registrar(self, server: grpc.aio.Server) -> _Registrar:
        return _Registrar(server, self)

    def drain(self) -> None:
        """Have calls end that would stay open."""
        self._questions.end()
        self._streams.end()

    def handler(self, path: str, original: Any) -> grpc.RpcMethodHandler[Any, Any]:  # noqa: ANN401 - generated handler
        method = self._methods[path]
        if isinstance(method, StreamMethod):
            return grpc.unary_stream_rpc_method_handler(
                self._streamed(method),
                request_deserializer=original.request_deserializer,
                response_serializer=original.response_serializer,
            )
        if method.rule.stays_open:
            # of bytes, which are read and written where questions are: see `lanes.Asked`
            return grpc.stream_stream_rpc_method_handler(self._answers(method, original))
        # of bytes as well: how many there are says whether they are read in a turn of their own
        return grpc.unary_unary_rpc_method_handler(
            self._answer(method, _reader(original, method.rule)), response_serializer=original.response_serializer
        )

    def _answer(self, method: Method, read: Callable[[bytes], Any]) -> Callable[[Any, Any], Awaitable[Any]]:
        """Answers a call's one question."""

        async def answer(sent: bytes, context: grpc.aio.ServicerContext[Any, Any]) -> Any:  # noqa: ANN401
            request: Any = None
            try:
                # gRPC has copied it, reading copies it, and so does who takes a body out of it: each in a turn of the loop
                much = len(sent) > MUCH
                if much:
                    await asyncio.sleep(REST)
                request = read(sent)
                del sent
                if much:
                    await asyncio.sleep(REST)
                return await self._answered(method, request, context, _by_key(_text_metadata(context)))
            except Refusal as refusal:
                aborting = _abort(context, refusal)
            # gRPC keeps the exception that this raises with the call, so the call must not be in reach of its frames: a request
            # that was refused would stay, large as it may be, until the garbage collector comes by.
            del request, context
            return await aborting

        return answer

    def _answers(self, method: Method, original: Any) -> Callable[[Any, Any], Awaitable[None]]:  # noqa: ANN401 - generated handler
        """Answers one question of a call after the other; on the wire a call with one question is one of them."""

        async def answer(_: object, context: grpc.aio.ServicerContext[Any, Any]) -> None:
            request: Any = None
            asked: Asked | None = None
            answered = False
            try:
                metadata = _by_key(_text_metadata(context))
                asked = Asked(
                    self._questions,
                    context,
                    read=_reader(original, method.rule),
                    write=original.response_serializer,
                )
                request = await asked.first()
                while request is not grpc.aio.EOF:
                    request = await asked.next(await self._answered(method, request, context, metadata))
                    answered = True
            except Refusal as refusal:
                aborting = _abort(context, refusal)
            else:
                if answered or not self._questions.draining:
                    return
                # An end without an answer would be taken for one; by this status the question is asked again, elsewhere.
                aborting = context.abort(grpc.StatusCode.UNAVAILABLE, "the server is about to end; ask another one")
            del request, context, asked  # as above
            await aborting

        return answer

    async def _answered(
        self,
        method: Method,
        request: Any,  # noqa: ANN401 - any message of the contract
        context: grpc.aio.ServicerContext[Any, Any],
        metadata: Mapping[str, str],
    ) -> Any:  # noqa: ANN401 - any message of the contract
        left: float | None = context.time_remaining()
        deadline = bind_deadline(method.rule.seconds if left is None else left)
        try:
            caller = self._known(method.rule, request, context, metadata)
            with self.under_way, incoming(metadata.get("x-request-id"), metadata.get("traceparent")):
                return await method(request, caller)
        finally:
            unbind_deadline(deadline)

    def _streamed(self, method: StreamMethod) -> Callable[[Any, Any], Awaitable[None]]:
        """Answers a call by messages, each once the one before is on its way."""

        async def answer(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> None:  # noqa: ANN401
            try:
                metadata = _by_key(_text_metadata(context))
                bind_deadline(context.time_remaining())  # the task, and its context, end with the call
                caller = self._known(method.rule, request, context, metadata)
                with self.under_way, incoming(metadata.get("x-request-id"), metadata.get("traceparent")):
                    await self._streams.carry(method(request, caller), context.write)
            except Refusal as refusal:
                await _abort(context, refusal)

        return answer

    def _known(
        self,
        rule: MethodRule,
        request: Any,  # noqa: ANN401 - any message of the contract
        context: grpc.aio.ServicerContext[Any, Any],
        metadata: Mapping[str, str],
    ) -> CallerValue:
        """Who calls; the request's context has then all that the call says."""
        caller = self._workloads.caller_of(metadata, _peer_names(context))
        if rule.has_context:
            fill_context(request, metadata)
            if caller == Caller.CALLER_USER:  # who calls by itself does not say from where
                request.context.client_address = _address_of(context.peer())
        return caller


class _Registrar:
    def __init__(self, server: grpc.aio.Server, wire: _Wire) -> None:
        self._server = server
        self._wire = wire

    def register(self, service: str, handlers: Mapping[str, Any]) -> None:
        wrapped = {name: self._wire.handler(f"/{service}/{name}", handler) for name, handler in handlers.items()}
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, wrapped),))


def _reader(original: Any, rule: MethodRule) -> Callable[[bytes], Any]:  # noqa: ANN401 - generated handler
    """Makes a message of a request's bytes; raises Refusal MALFORMED_DOCUMENT of what is none."""
    deserialize: Callable[[bytes], Any] = original.request_deserializer

    def read(sent: bytes) -> Any:  # noqa: ANN401 - any message of the contract
        try:
            return deserialize(sent)
        except DecodeError as error:
            raise Refusal(
                Reason.REASON_MALFORMED_DOCUMENT,
                f"the request of {len(sent)} bytes is no message that {rule.path} takes: {error}; make stubs of its contract",
                path="",
            ) from error

    return read


def _abort(context: grpc.aio.ServicerContext[Any, Any], refusal: Refusal) -> Awaitable[Any]:
    trailing = [(DETAILS_KEY, details_of(refusal))]
    if refusal.reason == Reason.REASON_OVERLOADED:
        trailing.append(("retry-after", b"1"))
    return context.abort(code_of(refusal), refusal.message, tuple(trailing))


def _text_metadata(context: grpc.aio.ServicerContext[Any, Any]) -> Iterable[tuple[str, str]]:
    received: Iterable[tuple[str, str | bytes]] = context.invocation_metadata() or ()
    return ((key, value) for key, value in received if isinstance(value, str))


def _by_key(pairs: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Metadata by key.

    Raises:
        Refusal: DUPLICATE_HEADER, for what may stand once.
    """
    found: dict[str, str] = {}
    for key, value in pairs:
        if key in _SINGLE and key in found:
            raise Refusal(Reason.REASON_DUPLICATE_HEADER, f"{key} stands more than once; send one", header=key)
        found[key] = value
    return found


def _address_of(peer: str) -> str:
    """The address in gRPC's word for a peer, as "ipv4:192.0.2.1:50051" or "ipv6:%5B2001:db8::1%5D:50051"."""
    family, _, rest = peer.partition(":")
    if family not in {"ipv4", "ipv6"}:
        return ""
    return rest.rpartition(":")[0].replace("%5B", "").replace("%5D", "").strip("[]")


def _peer_names(context: grpc.aio.ServicerContext[Any, Any]) -> tuple[str, ...]:
    authentication = context.auth_context()
    return tuple(name.decode() for name in authentication.get("x509_subject_alternative_name", ()))
