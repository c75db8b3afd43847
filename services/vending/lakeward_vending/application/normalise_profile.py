"""Bring a storage profile into its normal form, and say what the catalog must know of it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lakeward_vending.domain import client_properties, documents
from lakeward_vending.domain.profiles import profile as profiles
from lakeward_vending.domain.profiles import urls

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from lakeward_locations import Location
    from lakeward_vending.application.ports import Secrets
    from lakeward_vending.domain.addresses import AddressRules
    from lakeward_vending.domain.credentials import CredentialKind
    from lakeward_vending.domain.system_identity import SystemIdentityRules


@dataclasses.dataclass(frozen=True, slots=True)
class NormalisedProfile:
    """A profile in its normal form.

    Attributes:
        text: JSON of the profile.
        base: where the warehouse lies.
        place: profiles of one place with nested bases overlap.
        credential_kind: None for no credential.
        client_defaults: for `defaults` of a client's configuration.
        push_delete_disabled: whether clients are asked not to delete files where the warehouse soft-deletes.
        layout: JSON of the storage layout.
        schemes: in which locations may be written; the first is ours.
        signs_remotely: whether clients can have requests signed.
    """

    text: bytes
    base: Location
    place: str
    credential_kind: CredentialKind | None
    client_defaults: Mapping[str, str]
    push_delete_disabled: bool
    layout: bytes
    schemes: tuple[str, ...]
    signs_remotely: bool


async def normalise_profile(
    text: bytes,
    *,
    secret_id: UUID | None,
    replaces: bytes | None,
    secrets: Secrets,
    addresses: AddressRules,
    identities: SystemIdentityRules,
) -> NormalisedProfile:
    """What a profile becomes with the credential that goes with it.

    Every change of a profile and every change of a credential comes through here. Hosts are judged by their spelling; what
    they resolve to is judged when they are called.

    Args:
        text: JSON of the public API's storage profile.
        secret_id: the credential's; None for none.
        replaces: the stored profile that it takes the place of; None for a new warehouse.
        secrets: has the credential.
        addresses: which hosts may be stores.
        identities: whether the process's own identity may be used.

    Raises:
        Refusal: MALFORMED_DOCUMENT, INVALID_STORAGE_PROFILE, STORAGE_PROFILE_IMMUTABLE, CREDENTIAL_MISSING,
            CREDENTIAL_MISMATCH, STORAGE_MISCONFIGURED, ADDRESS_DENIED, STORAGE_KIND_UNSUPPORTED, NO_SUCH_SECRET.
    """
    credential = None if secret_id is None else (await secrets.find(secret_id)).credential
    kind = None if credential is None else credential.kind
    profile = profiles.normalise(text, credential=kind, replaces=replaces)
    for url in profile.urls():
        addresses.check_host(urls.host(url))
    s3 = profiles.as_s3(profile)
    identities.check_s3(s3, credential)
    return NormalisedProfile(
        text=documents.dump(profile.document()),
        base=profile.base,
        place=profile.place,
        credential_kind=kind,
        client_defaults=client_properties.defaults(s3),
        push_delete_disabled=s3.push_s3_delete_disabled,
        layout=documents.dump(profile.layout.document()),
        schemes=profile.schemes,
        signs_remotely=s3.remote_signing_enabled and kind is not None,
    )
