"""Headers to RequestContext, once a request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from lakeward_gateway.forwarded import Links, Proxies
from lakeward_gateway.http import Header, Scope
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.keeping import Kept
from lakeward_servicekit.rpc.pipeline import idempotency_key
from lakeward_servicekit.telemetry import current, spans

_SINGLE: Final = frozenset(
    {
        b"authorization",
        b"content-encoding",
        b"content-length",
        b"content-type",
        b"host",
        b"idempotency-key",
        b"x-assume-role",
        b"x-lakeward-signer-scope",
        b"x-project-id",
        b"x-project-ident",
    }
)
# What shapes a context beside what names a request, its caller or its change: a client sends these alike again and again.
_SHAPING: Final = (
    b"host",
    b"user-agent",
    b"x-iceberg-access-delegation",
    b"x-forwarded-for",
    b"x-forwarded-host",
    b"x-forwarded-proto",
    b"x-forwarded-port",
    b"x-forwarded-prefix",
)
_SHAPES: Final = 4096
_SHAPES_BYTES: Final = 1 << 20
_SHAPE_MAX: Final = 1024
_MAX_REQUEST_ID: Final = 128
_MAX_USER_AGENT: Final = 256
_DELEGATIONS: Final = {
    b"vended-credentials": context_pb2.DELEGATION_VENDED_CREDENTIALS,
    b"remote-signing": context_pb2.DELEGATION_REMOTE_SIGNING,
    b"client-managed": context_pb2.DELEGATION_CLIENT_MANAGED,
}


def headers_by_name(lines: Sequence[Header]) -> Mapping[bytes, bytes]:
    """Headers by name; the lines of one name are joined by commas.

    Args:
        lines: names in lower case.

    Raises:
        Refusal: DUPLICATE_HEADER, for one that may stand once.
    """
    headers = dict(lines)
    if len(headers) == len(lines):
        return headers
    joined: dict[bytes, bytes] = {}
    for name, value in lines:
        if name not in joined:
            joined[name] = value
        elif name in _SINGLE:
            header = name.decode("latin-1")
            raise Refusal(Reason.REASON_DUPLICATE_HEADER, f"{header} stands more than once; send one", header=header)
        else:
            joined[name] += b"," + value
    return joined


class Contexts:
    """Makes the context of each request.

    Args:
        links: finds the base of links.
        new_id: makes a request id, where none that can be used came along.
        proxies: say which client a request comes from.
    """

    def __init__(self, *, links: Links, new_id: Callable[[], str], proxies: Proxies) -> None:
        """See the class."""
        self._links: Final = links
        self._new_id: Final = new_id
        self._proxies: Final = proxies
        # by the connection's scheme and peer, and by headers; each a message to begin with
        self._shapes: Final = Kept[tuple[str | bytes | None, ...], context_pb2.RequestContext](
            _SHAPES, size=_SHAPES_BYTES
        )

    def request_id(self, headers: Mapping[bytes, bytes]) -> str:
        """The client's own id where it can be a line in a log, else a new one."""
        given = headers.get(b"x-request-id")
        if given and len(given) <= _MAX_REQUEST_ID and given.isascii():
            text = given.decode("ascii")
            if text.isprintable():
                return text
        return self._new_id()

    def of(self, scope: Scope, headers: Mapping[bytes, bytes], *, request_id: str) -> context_pb2.RequestContext:
        """The context of a request.

        Args:
            scope: of ASGI.
            headers: by name.
            request_id: see `request_id`.
        """
        get = headers.get
        # fields one by one: naming all of them in the constructor costs five times as much, and most are not given
        context = context_pb2.RequestContext()
        shaping = (scope["scheme"], peer_of(scope), *map(get, _SHAPING))
        context.CopyFrom(self._shapes.look(shaping) or self._shape(shaping, headers))
        context.request_id = request_id
        if value := get(b"authorization"):
            context.authorization = _text(value)
        if value := (get(b"x-project-id") or get(b"x-project-ident")):
            context.project_id = _text(value)
        if (value := get(b"idempotency-key")) is not None:
            context.idempotency_key = idempotency_key(_text(value))
        if spans.recording:
            correlation = current()
            context.traceparent = "" if correlation is None else correlation.traceparent
        elif value := get(b"traceparent"):
            context.traceparent = _text(value)
        if value := get(b"x-assume-role"):
            context.assumed_role = _text(value)
        return context

    def _shape(
        self, shaping: tuple[str | bytes | None, ...], headers: Mapping[bytes, bytes]
    ) -> context_pb2.RequestContext:
        """A context of what `shaping` says, which stands in `headers` as well; kept, unless it is longer than honest ones."""
        scheme, peer = shaping[:2]
        assert isinstance(scheme, str)
        assert not isinstance(peer, bytes)
        shape = context_pb2.RequestContext()
        shape.base_uri = self._links.base(scheme, peer, headers)
        if address := self._proxies.address_of(peer, headers):
            shape.client_address = address
        if value := headers.get(b"user-agent"):
            shape.user_agent = _user_agent(value)
        if value := headers.get(b"x-iceberg-access-delegation"):
            shape.delegation.extend(_delegation(value))
        size = sum(len(each) for each in shaping if each)
        if size <= _SHAPE_MAX:
            self._shapes.put(shaping, shape, size=size)
        return shape


def peer_of(scope: Scope) -> str | None:
    """Address of the connection's other end; None where it has none."""
    client = scope.get("client")
    return client[0] if client else None


def _text(value: bytes) -> str:
    return value.decode("latin-1").strip()


def _user_agent(value: bytes) -> str:
    cut = value[:_MAX_USER_AGENT].decode("utf-8", "replace")
    while len(cut.encode()) > _MAX_USER_AGENT:
        cut = cut[:-1]
    return cut


def _delegation(value: bytes) -> tuple[context_pb2.Delegation.ValueType, ...]:
    """The words that are known; case counts, and what is unknown says nothing."""
    words = (word.strip() for word in value.split(b","))
    return tuple(dict.fromkeys(_DELEGATIONS[word] for word in words if word in _DELEGATIONS))
