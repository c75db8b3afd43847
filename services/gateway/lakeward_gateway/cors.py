"""What browsers are told about other origins: nothing, unless origins are configured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from lakeward_gateway.http import Header, Response

_METHODS: Final = b"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
_HEADERS: Final = (
    b"authorization, content-type, accept, user-agent, x-project-id, x-request-id, if-none-match, x-user-agent, "
    b"x-iceberg-access-delegation, idempotency-key, x-assume-role, x-lakeward-signer-scope, traceparent"
)
_EXPOSED: Final = b"etag, x-request-id, retry-after, www-authenticate"
_MAX_AGE: Final = b"600"


class Cors:
    """Answers browsers' questions.

    Args:
        origins: that may call; "*" lets every one.
    """

    def __init__(self, origins: Sequence[str]) -> None:
        """See the class."""
        self._every: Final = "*" in origins
        self._origins: Final = frozenset(origin.strip().rstrip("/").encode() for origin in origins)

    def headers(self, request_headers: Mapping[bytes, bytes]) -> Sequence[Header]:
        """What every reply to another origin carries; nothing for an origin that may not call."""
        allowed = self._allowed(request_headers)
        if allowed is None:
            return ()
        return ((b"access-control-allow-origin", allowed), (b"access-control-expose-headers", _EXPOSED))

    def preflight(self, request_headers: Mapping[bytes, bytes]) -> Response:
        """The reply to a browser that asks before it calls. The origin itself is in `headers`, as in every reply."""
        if self._allowed(request_headers) is None:
            return Response(204)
        return Response(
            204,
            headers=(
                (b"access-control-allow-methods", _METHODS),
                (b"access-control-allow-headers", _HEADERS),
                (b"access-control-max-age", _MAX_AGE),
            ),
        )

    def _allowed(self, request_headers: Mapping[bytes, bytes]) -> bytes | None:
        origin = request_headers.get(b"origin")
        if origin is None:
            return None
        if self._every:
            return b"*"
        return origin if origin in self._origins else None
