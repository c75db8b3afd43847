"""ListObjectsV2 and DeleteObjects, with keys as they literally are.

Client libraries normalise keys: they drop a trailing slash and choke on an empty segment. Clients of a table can write both,
and a purge that can't name what it lists never ends.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote_plus, urlsplit
from xml.sax.saxutils import escape

from lakeward.vending.adapters.network.calls import unavailable
from lakeward.vending.adapters.s3 import endpoints, failures, xml
from lakeward.vending.domain.access import Access
from lakeward.vending.domain.signing import sigv4
from lakeward.vending.domain.signing.request import Signable
from lakeward.vending.domain.signing.target import UNRESERVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lakeward.vending.adapters.network.calls import HttpCalls, Reply
    from lakeward.vending.adapters.s3.identities import Identity
    from lakeward.vending.application.ports import Clock
    from lakeward.vending.domain.profiles.s3 import S3Profile

_OK: Final = 200
_NO_CONTENT: Final = 204
_CONTROL: Final = re.compile(r"[\x00-\x1f\ufffe\uffff]")
_NOT_FOUND: Final = 404
_PAUSES_SECONDS: Final = (0.1, 0.3, 0.9)
_NAMESPACE: Final = "http://s3.amazonaws.com/doc/2006-03-01/"


class BucketCalls:
    """Lists and deletes in one bucket."""

    def __init__(self, profile: S3Profile, identity: Identity, *, calls: HttpCalls, clock: Clock) -> None:
        """Call the profile's bucket as `identity`."""
        self._profile = profile
        self._identity = identity
        self._calls = calls
        self._clock = clock
        url = urlsplit(endpoints.bucket_url(profile))
        self._origin = f"{url.scheme}://{url.netloc}"
        self._authority = url.netloc
        self._path = url.path or "/"

    async def list_keys(self, prefix: str, *, limit: int) -> Sequence[str]:
        """Up to `limit` keys that begin with `prefix`, from the first.

        Raises:
            Refusal: STORE_DENIED, STORE_UNAVAILABLE.
        """
        query = [("encoding-type", "url"), ("list-type", "2"), ("max-keys", str(limit)), ("prefix", prefix)]
        reply = await self._send("GET", query, {}, b"")
        if reply.status == _NOT_FOUND:
            raise failures.absent(f"s3://{self._profile.bucket}")
        if reply.status != _OK:
            raise failures.of_reply(self._origin, reply)
        try:
            found = xml.texts(reply.body)
        except xml.BadXml as error:
            raise unavailable(self._origin, error) from error
        encoded = ("ListBucketResult/EncodingType", "url") in found
        keys = [value for path, value in found if path == "ListBucketResult/Contents/Key"]
        return [unquote_plus(key) for key in keys] if encoded else keys

    async def delete_keys(self, keys: Sequence[str]) -> None:
        """Delete keys, 1 to 1000; absent ones count as deleted.

        Raises:
            Refusal: STORE_DENIED where the store refuses any of them, STORE_UNAVAILABLE.
        """
        plain = [key for key in keys if not _CONTROL.search(key)]
        for key in keys:
            if _CONTROL.search(key):  # XML has no way to write it
                await self._delete_one(key)
        if plain:
            await self._delete_many(plain)

    async def _delete_one(self, key: str) -> None:
        path = f"{self._path.rstrip('/')}/{quote(key, safe=f'{UNRESERVED}/')}"
        reply = await self._send("DELETE", [], {}, b"", path=path)
        if reply.status not in {_OK, _NO_CONTENT, _NOT_FOUND}:
            raise failures.of_reply(self._origin, reply)

    async def _delete_many(self, keys: Sequence[str]) -> None:
        objects = "".join(f"<Object><Key>{escape(key)}</Key></Object>" for key in keys)
        body = f'<Delete xmlns="{_NAMESPACE}">{objects}<Quiet>true</Quiet></Delete>'.encode()
        md5 = base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()
        # stores before the newer checksums accept this one alone, and all others accept it too
        reply = await self._send(
            "POST", [("delete", "")], {"content-md5": md5, "content-type": "application/xml"}, body
        )
        if reply.status != _OK:
            raise failures.of_reply(self._origin, reply)
        try:
            codes = {value for path, value in xml.texts(reply.body) if path == "DeleteResult/Error/Code"}
        except xml.BadXml as error:
            raise unavailable(self._origin, error) from error
        refused = codes - {"NoSuchKey"}
        if "AccessDenied" in refused:
            raise failures.denied(self._origin, refused)
        if refused:
            raise unavailable(self._origin, RuntimeError(f"some keys were not deleted: {sorted(refused)}"))

    async def _send(
        self,
        method: str,
        query: list[tuple[str, str]],
        headers: dict[str, str],
        body: bytes,
        *,
        path: str | None = None,
    ) -> Reply:
        """One signed call, tried again while the store is throttling or failing; both calls may be repeated."""
        where = self._path if path is None else path
        reply = await self._sign_and_send(method, where, query, headers, body)
        for pause in _PAUSES_SECONDS:
            if not failures.is_passing(reply):
                break
            await asyncio.sleep(pause)
            reply = await self._sign_and_send(method, where, query, headers, body)
        return reply

    async def _sign_and_send(
        self, method: str, path: str, query: list[tuple[str, str]], headers: dict[str, str], body: bytes
    ) -> Reply:
        key = await self._identity.key()
        signable = Signable(
            method=method,
            authority=self._authority,
            path=path,
            query=query,
            headers=headers,
            payload_hash=hashlib.sha256(body).hexdigest(),
            access=Access.READ,
            keys=(),
        )
        signed = sigv4.sign(
            signable,
            region=self._profile.region,
            access_key_id=key.access_key_id,
            secret_access_key=key.secret_access_key,
            session_token=key.session_token,
            now=self._clock.now(),
        )
        encoded = "&".join(f"{name}={quote(value, safe=UNRESERVED)}" for name, value in query)
        url = f"{self._origin}{path}" + (f"?{encoded}" if encoded else "")
        return await self._calls.send(method, url, headers=headers | signed, body=body, repeatable=True)
