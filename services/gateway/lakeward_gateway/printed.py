"""Header names as the standards print them.

Names compare without case, and uvicorn writes all of them in lower case. Iceberg's Java client keeps a reply's headers in a
HashMap and asks it for `ETag` and `Cache-Control`: it would never load with a condition, nor use a signature again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# What capitals between hyphens alone don't give.
_IRREGULAR: Final = (b"ETag", b"WWW-Authenticate")
_PRINTED: Final[Mapping[bytes, bytes]] = {
    name.lower(): name
    for name in (
        *_IRREGULAR,
        b"Access-Control-Allow-Headers",
        b"Access-Control-Allow-Methods",
        b"Access-Control-Allow-Origin",
        b"Access-Control-Expose-Headers",
        b"Access-Control-Max-Age",
        b"Allow",
        b"Cache-Control",
        b"Connection",
        b"Content-Encoding",
        b"Content-Length",
        b"Content-Security-Policy",
        b"Content-Type",
        b"Date",
        b"Location",
        b"Referrer-Policy",
        b"Retry-After",
        b"Transfer-Encoding",
        b"Vary",
        b"X-Content-Type-Options",
        b"X-Request-Id",
    )
}
_END: Final = b"\r\n\r\n"


class _Printed(dict[bytes, bytes]):
    """By a name in lower case, the name as it is printed, with what stands between it and its value."""

    def __missing__(self, name: bytes) -> bytes:
        return name.title() + b": "


PRINTED: Final[Mapping[bytes, bytes]] = _Printed({name: printed + b": " for name, printed in _PRINTED.items()})


def printed(head: bytes) -> bytes:
    """A reply's head with its names as they are printed; values, and a body that follows, stay as they are.

    Args:
        head: status line and headers as HTTP/1.1 sends them, with or without what follows.
    """
    fields, end, rest = head.partition(_END)
    status, *lines = fields.split(b"\r\n")
    named = [status]
    for line in lines:
        name, colon, value = line.partition(b":")
        named.append((_PRINTED.get(name) or name.title()) + colon + value)
    return b"\r\n".join(named) + end + rest
