"""Values as messages."""

from __future__ import annotations

from typing import Final

from lakeward_catalog.application.tabulars.loaded import Credential, Loaded
from lakeward_catalog.domain.model import Kind, TabularId
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_protocol.catalog.v1 import tabulars_pb2, types_pb2
from lakeward_servicekit.deflated import Deflated


def namespace_ident(ident: NamespaceIdent) -> types_pb2.NamespaceIdent:
    """A namespace's path."""
    return types_pb2.NamespaceIdent(parts=ident.parts)


def tabular_ident(ident: TabularIdent) -> types_pb2.TabularIdent:
    """A tabular's path."""
    return types_pb2.TabularIdent(namespace=namespace_ident(ident.namespace), name=ident.name)


_KINDS: Final = {
    Kind.TABLE: tabulars_pb2.TABULAR_KIND_TABLE,
    Kind.VIEW: tabulars_pb2.TABULAR_KIND_VIEW,
    Kind.GENERIC_TABLE: tabulars_pb2.TABULAR_KIND_GENERIC_TABLE,
}


def tabular_ref(kind: Kind, tabular_id: TabularId) -> tabulars_pb2.TabularRef:
    """A tabular by its kind and its public id."""
    return tabulars_pb2.TabularRef(kind=_KINDS[kind], tabular_id=str(tabular_id))


def loaded(table: Loaded) -> types_pb2.LoadedTabular:
    """A loaded tabular."""
    message = types_pb2.LoadedTabular()
    fill_loaded(message, table)
    return message


def fill_loaded(message: types_pb2.LoadedTabular, table: Loaded) -> None:
    """Write a loaded tabular into a message: a constructor that takes messages copies them, a large document with them."""
    message.etag = table.etag
    if table.metadata_location is not None:
        message.metadata_location = table.metadata_location
    _fill_body(message.metadata, table.metadata)
    if table.config is not None:
        message.has_config = True
        message.config.update(table.config)
        for entry in table.credentials:
            message.storage_credentials.add(prefix=entry.prefix, config=entry.config)


def _fill_body(message: types_pb2.JsonBody, document: Deflated | bytes) -> None:
    if isinstance(document, bytes):
        message.plain = document
        return
    deflated = message.deflated
    deflated.raw = document.raw
    deflated.crc32 = document.crc32
    deflated.size = document.size


def credential(entry: Credential) -> types_pb2.StorageCredential:
    """A credential for one location."""
    return types_pb2.StorageCredential(prefix=entry.prefix, config=entry.config)
