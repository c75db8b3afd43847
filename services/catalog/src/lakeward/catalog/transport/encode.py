"""Values as messages."""

from __future__ import annotations

from lakeward.catalog.application.tables.loaded import Credential, Loaded
from lakeward.catalog.domain.bodies import Deflated
from lakeward.catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward.protocol.catalog.v1 import types_pb2


def namespace_ident(ident: NamespaceIdent) -> types_pb2.NamespaceIdent:
    """A namespace's path."""
    return types_pb2.NamespaceIdent(parts=ident.parts)


def tabular_ident(ident: TabularIdent) -> types_pb2.TabularIdent:
    """A tabular's path."""
    return types_pb2.TabularIdent(namespace=namespace_ident(ident.namespace), name=ident.name)


def json_body(document: Deflated | bytes) -> types_pb2.JsonBody:
    """A document, as it is."""
    if isinstance(document, bytes):
        return types_pb2.JsonBody(plain=document)
    return types_pb2.JsonBody(
        deflated=types_pb2.DeflatedJson(raw=document.raw, crc32=document.crc32, size=document.size)
    )


def loaded(table: Loaded) -> types_pb2.LoadedTabular:
    """A loaded tabular."""
    message = types_pb2.LoadedTabular(
        etag=table.etag, metadata_location=table.metadata_location or "", metadata=json_body(table.metadata)
    )
    if table.config is not None:
        message.has_config = True
        message.config.update(table.config)
        message.storage_credentials.extend([credential(entry) for entry in table.credentials])
    return message


def credential(entry: Credential) -> types_pb2.StorageCredential:
    """A credential for one location."""
    return types_pb2.StorageCredential(prefix=entry.prefix, config=entry.config)
