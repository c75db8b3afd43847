"""Signed calls to one bucket, tried again while the store is away, throttling or failing."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

from lakeward_vending.adapters.network.calls import MAX_REPLY_BYTES
from lakeward_vending.adapters.network.refusals import Settled
from lakeward_vending.adapters.s3 import endpoints, failures
from lakeward_vending.application.refusals import StoreUnavailable
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.s3.signing import sigv4
from lakeward_vending.domain.s3.signing.request import Signable
from lakeward_vending.domain.s3.signing.target import UNRESERVED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lakeward_servicekit.system import Clock
    from lakeward_vending.adapters.network.calls import HttpCalls, Reply
    from lakeward_vending.adapters.s3.key_sources import KeySource
    from lakeward_vending.domain.profiles.s3 import S3Profile

_PAUSES_SECONDS: Final = (0.1, 0.3, 0.9)
_HASHED_IN_LOOP: Final = 256 * 1024


class SignedCalls:
    """Calls to the profile's bucket, signed by one source's key. Each call may be repeated, or its caller knows how to tell."""

    def __init__(self, profile: S3Profile, keys: KeySource, *, calls: HttpCalls, clock: Clock) -> None:
        """Call the profile's bucket by requests that a key of `keys` signs."""
        self._region = profile.region
        self._keys = keys
        self._calls = calls
        self._clock = clock
        url = urlsplit(endpoints.bucket_url(profile))
        self.origin: Final = f"{url.scheme}://{url.netloc}"
        self._authority = url.netloc
        self._bucket_path = url.path or "/"

    async def send(
        self,
        method: str,
        *,
        key: str | None = None,
        query: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        limit: int = MAX_REPLY_BYTES,
    ) -> Reply:
        """One call.

        Args:
            method: upper case.
            key: the object's, literally; None for the bucket itself.
            query: decoded parameters.
            headers: lower-case names; all are signed.
            body: may be empty.
            limit: most bytes of the reply's body.

        Raises:
            StoreUnavailable: and as `ReplyTooLarge` where the reply is over `limit`.
            Refusal: ADDRESS_DENIED, and those of the key's source.
        """
        path = self._bucket_path
        if key is not None:
            path = f"{path.rstrip('/')}/{quote(key, safe=f'{UNRESERVED}/')}"
        if len(body) > _HASHED_IN_LOOP:
            payload_hash = await asyncio.to_thread(_sha256, body)
        else:
            payload_hash = _sha256(body)
        signable = Signable(
            method=method,
            authority=self._authority,
            path=path,
            query=query,
            headers=headers or {},
            payload_hash=payload_hash,
            access=Access.READ,
            keys=(),
        )
        for pause in _PAUSES_SECONDS:
            try:
                reply = await self._sign_and_send(signable, body, limit)
            except Settled:
                raise
            except StoreUnavailable:
                pass  # it may be back after the pause
            else:
                if not failures.is_passing(reply):
                    return reply
            await asyncio.sleep(pause)
        return await self._sign_and_send(signable, body, limit)

    async def _sign_and_send(self, request: Signable, body: bytes, limit: int) -> Reply:
        key = await self._keys.key()
        signed = sigv4.sign(
            request,
            region=self._region,
            key=key,
            now=self._clock.now(),
        )
        query = "&".join(
            f"{quote(name, safe=UNRESERVED)}={quote(value, safe=UNRESERVED)}" for name, value in request.query
        )
        url = f"{self.origin}{request.path}" + (f"?{query}" if query else "")
        return await self._calls.send(
            request.method, url, headers={**request.headers, **signed}, body=body, repeatable=True, limit=limit
        )


def _sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
