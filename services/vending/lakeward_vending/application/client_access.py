"""Give clients access to the files of a location: credentials, or signatures."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import TYPE_CHECKING

from lakeward_vending.application.ports import Grant
from lakeward_vending.domain import delegation
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.permit import Purpose

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from lakeward_vending.application.storages import Storages
    from lakeward_vending.domain.delegation import Delegation, Vended
    from lakeward_vending.domain.permit import Permit
    from lakeward_vending.domain.signing import SignedRequest, SigningRequest


@dataclasses.dataclass(frozen=True, slots=True)
class ClientAccess:
    """What a client is told.

    Attributes:
        config: client properties.
        vended: None where nothing was.
        sign_remotely: whether the client is to have its requests signed.
    """

    config: Mapping[str, str]
    vended: Vended | None
    sign_remotely: bool


@dataclasses.dataclass(frozen=True, slots=True)
class AccessVends:
    """Credentials for the permit's location, or word that requests are signed, or neither: see `delegation`.

    Raises:
        Refusal: PERMIT_REFUSED, and those of `Storages.of` and `StorageKind.vend`.
    """

    storages: Storages

    async def __call__(
        self, asked: Collection[Delegation], *, permit: Permit, min_validity: timedelta = timedelta(0)
    ) -> ClientAccess:
        """See the class.

        Args:
            asked: what the client accepts.
            permit: what catalog decided.
            min_validity: how long credentials should last at least, as far as the store grants that.
        """
        permit.require(Purpose.VEND, Access.READ)
        kind, storage = await self.storages.of(permit)
        choice = delegation.choose(asked, kind.offer(storage.profile, storage.credential_kind))
        config = kind.client_config(storage.profile, sign=choice.sign)
        if not choice.vend:
            return ClientAccess(config, None, choice.sign)
        vended = await kind.vend(Grant.of(permit, storage, min_validity=min_validity))
        return ClientAccess({**config, **vended.config}, vended, choice.sign)


@dataclasses.dataclass(frozen=True, slots=True)
class RequestSignatures:
    """Sign one storage request of a client, where nothing in the request leaves the permit's location.

    Raises:
        Refusal: PERMIT_REFUSED, and those of `Storages.of` and `StorageKind.sign`.
    """

    storages: Storages

    async def __call__(self, request: SigningRequest, *, permit: Permit) -> SignedRequest:
        """See the class."""
        permit.require(Purpose.SIGN, Access.READ)
        kind, storage = await self.storages.of(permit)
        return await kind.sign(request, Grant.of(permit, storage))
