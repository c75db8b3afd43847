"""One bucket: the objects in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lakeward_vending.adapters.network.refusals import ReplyTooLarge
from lakeward_vending.adapters.s3 import bucket_calls, failures, xml
from lakeward_vending.application.refusals import FileExists, FileTooLarge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lakeward_servicekit.errors import Refusal
    from lakeward_vending.adapters.network.calls import Reply
    from lakeward_vending.adapters.s3.signed_calls import SignedCalls
    from lakeward_vending.application.ports import ListedObject
    from lakeward_vending.domain.profiles.s3 import S3Profile

_OK: Final = 200
_PARTIAL: Final = 206
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409
_PRECONDITION_FAILED: Final = 412
_BEHIND_THE_END: Final = 416
_NOT_IMPLEMENTED: Final = 501
_IF_ABSENT: Final = {"if-none-match": "*"}


class S3Objects:
    """An `ObjectStore`."""

    def __init__(self, profile: S3Profile, calls: SignedCalls) -> None:
        """Call the profile's bucket by `calls`."""
        self._bucket = profile.bucket
        self._calls = calls
        self._encryption: dict[str, str] = {}
        if profile.aws_kms_key_arn is not None:
            self._encryption = {
                "x-amz-server-side-encryption": "aws:kms",
                "x-amz-server-side-encryption-aws-kms-key-id": profile.aws_kms_key_arn,
            }

    async def read(self, key: str, *, limit: int) -> bytes | None:
        """See `ObjectStore`."""
        try:
            reply = await self._calls.send("GET", key=key, limit=max(limit, failures.MAX_ERROR_BYTES))
        except ReplyTooLarge as error:
            raise FileTooLarge(self._location(key), limit) from error
        if reply.status == _OK:
            if len(reply.body) > limit:
                raise FileTooLarge(self._location(key), limit)
            return reply.body
        if reply.status == _NOT_FOUND:
            return None
        raise failures.of_reply(self._calls.origin, reply)

    async def write(self, key: str, content: bytes, *, content_type: str | None) -> None:
        """See `ObjectStore`."""
        reply = await self._put(key, content, _IF_ABSENT, content_type=content_type)
        if reply.status == _OK:
            return
        if reply.status in {_PRECONDITION_FAILED, _CONFLICT}:
            await self._check_same(key, content)
            return
        if reply.status == _NOT_IMPLEMENTED or xml.error_code(reply.body) == "NotImplemented":
            await self._write_unconditionally(key, content, content_type=content_type)
            return
        raise self._refusal(reply)

    async def delete(self, keys: Sequence[str]) -> None:
        """See `ObjectStore`."""
        await bucket_calls.delete_keys(self._calls, keys)

    async def list_page(self, prefix: str, *, limit: int) -> Sequence[str]:
        """See `ObjectStore`."""
        return await bucket_calls.list_keys(self._calls, prefix, limit=limit)

    async def list_objects(self, prefix: str, *, after: str, limit: int) -> Sequence[ListedObject]:
        """See `ObjectStore`."""
        return await bucket_calls.list_objects(self._calls, prefix, after=after, limit=limit)

    async def read_part(self, key: str, *, offset: int, length: int) -> bytes | None:
        """See `ObjectStore`."""
        asked = {"range": f"bytes={offset}-{offset + length - 1}"}
        try:
            reply = await self._calls.send("GET", key=key, headers=asked, limit=max(length, failures.MAX_ERROR_BYTES))
        except ReplyTooLarge as error:  # a store that knows no ranges sends all of it
            raise FileTooLarge(self._location(key), length) from error
        if reply.status == _PARTIAL and len(reply.body) <= length:
            return reply.body
        if reply.status == _OK:
            return reply.body[offset : offset + length]
        if reply.status == _BEHIND_THE_END:
            return b""
        if reply.status == _NOT_FOUND:
            return None
        raise failures.of_reply(self._calls.origin, reply)

    async def _put(self, key: str, content: bytes, condition: dict[str, str], *, content_type: str | None) -> Reply:
        kind = {} if content_type is None else {"content-type": content_type}
        return await self._calls.send("PUT", key=key, headers={**kind, **self._encryption, **condition}, body=content)

    async def _check_same(self, key: str, content: bytes) -> None:
        """The object is there: fine where it is what we write, as after a reply that was lost."""
        try:
            found = await self.read(key, limit=len(content))
        except FileTooLarge:
            found = None
        if found != content:  # None too: a directory, where the store keeps keys as files
            raise FileExists(self._location(key))

    async def _write_unconditionally(self, key: str, content: bytes, *, content_type: str | None) -> None:
        """For stores that know no conditional writes."""
        if key in await self.list_page(key, limit=1):
            await self._check_same(key, content)
            return
        reply = await self._put(key, content, {}, content_type=content_type)
        if reply.status != _OK:
            raise self._refusal(reply)

    def _refusal(self, reply: Reply) -> Refusal:
        if reply.status == _NOT_FOUND:
            return failures.absent(f"s3://{self._bucket}")
        return failures.of_reply(self._calls.origin, reply)

    def _location(self, key: str) -> str:
        return f"s3://{self._bucket}/{key}"
