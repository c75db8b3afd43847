"""A request and a response, as the handlers of dialects see them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import msgspec

from lakeward_gateway.query import Query, parse_query
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.rpc.methods import MUCH, REST

_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")
Header: TypeAlias = tuple[bytes, bytes]
Scope: TypeAlias = Mapping[str, Any]
Message: TypeAlias = Mapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

JSON_TYPE: Final[Header] = (b"content-type", b"application/json")
_NO_QUERY: Final[Query] = {}
_encoder: Final = msgspec.json.Encoder()
encode: Final = _encoder.encode


class Request:
    """One request, read: nothing below this line looks at bytes of HTTP again.

    Plain slots instead of a frozen dataclass: one is made for every request, and freezing triples what that costs. Nothing
    but `take_body` changes one after it was made.

    Attributes:
        method: upper case.
        raw_path: the path as it came, percent-encoded.
        query_string: what stood behind the "?", as it came.
        arguments: what stood at the path template's parameters, percent-decoded, in the order of the template.
        headers: by lower-case name; lines of one name are joined by commas.
        context: what goes along with every call.
        takes_gzip: whether the client accepts a gzipped body.
        body: inflated; empty where the operation takes none, and once it was taken.
    """

    __slots__ = (
        "__dict__",
        "_took_much",
        "arguments",
        "body",
        "context",
        "headers",
        "method",
        "query_string",
        "raw_path",
        "takes_gzip",
    )

    def __init__(  # noqa: PLR0913 - the parts of a request, each by its name
        self,
        *,
        method: str,
        raw_path: bytes,
        arguments: Sequence[str],
        query_string: bytes,
        headers: Mapping[bytes, bytes],
        context: context_pb2.RequestContext,
        takes_gzip: bool,
        body: bytes,
    ) -> None:
        """See the class."""
        self.method: Final = method
        self.raw_path: Final = raw_path
        self.arguments: Final = arguments
        self.headers: Final = headers
        self.context: Final = context
        self.takes_gzip: Final = takes_gzip
        self.body = body
        self._took_much = False
        self.query_string: Final = query_string

    def take_body(self) -> bytes:
        """The body, for a message that carries it on: from then on it is held there alone, and not here as well."""
        body, self.body = self.body, b""
        self._took_much = len(body) > MUCH
        return body

    async def carried(self, call: Callable[[_Asked], Awaitable[_Answer]], message: _Asked) -> _Answer:
        """What a call answers whose message has the body that was taken for it.

        To copy 32 MB stops the loop for 15 ms, as long as it may: of a large body, whoever is called copies it in another turn
        than the message did.
        """
        if self._took_much:
            await asyncio.sleep(REST)
        asking = call(message)
        del message  # it is the call's alone
        return await asking

    @property
    def query(self) -> Query:
        """The query's values by name; parsed each time, so handlers ask once.

        Raises:
            Refusal: INVALID_FIELD, for an escape that does not hold or text that is not UTF-8.
        """
        return parse_query(self.query_string) if self.query_string else _NO_QUERY


class Response:
    """One response.

    Attributes:
        status: of HTTP.
        headers: without those that every reply has; content-length is set from the body.
        body: as it goes out; empty for 204 and 304.
        encoded: whether the body has its content encoding already.
        cacheable: whether the client may use the reply again; None: where it revalidates, as every reply says by itself.
        repeated: whether this very object answers many requests, all of one operation.
        lines: of one that is repeated: what its head says each time, as it is printed; None until it was sent once.
    """

    __slots__ = ("body", "cacheable", "encoded", "headers", "lines", "repeated", "status")

    def __init__(
        self,
        status: int,
        *,
        headers: Sequence[Header] = (),
        body: bytes = b"",
        encoded: bool = False,
        cacheable: bool | None = None,
        repeated: bool = False,
    ) -> None:
        """See the class."""
        self.status: Final = status
        self.headers: Final = headers
        self.body: Final = body
        self.encoded: Final = encoded
        self.cacheable: Final = cacheable
        self.repeated: Final = repeated
        self.lines: bytes | None = None


class Handler(Protocol):
    """Answers one operation. Raises Refusal; nothing else."""

    def __call__(self, request: Request, /) -> Awaitable[Response]:
        """The answer."""
        ...


NO_CONTENT: Final = Response(204)
_JSON_HEADERS: Final = (JSON_TYPE,)


def json_response(document: object, *, status: int = 200, headers: Sequence[Header] = ()) -> Response:
    """A response with a JSON body.

    Args:
        document: what msgspec can encode.
        status: of HTTP.
        headers: beside the content type.
    """
    return Response(status, headers=(JSON_TYPE, *headers) if headers else _JSON_HEADERS, body=encode(document))
