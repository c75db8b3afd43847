"""The gateway as an ASGI application: limits, routing, correlation, one answer for every request."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus
from time import perf_counter
from typing import Final, cast

from lakeward_gateway.body import Arriving, Bodies, ClientGone, LateBody
from lakeward_gateway.connections import Connections
from lakeward_gateway.context import Contexts, headers_by_name, peer_of
from lakeward_gateway.cors import Cors
from lakeward_gateway.counting import Counts
from lakeward_gateway.cycle import Replying, lines_of
from lakeward_gateway.deadlines import Deadlines
from lakeward_gateway.encoding import GZIP, WORTHWHILE, gzipped, takes_gzip
from lakeward_gateway.errors import ErrorStyle, Rendering, Renderings, no_such_route, rendered
from lakeward_gateway.http import Header, Receive, Request, Response, Scope, Send
from lakeward_gateway.memory import Holding
from lakeward_gateway.metering import Meter, Meters
from lakeward_gateway.operation import Operation
from lakeward_gateway.router import Router
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc.call import bind_deadline, unbind_deadline
from lakeward_servicekit.starts import Starts
from lakeward_servicekit.telemetry import bind_incoming, spans, unbind_incoming

_log = logging.getLogger(__name__)

VARY: Final = b"authorization, x-project-id, x-iceberg-access-delegation, x-assume-role, accept-encoding"
_CACHE_CONTROL: Final[Mapping[bool, Header]] = {
    True: (b"cache-control", b"private"),
    False: (b"cache-control", b"no-cache"),
}
_BODILESS: Final = frozenset({204, 304})
# A body that did not arrive is the client's, and nothing was done: not the 5xx of an answer that did not come.
_LATE: Final[Renderings] = {Reason.REASON_DEADLINE_EXCEEDED: Rendering(408, "RequestTimeout")}


class Application:
    """Serves operations. Made in the loop that it runs in.

    Args:
        operations: what is served.
        renderings: how refusals are shown that come before an operation is known.
        contexts: makes each request's context.
        bodies: reads each request's body.
        connections: how many connections a server that serves this keeps.
        cors: what browsers are told; None: nothing.
        max_time: that a request's body may take to arrive, and its answer after that.
        max_in_flight: requests under way at once; more are refused before any work.
        new_id: makes ids of faults.
        counts: takes each answer; None: nobody counts.
        error_styles: of APIs that have an own form of errors, by what their paths begin with.

    Attributes:
        starts: when the requests begin that such a server reads.
    """

    def __init__(  # noqa: PLR0913 - the parts of the application, each by its name
        self,
        operations: Iterable[Operation],
        *,
        renderings: Renderings,
        contexts: Contexts,
        bodies: Bodies,
        connections: Connections,
        starts: Starts,
        cors: Cors | None,
        max_time: timedelta,
        max_in_flight: int,
        new_id: Callable[[], str],
        counts: Counts | None = None,
        error_styles: Mapping[bytes, ErrorStyle] | None = None,
    ) -> None:
        """See the class."""
        self._router: Final[Router[Operation]] = Router()
        served = list(operations)
        for operation in served:
            self._router.add(operation.method, operation.path, operation)
        self._meters: Final = Meters(served)
        self._renderings: Final = renderings
        self._contexts: Final = contexts
        self._bodies: Final = bodies
        self.connections: Final = connections
        self.starts: Final = starts
        self._cors: Final = cors
        self._vary: Final[Header] = (b"vary", VARY + b", origin" if cors else VARY)
        self._common: Final[Sequence[Header]] = (self._vary, _CACHE_CONTROL[True])
        self._seconds: Final = max_time.total_seconds()
        self._deadlines: Final = Deadlines(self._seconds)
        self._max_in_flight: Final = max_in_flight
        self._new_id: Final = new_id
        self._counts: Final = counts
        self._error_styles: Final = error_styles or {}
        self._in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Websockets are turned away; the lifespan is whoever made this application's."""
        if scope["type"] != "http":
            await _decline(scope, receive, send)
            return
        began = perf_counter()
        operation: Operation | None = None
        meter: Meter | None = None
        arguments: Sequence[str] = ()
        lines: Sequence[Header] = scope["headers"]
        headers: Mapping[bytes, bytes] = dict(lines)
        request_id = self._contexts.request_id(headers)
        bound = bind_incoming(request_id, _traceparent(headers))
        try:
            if len(headers) != len(lines):
                headers = headers_by_name(lines)
            operations, arguments = self._find(scope["raw_path"])
            operation = operations.get(scope["method"])
            if operation is None:
                response = self._unserved(scope, operations, headers)
            else:
                meter = self._meters.of(operation)
                meter.pending.value += 1
                answer = self._traced if spans.recording else self._answer
                response = await answer(
                    operation, arguments, scope=scope, headers=headers, request_id=request_id, receive=receive
                )
        except ClientGone:
            return
        except Refusal as refusal:
            response = self._refused(refusal, operation, scope["raw_path"])
        finally:
            if meter is not None:
                meter.pending.value -= 1
            unbind_incoming(bound)
        (meter or self._meters.unmatched(scope["method"])).answered(response.status, perf_counter() - began)
        if self._counts is not None and operation is not None:
            self._counts.add(operation, arguments, scope["query_string"], headers, response.status)
        await self._send(response, operation, headers, request_id, send)

    async def _traced(
        self,
        operation: Operation,
        arguments: Sequence[str],
        *,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        request_id: str,
        receive: Receive,
    ) -> Response:
        """`_answer`, and its span. Its name and attributes are of the route: paths and queries are the caller's."""
        known = {
            "http.request.method": operation.method,
            "http.route": operation.path,
            "lakeward.request_id": request_id,
        }
        with spans.span(f"{operation.method} {operation.path}", kind="server", attributes=known) as told:
            try:
                response = await self._answer(
                    operation, arguments, scope=scope, headers=headers, request_id=request_id, receive=receive
                )
            except Refusal as refusal:
                response = self._refused(refusal, operation, scope["raw_path"])
            told.set("http.response.status_code", response.status)
            if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                told.fail()
            return response

    def _refused(self, refusal: Refusal, operation: Operation | None, raw_path: bytes) -> Response:
        style = next((style for begin, style in self._error_styles.items() if raw_path.startswith(begin)), None)
        document, renderings = None, self._renderings
        if style is not None:
            document, renderings = style.document, style.renderings
        if operation is not None:
            renderings = operation.renderings
        if isinstance(refusal, LateBody):
            renderings = _LATE
        return rendered(refusal, renderings, new_id=self._new_id, document=document)

    def _find(self, raw_path: bytes) -> tuple[Mapping[str, Operation], Sequence[str]]:
        operations, arguments = self._router.find(raw_path)
        if not operations:
            path = raw_path.decode("latin-1")
            hint = f"; the Iceberg REST API is at /catalog{path}" if path.startswith("/v1/") else ""
            raise no_such_route(path, hint=hint)
        return operations, arguments

    async def _answer(
        self,
        operation: Operation,
        arguments: Sequence[str],
        *,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        request_id: str,
        receive: Receive,
    ) -> Response:
        """What the operation answers; raises Refusal alone, whatever went wrong, or ClientGone."""
        self._check_room(operation)
        deadline = bind_deadline(self._seconds)
        holding: Holding | None = None
        flying = 0
        try:
            context = self._contexts.of(scope, headers, request_id=request_id)
            body = b""
            if operation.body is not None:
                holding = self._bodies.holding()
                body = await self._body(receive, Arriving(headers, context, peer_of(scope), holding))
                self._check_room(operation)
            # Under way from here on: while its body arrives, a request takes a place among bodies only.
            self._in_flight += 1
            flying = 1
            request = Request(
                method=operation.method,
                raw_path=scope["raw_path"],
                arguments=arguments,
                query_string=scope["query_string"],
                headers=headers,
                context=context,
                takes_gzip=b"accept-encoding" in headers and takes_gzip(headers[b"accept-encoding"]),
                body=body,
            )
            del body  # it is the request's, who may pass it on
            return await self._deadlines.within(operation.handler(request))
        except (Refusal, ClientGone, asyncio.CancelledError):
            raise
        except TimeoutError as error:
            raise Refusal(
                Reason.REASON_DEADLINE_EXCEEDED,
                f"the request was not answered within {self._seconds:g} s; whether a change was made is not known",
            ) from error
        except Exception as error:  # the edge: what reaches it is a fault of ours, which the client gets an id of
            error_id = self._new_id()
            _log.exception("a handler failed", extra={"operation": operation.id, "error_id": error_id})
            raise Refusal(
                Reason.REASON_INTERNAL,
                f"an internal error happened; the log has it under {error_id}",
                error_id=error_id,
            ) from error
        finally:
            self._in_flight -= flying
            if holding is not None:
                holding.release()
            unbind_deadline(deadline)

    def _check_room(self, operation: Operation) -> None:
        if self._in_flight >= self._max_in_flight and not operation.bare:
            raise Refusal(
                Reason.REASON_OVERLOADED,
                f"{self._max_in_flight} requests are under way, and more are not taken; retry after a pause",
            )

    async def _body(self, receive: Receive, arriving: Arriving) -> bytes:
        try:
            return await self._deadlines.within(self._bodies.read(receive, arriving))
        except TimeoutError as error:
            raise LateBody(f"arrive within {self._seconds:g} s") from error

    def _unserved(self, scope: Scope, operations: Mapping[str, Operation], headers: Mapping[bytes, bytes]) -> Response:
        method: str = scope["method"]
        if method == "OPTIONS" and self._cors is not None and b"access-control-request-method" in headers:
            return self._cors.preflight(headers)
        allowed = ", ".join(sorted(operations))
        raise Refusal(
            Reason.REASON_METHOD_NOT_ALLOWED,
            f"{method} is not served at this path; {allowed} {'is' if len(operations) == 1 else 'are'}",
            method=method,
            allowed=allowed,
        )

    async def _send(
        self,
        response: Response,
        operation: Operation | None,
        request_headers: Mapping[bytes, bytes],
        request_id: str,
        send: Send,
    ) -> None:
        named = (b"x-request-id", request_id.encode())
        body = response.body
        server = cast("Replying", send) if hasattr(send, "reply") else None  # our own takes it whole; see `Cycle`
        if (
            server is not None
            and response.lines is not None
            and (response.encoded or len(body) < WORTHWHILE or b"accept-encoding" not in request_headers)
        ):
            await server.reply(response.status, (named,), body, response.lines)
            return
        headers = [*response.headers, named]
        if response.status not in _BODILESS:
            if len(body) >= WORTHWHILE and not response.encoded and b"accept-encoding" in request_headers:
                smaller = await self._smaller(body, request_headers)
                if smaller is not None:
                    body = smaller
                    headers.append(GZIP)
            headers.append((b"content-length", b"%d" % len(body)))
        if operation is None or not operation.bare:
            headers += self._common if response.cacheable is None else (self._vary, _CACHE_CONTROL[response.cacheable])
        if self._cors is not None:
            headers.extend(self._cors.headers(request_headers))
        if server is not None:
            if response.repeated and body is response.body and self._cors is None:
                response.lines = lines_of([each for each in headers if each is not named])
            await server.reply(response.status, headers, body)
            return
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    @staticmethod
    async def _smaller(body: bytes, request_headers: Mapping[bytes, bytes]) -> bytes | None:
        return await gzipped(body) if takes_gzip(request_headers[b"accept-encoding"]) else None


def _traceparent(headers: Mapping[bytes, bytes]) -> str | None:
    value = headers.get(b"traceparent")
    return None if value is None else value.decode("latin-1")


async def _decline(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1000})
    elif scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return
