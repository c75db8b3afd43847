"""Access to the files of tables and generic tables: how far it goes, and what of it a reply shows."""

from __future__ import annotations

import dataclasses
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

from lakeward_catalog.application.caller import Caller, Delegation
from lakeward_catalog.application.opened import OpenedTabular
from lakeward_catalog.application.ports.access import Access, ClientAccess, Vended
from lakeward_catalog.application.tables.signer_scopes import SignerScope, SignerScopes
from lakeward_catalog.application.tabulars.loaded import Credential, Given
from lakeward_catalog.domain.model import Kind, Tabular, Warehouse
from lakeward_catalog.domain.names import SEPARATOR
from lakeward_servicekit.authorization.actions import Action


def level_of(allowed: frozenset[Action]) -> Access | None:
    """How far the caller's access to files goes; None: not at all."""
    if not _WRITING.isdisjoint(allowed):
        return Access.READ_WRITE_DELETE
    if not _READING.isdisjoint(allowed):
        return Access.READ
    return None


def is_client_managed(delegation: frozenset[Delegation]) -> bool:
    """Whether the client said that it has its own credentials, and nothing else."""
    return delegation == _CLIENT_MANAGED


_WRITING: Final = frozenset({Action.TABLE_WRITE_DATA, Action.GENERIC_TABLE_WRITE_DATA})
_READING: Final = frozenset({Action.TABLE_READ_DATA, Action.GENERIC_TABLE_READ_DATA})
_CLIENT_MANAGED: Final = frozenset({Delegation.CLIENT_MANAGED})


@dataclasses.dataclass(frozen=True, slots=True)
class AccessGiving:
    """Gives access to tables' files."""

    access: ClientAccess
    scopes: SignerScopes

    async def __call__(self, opened: OpenedTabular, level: Access, *, caller: Caller) -> Given:
        """Access to a table's files, for whoever reads it.

        Raises:
            Refusal: what `ClientAccess.vend` raises.
        """
        warehouse, tabular, base_uri = opened.warehouse, opened.tabular, caller.base_uri
        vended = await self.access.vend(
            warehouse, tabular, level, delegation=caller.delegation, principal=opened.reader(caller).key
        )
        credentials = credentials_of(vended, opened, base_uri=base_uri) if vended.credential else ()
        if not (vended.sign_remotely and base_uri):
            return Given(level, vended.config, credentials, vended.expires_at)
        # Whose token comes with a request to sign is the caller, whoever it is that reads.
        minted = self.scopes.mint(
            SignerScope.of(warehouse, tabular, level, principal=caller.principal.key, owner=opened.owner)
        )
        config = {**vended.config, **signer_links(warehouse, tabular, base_uri, scope=minted.text)}
        expires_at = minted.expires_at if vended.expires_at is None else min(minted.expires_at, vended.expires_at)
        return Given(level, config, credentials, expires_at)


def credentials_of(vended: Vended, opened: OpenedTabular, *, base_uri: str) -> tuple[Credential, ...]:
    """The credential that was vended, where one was, with the link to the next one where there is such a place."""
    if not vended.credential:
        return ()
    credential = dict(vended.credential)
    if vended.refresh_property and base_uri:
        credential[vended.refresh_property] = refresh_link(opened, base_uri)
    return (Credential(opened.tabular.location, credential),)


def signer_links(warehouse: Warehouse, tabular: Tabular, base_uri: str, *, scope: str) -> dict[str, str]:
    """Where a client has its storage requests signed; the older names stand beside the newer ones.

    The scope is part of the endpoint, which clients join to the URI as it is: none has to know of it.
    """
    uri = f"{base_uri}/catalog/"
    endpoint = f"v1/signer/{warehouse.warehouse_id}/tabular-id/{tabular.tabular_id}/v1/aws/s3/sign?scope={scope}"
    return {
        "signer.uri": uri,
        "s3.signer.uri": uri,
        "signer.endpoint": endpoint,
        "s3.signer.endpoint": endpoint,
    }


def refresh_link(opened: OpenedTabular, base_uri: str) -> str:
    """Where a client fetches fresh credentials of a table or generic table, read on the same way."""
    ident = opened.tabular.ident
    namespace = quote(SEPARATOR.join(ident.namespace.parts), safe="")
    name = quote(ident.name, safe="")
    mount, collection = _ROUTES[opened.tabular.kind]
    link = (
        f"{base_uri}/{mount}/v1/{opened.warehouse.warehouse_id}/namespaces/{namespace}/{collection}/{name}/credentials"
    )
    if opened.through is None:
        return link
    views = [quote(SEPARATOR.join((*view.namespace.parts, view.name)), safe="") for view in opened.through.views]
    # quoted twice, so that a comma in a name is told from the ones between views
    return f"{link}?referenced-by={','.join(map(quote, views))}"


# Where the credentials of each kind are fetched; a view's come with its load alone.
_ROUTES: Final = MappingProxyType(
    {Kind.TABLE: ("catalog", "tables"), Kind.GENERIC_TABLE: ("lakekeeper", "generic-tables")}
)
