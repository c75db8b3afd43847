"""ListObjectsV2 and DeleteObjects, with keys as they literally are.

Client libraries normalise keys: they drop a trailing slash and choke on an empty segment. Clients of a table can write both,
and a purge that can't name what it lists never ends.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_plus
from xml.sax.saxutils import escape

from lakeward_vending.adapters.network.refusals import unavailable
from lakeward_vending.adapters.s3 import failures, xml
from lakeward_vending.application.ports import ListedObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lakeward_vending.adapters.s3.signed_calls import SignedCalls

_OK: Final = 200
_NO_CONTENT: Final = 204
_NOT_FOUND: Final = 404
_SIZE: Final = re.compile(r"[0-9]{1,18}")
_UNWRITABLE: Final = re.compile(r"[\x00-\x1f\ufffe\uffff]")
_NAMESPACE: Final = "http://s3.amazonaws.com/doc/2006-03-01/"


async def list_keys(calls: SignedCalls, prefix: str, *, limit: int) -> Sequence[str]:
    """Up to `limit` keys that begin with `prefix`, from the first.

    What a store lists is deleted by name, so keys that nobody asked for are not an answer.

    Raises:
        Refusal: STORE_DENIED, STORE_UNAVAILABLE, FILE_NOT_FOUND where there is no bucket.
    """
    return _keys(calls, await _listing(calls, prefix, after="", limit=limit), prefix)[:limit]


async def list_objects(calls: SignedCalls, prefix: str, *, after: str, limit: int) -> Sequence[ListedObject]:
    """As `list_keys`, with sizes, and behind the key `after`, where that is not empty.

    Raises:
        Refusal: as `list_keys`; STORE_UNAVAILABLE too for keys without a size, and for those that were not asked for.
    """
    found = await _listing(calls, prefix, after=after, limit=limit)
    keys = _keys(calls, found, prefix)
    sizes = [value for path, value in found if path == "ListBucketResult/Contents/Size"]
    if len(sizes) != len(keys) or not all(_SIZE.fullmatch(size) for size in sizes):
        raise unavailable(calls.origin, RuntimeError("the listing does not say how large each object is"))
    if any(key <= after for key in keys):  # a listing that does not go on would never end
        raise unavailable(calls.origin, RuntimeError("the listing does not begin where it was asked to"))
    return [ListedObject(key, int(size)) for key, size in zip(keys, sizes, strict=True)][:limit]


async def _listing(calls: SignedCalls, prefix: str, *, after: str, limit: int) -> list[tuple[str, str]]:
    query = [("encoding-type", "url"), ("list-type", "2"), ("max-keys", str(limit)), ("prefix", prefix)]
    if after:
        query.append(("start-after", after))
    reply = await calls.send("GET", query=query, limit=xml.MAX_BYTES)
    if reply.status == _NOT_FOUND:
        raise failures.absent(calls.origin)
    if reply.status != _OK:
        raise failures.of_reply(calls.origin, reply)
    try:
        return xml.texts(reply.body)
    except xml.BadXml as error:
        raise unavailable(calls.origin, error) from error


def _keys(calls: SignedCalls, found: Sequence[tuple[str, str]], prefix: str) -> list[str]:
    listed = [value for path, value in found if path == "ListBucketResult/Contents/Key"]
    # stores that know no encoding send keys as they are; the others write a space as "+" and a plus as "%2B"
    encoded = ("ListBucketResult/EncodingType", "url") in found
    keys = [unquote_plus(key) for key in listed] if encoded else listed
    if not all(key.startswith(prefix) for key in keys):
        raise unavailable(calls.origin, RuntimeError("the listing holds keys that were not asked for"))
    return keys


async def delete_keys(calls: SignedCalls, keys: Sequence[str]) -> None:
    """Delete keys, 1 to 1000; absent ones count as deleted.

    Raises:
        Refusal: STORE_DENIED where the store refuses any of them, STORE_UNAVAILABLE.
    """
    for key in keys:
        if _UNWRITABLE.search(key):  # XML has no way to write it
            await _delete_one(calls, key)
    plain = [key for key in keys if not _UNWRITABLE.search(key)]
    if plain:
        await _delete_many(calls, plain)


async def _delete_one(calls: SignedCalls, key: str) -> None:
    reply = await calls.send("DELETE", key=key)
    if reply.status not in {_OK, _NO_CONTENT, _NOT_FOUND}:
        raise failures.of_reply(calls.origin, reply)


async def _delete_many(calls: SignedCalls, keys: Sequence[str]) -> None:
    objects = "".join(f"<Object><Key>{escape(key)}</Key></Object>" for key in keys)
    body = f'<Delete xmlns="{_NAMESPACE}">{objects}<Quiet>true</Quiet></Delete>'.encode()
    # Stores before the newer checksums accept this one alone, and all others accept it too: a profile's
    # legacy-md5-behavior has nothing left to switch.
    md5 = base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()
    headers = {"content-md5": md5, "content-type": "application/xml"}
    reply = await calls.send("POST", query=[("delete", "")], headers=headers, body=body, limit=xml.MAX_BYTES)
    if reply.status != _OK:
        raise failures.of_reply(calls.origin, reply)
    try:
        codes = {value for path, value in xml.texts(reply.body) if path == "DeleteResult/Error/Code"}
    except xml.BadXml as error:
        raise unavailable(calls.origin, error) from error
    refused = codes - {"NoSuchKey"}
    if "AccessDenied" in refused:
        raise failures.denied(calls.origin, refused)
    if refused:
        raise unavailable(calls.origin, RuntimeError(f"some keys were not deleted: {sorted(refused)}"))
