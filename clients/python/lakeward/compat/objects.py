"""Files of a table by their paths, over the SDK of each cloud."""

from __future__ import annotations

import mimetypes
from typing import Any, Protocol
from urllib.parse import urlsplit

from lakeward.compat.errors import ConfigError, translated
from lakeward.credentials import AzureSas, Credentials, S3Keys

_SCHEMES = frozenset({"s3", "s3a", "abfs", "abfss", "gs"})


class ObjectStore(Protocol):
    """What can be done with files below a table's place."""

    def put(self, key: str, data: bytes, *, content_type: str | None = None) -> None:
        """Write a file, in place of what was there."""

    def get(self, key: str) -> bytes:
        """A file, whole."""
        ...

    def list(self, prefix: str = "") -> list[str]:
        """Paths that begin with a prefix."""
        ...

    def delete(self, key: str) -> None:
        """Delete a file."""


def object_store_for(location: str, props: dict[str, str]) -> ObjectStore:
    """The files at a place.

    Args:
        location: of the table.
        props: credentials, in Iceberg's words.

    Raises:
        ConfigError: there are no credentials in them, or the store's library is not installed.
    """
    if urlsplit(location).scheme not in _SCHEMES:
        raise ConfigError(f"{location} is in none of the stores that are known: s3, abfss, gs")
    with translated():
        known = Credentials.of(location, props)
    try:
        if isinstance(known.store, S3Keys):
            return _S3(known)
        return _Azure(known) if isinstance(known.store, AzureSas) else _Google(known)
    except ImportError as error:
        extra = {"s3": "s3", "ab": "azure", "gs": "gcs"}[location[:2]]
        raise ConfigError(f"{error.name} is not installed: pip install 'lakeward[{extra}]'") from error


def is_missing(error: Exception) -> bool:
    """Whether one of the SDKs says that there is no such file."""
    told = getattr(error, "response", None)
    code = told.get("Error", {}).get("Code") if isinstance(told, dict) else None
    return code in {"NoSuchKey", "404"} or 404 in {getattr(error, "status_code", None), getattr(error, "code", None)}  # noqa: PLR2004 - HTTP's number


class _Below:
    def __init__(self, known: Credentials) -> None:
        self._known = known

    def _key(self, path: str) -> str:
        prefix = self._known.prefix
        return f"{prefix}/{path.lstrip('/')}" if prefix else path.lstrip("/")

    def _path(self, key: str) -> str:
        return key[len(self._key("")) :]


class _S3(_Below):
    def __init__(self, known: Credentials) -> None:
        super().__init__(known)
        self._client: Any = known.boto3()

    def put(self, key: str, data: bytes, *, content_type: str | None = None) -> None:
        kind = content_type or _kind(key)
        self._client.put_object(Bucket=self._known.bucket, Key=self._key(key), Body=data, ContentType=kind)

    def get(self, key: str) -> bytes:
        body: bytes = self._client.get_object(Bucket=self._known.bucket, Key=self._key(key))["Body"].read()
        return body

    def list(self, prefix: str = "") -> list[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._known.bucket, Prefix=self._key(prefix)
        )
        return [self._path(found["Key"]) for page in pages for found in page.get("Contents", ())]

    def delete(self, key: str) -> None:
        self._client.delete_object(Bucket=self._known.bucket, Key=self._key(key))


class _Azure(_Below):
    def __init__(self, known: Credentials) -> None:
        super().__init__(known)
        self._container = known.azure()

    def put(self, key: str, data: bytes, *, content_type: str | None = None) -> None:
        from azure.storage.blob import ContentSettings  # noqa: PLC0415 - a library that not everybody has

        settings = ContentSettings(content_type=content_type or _kind(key))
        self._container.upload_blob(self._key(key), data, overwrite=True, content_settings=settings)

    def get(self, key: str) -> bytes:
        body: bytes = self._container.download_blob(self._key(key)).readall()
        return body

    def list(self, prefix: str = "") -> list[str]:
        found = self._container.list_blobs(name_starts_with=self._key(prefix))
        return [self._path(each.name) for each in found]

    def delete(self, key: str) -> None:
        self._container.delete_blob(self._key(key))


class _Google(_Below):
    def __init__(self, known: Credentials) -> None:
        super().__init__(known)
        self._bucket: Any = known.google().bucket(known.bucket)

    def put(self, key: str, data: bytes, *, content_type: str | None = None) -> None:
        self._bucket.blob(self._key(key)).upload_from_string(data, content_type=content_type or _kind(key))

    def get(self, key: str) -> bytes:
        body: bytes = self._bucket.blob(self._key(key)).download_as_bytes()
        return body

    def list(self, prefix: str = "") -> list[str]:
        return [self._path(found.name) for found in self._bucket.list_blobs(prefix=self._key(prefix))]

    def delete(self, key: str) -> None:
        self._bucket.blob(self._key(key)).delete()


def _kind(path: str) -> str:
    return mimetypes.guess_type(path)[0] or "application/octet-stream"
