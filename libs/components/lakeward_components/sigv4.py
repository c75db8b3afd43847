"""AWS Signature Version 4 for a request without a body, so that a store can be asked before any client is loaded.

Source: "Create a signed AWS API request", AWS General Reference.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from urllib.parse import parse_qsl, quote, urlsplit

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_EMPTY: Final = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True)
class Key:
    """A long-lived key of the store."""

    access_key: str
    secret_key: str = field(repr=False)


def signed(method: str, url: str, *, key: Key, region: str, now: datetime, service: str = "s3") -> dict[str, str]:
    """The headers that make the request the key's own.

    Args:
        method: GET, PUT and their kind.
        url: its path as it is sent, already escaped.
        key: who sends it.
        region: of the store; one that knows no regions takes what it is given.
        now: when it is sent; the store allows some minutes.
        service: `s3`, `sts`.
    """
    parts = urlsplit(url)
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    scope = f"{stamp[:8]}/{region}/{service}/aws4_request"
    query = "&".join(
        f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}"
        for name, value in sorted(parse_qsl(parts.query, keep_blank_values=True))
    )
    names = "host;x-amz-content-sha256;x-amz-date"
    canonical = "\n".join(
        [
            method,
            parts.path or "/",
            query,
            f"host:{parts.netloc}",
            f"x-amz-content-sha256:{_EMPTY}",
            f"x-amz-date:{stamp}",
            "",
            names,
            _EMPTY,
        ]
    )
    to_sign = "\n".join([_ALGORITHM, stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    secret = f"AWS4{key.secret_key}".encode()
    for part in scope.split("/"):
        secret = hmac.digest(secret, part.encode(), "sha256")
    signature = hmac.digest(secret, to_sign.encode(), "sha256").hex()
    return {
        "x-amz-date": stamp,
        "x-amz-content-sha256": _EMPTY,
        "authorization": f"{_ALGORITHM} Credential={key.access_key}/{scope}, SignedHeaders={names}, Signature={signature}",
    }
