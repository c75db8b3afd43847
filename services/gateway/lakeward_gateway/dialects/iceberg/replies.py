"""Loaded tables and views as replies: the stored metadata is carried as it is, compressed where the client takes that."""

from __future__ import annotations

from typing import Any, Final

from lakeward_gateway.encoding import GZIP, inflated
from lakeward_gateway.http import JSON_TYPE, Header, Request, Response, encode
from lakeward_protocol.catalog.v1 import types_pb2
from lakeward_servicekit.deflated import Deflated, gzip_file

_JSON_HEADERS: Final = (JSON_TYPE,)
_GZIP_JSON_HEADERS: Final = (JSON_TYPE, GZIP)


async def loaded_response(loaded: types_pb2.LoadedTabular, request: Request, *, credentials: bool = True) -> Response:
    """The reply that shows a table or view.

    Args:
        loaded: as the catalog answered.
        request: whose reply it is.
        credentials: whether the document has `storage-credentials` at all; a view's has not.
    """
    before = b'{"metadata-location":' + encode(loaded.metadata_location or None) + b',"metadata":'
    after = _after(loaded, credentials=credentials)
    metadata = loaded.metadata
    if metadata.HasField("deflated"):
        part = Deflated(metadata.deflated.raw, metadata.deflated.crc32, metadata.deflated.size)
        if request.takes_gzip:
            body = gzip_file(part, before=before, after=after)
            return Response(200, headers=_headers(_GZIP_JSON_HEADERS, loaded.etag), body=body, encoded=True)
        text = await inflated(part)
    else:
        text = metadata.plain
    return Response(200, headers=_headers(_JSON_HEADERS, loaded.etag), body=before + text + after)


def not_modified(etag: str) -> Response:
    """The reply that says that what the client has still holds."""
    return Response(304, headers=((b"etag", etag.encode("latin-1")),))


def credentials_document(credentials: types_pb2.StorageCredential) -> dict[str, Any]:
    """One entry of `storage-credentials`."""
    return {"prefix": credentials.prefix, "config": dict(credentials.config)}


def _after(loaded: types_pb2.LoadedTabular, *, credentials: bool) -> bytes:
    if not loaded.has_config:
        return b"}"
    after = b',"config":' + encode(dict(loaded.config))
    # an entry without a credential would make its reader send unsigned requests
    vended = (
        [credentials_document(entry) for entry in loaded.storage_credentials if entry.config] if credentials else ()
    )
    if vended:
        after += b',"storage-credentials":' + encode(vended)
    return after + b"}"


def _headers(constant: tuple[Header, ...], etag: str) -> tuple[Header, ...]:
    return (*constant, (b"etag", etag.encode("latin-1"))) if etag else constant
