"""AWS Signature Version 4, over a request whose path and headers are in the form that is signed.

Source: "Authenticating Requests: Using the Authorization Header", Amazon S3 API reference.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from lakeward_vending.domain.s3.signing.target import UNRESERVED

if TYPE_CHECKING:
    from lakeward_vending.domain.s3.keys import SigningKey
    from lakeward_vending.domain.s3.signing.request import Signable

_ALGORITHM: Final = "AWS4-HMAC-SHA256"


def sign(
    request: Signable,
    *,
    region: str,
    key: SigningKey,
    now: dt.datetime,
    service: str = "s3",
) -> dict[str, str]:
    """The headers that make the request a signed one, beside those that it covers.

    Args:
        request: with a canonical path.
        region: of the bucket.
        key: whose signature.
        now: with a time zone; a signature holds for minutes around it.
        service: as AWS names it in scopes.
    """
    moment = now.astimezone(dt.UTC).strftime("%Y%m%dT%H%M%SZ")
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    own = {"x-amz-content-sha256": request.payload_hash, "x-amz-date": moment}
    if key.session_token is not None:
        own["x-amz-security-token"] = key.session_token.reveal()
    signed = {**request.headers, **own, "host": request.authority}
    names = ";".join(sorted(signed))
    canonical = "\n".join(
        (
            request.method,
            request.path,
            "&".join(sorted(f"{_encode(name)}={_encode(value)}" for name, value in request.query)),
            *(f"{name}:{signed[name]}" for name in sorted(signed)),
            "",
            names,
            request.payload_hash,
        )
    )
    to_sign = "\n".join((_ALGORITHM, moment, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    derived = f"AWS4{key.secret_access_key.reveal()}".encode()
    for part in scope.split("/"):
        derived = hmac.digest(derived, part.encode(), "sha256")
    signature = hmac.digest(derived, to_sign.encode(), "sha256").hex()
    own["authorization"] = (
        f"{_ALGORITHM} Credential={key.access_key_id}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    return own


def _encode(text: str) -> str:
    return quote(text, safe=UNRESERVED)
