"""One bucket: reads and writes by obstore, lists and deletes by signed calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lakeward.servicekit.errors import Reason, Refusal
from lakeward.vending.adapters.network.calls import unavailable
from lakeward.vending.adapters.s3 import endpoints, failures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from obstore.store import S3Store

    from lakeward.vending.adapters.s3.bucket_calls import BucketCalls
    from lakeward.vending.domain.profiles.s3 import S3Profile


class S3Objects:
    """An `ObjectStore`."""

    def __init__(self, profile: S3Profile, client: S3Store, calls: BucketCalls) -> None:
        """Use `client` for objects and `calls` for the bucket."""
        self._bucket = profile.bucket
        self._url = endpoints.service_url(profile)
        self._client = client
        self._calls = calls

    async def read(self, key: str, *, limit: int) -> bytes:
        """See `ObjectStore`."""
        import obstore  # noqa: PLC0415 - loaded by the client already

        try:
            result = await obstore.get_async(self._client, key)
            size = int(result.meta["size"])
            if size > limit:
                raise Refusal(
                    Reason.REASON_FILE_UNREADABLE,
                    f"the file {self._location(key)} is {size} bytes; at most {limit} are read",
                    location=self._location(key),
                )
            return bytes(await result.bytes_async())
        except obstore.exceptions.BaseError as error:
            raise self._refusal(key, error) from error
        except FileNotFoundError as error:
            raise failures.absent(self._location(key)) from error

    async def write(self, key: str, content: bytes, *, content_type: str | None) -> None:
        """See `ObjectStore`."""
        import obstore  # noqa: PLC0415 - loaded by the client already

        try:
            await self._put(key, content, content_type=content_type, mode="create")
        except obstore.exceptions.AlreadyExistsError:
            await self._check_same(key, content)
        except (obstore.exceptions.NotSupportedError, obstore.exceptions.GenericError) as error:
            await self._write_unconditionally(key, content, content_type=content_type, cause=error)
        except obstore.exceptions.BaseError as error:
            raise self._refusal(key, error) from error
        except FileNotFoundError as error:
            raise failures.absent(f"s3://{self._bucket}") from error

    async def delete(self, keys: Sequence[str]) -> None:
        """See `ObjectStore`."""
        await self._calls.delete_keys(keys)

    async def list_page(self, prefix: str, *, limit: int) -> Sequence[str]:
        """See `ObjectStore`."""
        return await self._calls.list_keys(prefix, limit=limit)

    async def _put(
        self, key: str, content: bytes, *, content_type: str | None, mode: Literal["create", "overwrite"]
    ) -> None:
        import obstore  # noqa: PLC0415 - loaded by the client already

        attributes = {} if content_type is None else {"Content-Type": content_type}
        await obstore.put_async(self._client, key, content, attributes=attributes, mode=mode, use_multipart=False)

    async def _check_same(self, key: str, content: bytes) -> None:
        """The object is there: fine where it is what we write, as after a reply that was lost."""
        try:
            same = await self.read(key, limit=max(len(content), 1)) == content
        except Refusal as refusal:
            # larger than ours; or a directory, where the store keeps keys as files
            if refusal.reason not in {Reason.REASON_FILE_UNREADABLE, Reason.REASON_FILE_NOT_FOUND}:
                raise
            same = False
        if not same:
            raise self._exists(key)

    async def _write_unconditionally(
        self, key: str, content: bytes, *, content_type: str | None, cause: BaseException
    ) -> None:
        """For stores without conditional writes, and for a conditional write whose outcome is not known."""
        import obstore  # noqa: PLC0415 - loaded by the client already

        try:
            found = await obstore.head_async(self._client, key)
        except FileNotFoundError:
            found = None
        except obstore.exceptions.BaseError as error:
            # the store fails in every way: the first failure tells more
            raise self._refusal(key, cause) from error
        if found is not None:
            await self._check_same(key, content)
            return
        try:
            await self._put(key, content, content_type=content_type, mode="overwrite")
        except obstore.exceptions.BaseError as error:
            raise self._refusal(key, error) from error

    def _exists(self, key: str) -> Refusal:
        location = self._location(key)
        return Refusal(Reason.REASON_FILE_EXISTS, f"another file is at {location} already", location=location)

    def _refusal(self, key: str, error: BaseException) -> Refusal:
        import obstore  # noqa: PLC0415 - loaded by the client already

        if isinstance(error, obstore.exceptions.PermissionDeniedError | obstore.exceptions.UnauthenticatedError):
            return failures.denied(self._url, error)
        if isinstance(error, obstore.exceptions.NotFoundError):
            return failures.absent(self._location(key))
        return unavailable(self._url, error)

    def _location(self, key: str) -> str:
        return f"s3://{self._bucket}/{key}"
