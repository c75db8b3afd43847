"""Storage profiles: brought into their normal form, with what the catalog must know of them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lakeward_vending.application.storages import no_such_secret
from lakeward_vending.domain.profiles import profile as profiles
from lakeward_vending.domain.profiles import urls

if TYPE_CHECKING:
    from uuid import UUID

    from lakeward_vending.application.ports import ClientFacts, Secrets
    from lakeward_vending.application.storages import Kinds
    from lakeward_vending.domain.addresses import AddressRules
    from lakeward_vending.domain.credentials import Credential, CredentialKind
    from lakeward_vending.domain.profiles.profile import Profile


@dataclasses.dataclass(frozen=True, slots=True)
class NormalisedProfile:
    """A profile in its normal form, with what its kind says of it.

    Attributes:
        credential_kind: None for no credential.
        signs_remotely: whether clients can have requests signed.
    """

    profile: Profile
    credential_kind: CredentialKind | None
    facts: ClientFacts
    signs_remotely: bool


@dataclasses.dataclass(frozen=True, slots=True)
class NormaliseProfile:
    """A profile as a user gives it.

    Attributes:
        text: JSON of the public API's storage profile.
        secret_id: the id of the credential that goes with it; None for none.
        replaces: the stored profile that it takes the place of; None for a new warehouse.
    """

    text: bytes
    secret_id: UUID | None
    replaces: bytes | None


@dataclasses.dataclass(frozen=True, slots=True)
class ProfileNormalisations:
    """What a profile becomes with the credential that goes with it.

    Every change of a profile and every change of a credential comes through here. Hosts are judged by their spelling; what
    they resolve to is judged when they are called.

    Attributes:
        addresses: which hosts may be stores.

    Raises:
        Refusal: MALFORMED_DOCUMENT, INVALID_STORAGE_PROFILE, STORAGE_PROFILE_IMMUTABLE, CREDENTIAL_MISSING,
            CREDENTIAL_MISMATCH, STORAGE_MISCONFIGURED, ADDRESS_DENIED, STORAGE_KIND_UNSUPPORTED, NO_SUCH_SECRET.
    """

    secrets: Secrets
    kinds: Kinds
    addresses: AddressRules

    async def __call__(self, command: NormaliseProfile) -> NormalisedProfile:
        """See the class."""
        credential = None if command.secret_id is None else await self._credential(command.secret_id)
        credential_kind = None if credential is None else credential.kind
        profile = profiles.normalise(command.text, credential=credential_kind, replaces=command.replaces)
        for url in profile.urls():
            self.addresses.check_host(urls.host(url))
        kind = self.kinds.of(profile)
        kind.check_credential(profile, credential)
        signs = kind.offer(profile, credential_kind).signs
        return NormalisedProfile(profile, credential_kind, kind.client_facts(profile), signs)

    async def _credential(self, secret_id: UUID) -> Credential:
        stored = await self.secrets.find(secret_id)
        if stored is None:
            raise no_such_secret(secret_id)
        return stored.credential
