"""Give a client access to a location."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lakeward_vending.application.ports import Grant
from lakeward_vending.application.storages import storage_of
from lakeward_vending.domain import client_properties, delegation
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.permit import Purpose
from lakeward_vending.domain.profiles import profile as profiles
from lakeward_vending.domain.profiles.s3 import can_vend

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Mapping

    from lakeward_vending.application.ports import Secrets
    from lakeward_vending.application.storages import Backends
    from lakeward_vending.domain.delegation import Delegation
    from lakeward_vending.domain.permit import Permit


@dataclasses.dataclass(frozen=True, slots=True)
class ClientAccess:
    """What a client is told.

    Attributes:
        config: client properties.
        credential: properties of the `storage-credentials` entry; None where nothing was vended.
        expires_at: when the credential ends; None where nothing was vended.
        sign_remotely: whether the client is to have its requests signed.
        refresh_property: what takes the link to fetch fresh credentials; None where nothing was vended.
    """

    config: Mapping[str, str]
    credential: Mapping[str, str] | None
    expires_at: dt.datetime | None
    sign_remotely: bool
    refresh_property: str | None


async def vend_access(
    permit: Permit, profile: bytes, *, asked: Collection[Delegation], secrets: Secrets, backends: Backends
) -> ClientAccess:
    """Credentials for the permit's location, or word that requests are signed, or neither: see `delegation`.

    Raises:
        Refusal: PERMIT_REFUSED, NO_SUCH_SECRET, SECRET_UNREADABLE, and those of `Minter.mint`.
    """
    permit.require(Purpose.VEND, Access.READ)
    storage = await storage_of(permit, profile, secrets=secrets)
    s3 = profiles.as_s3(storage.profile)
    kind = storage.credential.kind if storage.credential is not None else None
    signs = s3.remote_signing_enabled and kind is not None
    choice = delegation.choose(asked, can_vend=can_vend(s3, kind), can_sign=signs)
    if not choice.vend:
        config = client_properties.config(s3, credential=None, sign=choice.sign)
        return ClientAccess(config, None, None, choice.sign, None)
    backend = backends.of(storage.profile)
    credential = await backend.mint(Grant(storage, permit.location, permit.access, permit.principal))
    return ClientAccess(
        config=client_properties.config(s3, credential=credential, sign=choice.sign),
        credential=client_properties.storage_credential(s3, credential),
        expires_at=credential.expires_at,
        sign_remotely=choice.sign,
        refresh_property=client_properties.S3_REFRESH_PROPERTY,
    )
