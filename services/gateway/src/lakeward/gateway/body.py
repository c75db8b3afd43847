"""Reads request bodies, within the limits of one and of all together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lakeward.gateway.encoding import decoded, too_large
from lakeward.gateway.http import Receive
from lakeward.servicekit.errors import Reason, Refusal

_LENGTH_DIGITS_MAX: Final = 18


class ClientGone(Exception):  # noqa: N818 - what happened, not whose fault it is
    """The client closed the connection before its request was complete."""


class LateBody(Refusal):
    """A body did not arrive in time."""

    def __init__(self, seconds: float) -> None:
        """After so many seconds."""
        super().__init__(
            Reason.REASON_DEADLINE_EXCEEDED,
            f"the request's body did not arrive within {seconds:g} s; nothing was done, send it again",
        )


class Bodies:
    """Reads bodies. What is left unread after a refusal, the server below reads and drops once the reply is sent.

    Args:
        limit: bytes of one body, as sent and once inflated.
        total: bytes of all bodies that are being read at once; more is refused as overload.
    """

    def __init__(self, *, limit: int, total: int) -> None:
        """See the class."""
        self._limit: Final = limit
        self._total: Final = max(total, limit)
        self._held = 0

    async def read(self, receive: Receive, headers: Mapping[bytes, bytes]) -> bytes:
        """A request's body, inflated.

        Raises:
            Refusal: TOO_LARGE, OVERLOADED, UNSUPPORTED_MEDIA_TYPE, MALFORMED_DOCUMENT.
            ClientGone: nobody waits for an answer.
        """
        _check_media_type(headers)
        declared = headers.get(b"content-length", b"")
        if declared.isdigit() and (len(declared) > _LENGTH_DIGITS_MAX or int(declared) > self._limit):
            raise too_large(self._limit)
        body = await self._collect(receive)
        coding = headers.get(b"content-encoding")
        return body if coding is None else await decoded(body, coding, limit=self._limit)

    async def _collect(self, receive: Receive) -> bytes:
        message = await receive()
        first: bytes = message.get("body", b"")
        if message["type"] == "http.request" and not message.get("more_body", False) and len(first) <= self._limit:
            return first  # the usual request comes in one piece
        pieces: list[bytes] = []
        size = 0
        try:
            while True:
                if message["type"] == "http.disconnect":
                    raise ClientGone
                piece: bytes = message.get("body", b"")
                size += len(piece)
                self._held += len(piece)
                if size > self._limit:
                    raise too_large(self._limit)
                if self._held > self._total:
                    raise Refusal(
                        Reason.REASON_OVERLOADED,
                        "request bodies that are under way fill the memory for them; retry soon",
                    )
                pieces.append(piece)
                if not message.get("more_body", False):
                    return b"".join(pieces)
                message = await receive()
        finally:
            self._held -= size


def _check_media_type(headers: Mapping[bytes, bytes]) -> None:
    sent = headers.get(b"content-type")
    if sent is None or sent == b"application/json":
        return
    media_type = sent.partition(b";")[0].strip().lower()
    if media_type == b"application/json" or (media_type.startswith(b"application/") and media_type.endswith(b"+json")):
        return
    shown = sent.decode("latin-1")
    raise Refusal(
        Reason.REASON_UNSUPPORTED_MEDIA_TYPE,
        f"content-type is {shown!r}; send application/json",
        media_type=shown,
    )
