"""The role that gives clients access to files: vending, seen from the catalog."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

import msgspec

from lakeward_catalog.application.caller import Delegation
from lakeward_catalog.domain.model import Incarnation, Tabular, Warehouse


class Access(enum.IntEnum):
    """How far access goes; the numbers are the contract's."""

    READ = 1
    READ_WRITE_DELETE = 3


class Vended(msgspec.Struct, frozen=True):
    """Access to one tabular's files.

    Attributes:
        config: client properties, credentials included where they were vended.
        credential: properties of the `storage-credentials` entry; empty where none was issued.
        expires_at: when the credential ends; None where none was issued.
        sign_remotely: the client is to have its requests signed; the links that it needs are the caller's to add.
        refresh_property: the property that takes the link for fresh credentials; "" for none.
    """

    config: Mapping[str, str]
    credential: Mapping[str, str]
    expires_at: datetime | None
    sign_remotely: bool
    refresh_property: str


@dataclasses.dataclass(frozen=True, slots=True)
class StorageRequest:
    """A client's storage request, to be signed.

    Attributes:
        headers: values by name, as the client will send them.
        body: where the signature needs it.
    """

    method: str
    uri: str
    region: str
    headers: Mapping[str, Sequence[str]]
    body: bytes | None


@dataclasses.dataclass(frozen=True, slots=True)
class SignedRequest:
    """A signed storage request.

    Attributes:
        headers: values by name, signature included.
        cacheable: the client may use the signature again for an equal request.
    """

    uri: str
    headers: Mapping[str, Sequence[str]]
    cacheable: bool


class Folder(Protocol):
    """Where one tabular's files lie: the tabular itself, or what was signed of it."""

    @property
    def incarnation(self) -> Incarnation:
        """Whose files."""
        ...

    @property
    def location(self) -> str:
        """Without a trailing slash; they lie below it."""
        ...


class ClientAccess(Protocol):
    """Access to files for clients. What is decided comes in; nothing here decides."""

    async def vend(
        self,
        warehouse: Warehouse,
        tabular: Tabular,
        level: Access,
        *,
        delegation: frozenset[Delegation],
        principal: str,
        min_validity: timedelta = timedelta(0),
    ) -> Vended:
        """Access as far as was decided; credentials last for `min_validity` at least, where the warehouse's ever do.

        Raises CREDENTIAL_NOT_ISSUED, STORE_UNAVAILABLE, STORAGE_KIND_UNSUPPORTED.
        """
        ...

    async def sign(
        self, warehouse: Warehouse, folder: Folder | None, level: Access, request: StorageRequest, *, principal: str
    ) -> SignedRequest:
        """Sign a request that stays inside the folder; without one, only say where the request lies.

        Raises SIGNING_INVALID, SIGNING_METHOD, SIGNING_DISABLED, NO_SUCH_SECRET; SIGNING_OUTSIDE with the place, where it lies
        elsewhere.
        """
        ...
