"""A storage profile of any kind: parse it, replace one by another, say what the catalog must know of it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, TypeAlias

from lakeward_locations import Layout, LayoutError, Location, pattern_mark
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.domain import documents
from lakeward_vending.domain.documents import Members, invalid
from lakeward_vending.domain.profiles.adls import AdlsProfile
from lakeward_vending.domain.profiles.gcs import GcsProfile
from lakeward_vending.domain.profiles.onelake import OneLakeProfile
from lakeward_vending.domain.profiles.s3 import S3Profile
from lakeward_vending.domain.profiles.stackit import StackitProfile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lakeward_vending.domain.credentials import CredentialKind

Profile: TypeAlias = S3Profile | StackitProfile | AdlsProfile | OneLakeProfile | GcsProfile

# by the words of the public API, aliases among them
_TYPES: Final[Mapping[str, type[Profile]]] = {
    "s3": S3Profile,
    "stackit": StackitProfile,
    "adls": AdlsProfile,
    "azdls": AdlsProfile,
    "onelake": OneLakeProfile,
    "gcs": GcsProfile,
}


def parse(text: bytes) -> Profile:
    """Read a profile that is stored: its kind's own rules hold, a credential is not looked at.

    Raises:
        Refusal: MALFORMED_DOCUMENT or INVALID_STORAGE_PROFILE.
    """
    members = documents.load(text, path="storage-profile")
    return _type_of(members).parse(members)


def normalise(text: bytes, *, credential: CredentialKind | None, replaces: bytes | None) -> Profile:
    """Read a profile that a user gives: every change of profile or credential comes through here.

    Args:
        text: JSON of the public API.
        credential: the kind of the credential that goes with it; None for none.
        replaces: the stored profile that it takes the place of; None for a new warehouse.

    Raises:
        Refusal: MALFORMED_DOCUMENT, INVALID_STORAGE_PROFILE, STORAGE_PROFILE_IMMUTABLE, CREDENTIAL_MISSING or
            CREDENTIAL_MISMATCH.
    """
    members = documents.load(text, path="storage-profile")
    kind = _type_of(members)
    old = None if replaces is None else parse(replaces)
    if old is not None and type(old) is not kind:
        raise Refusal(
            Reason.REASON_STORAGE_PROFILE_IMMUTABLE,
            f"the storage profile's type can't change to {members.text('type')!r}",
            field="type",
        )
    profile = kind.parse(members, replaces=old)  # type: ignore[arg-type] # of one kind, as was checked
    if credential is not None and credential.family != profile.credential_family:
        raise Refusal(
            Reason.REASON_CREDENTIAL_MISMATCH,
            f"a storage profile of type {profile.type_name} can't be used with a credential of type {credential.family}",
            profile=profile.type_name,
            credential=credential.family,
        )
    profile = profile.normalised(credential)
    if credential is None and profile.needs_credential:
        raise Refusal(
            Reason.REASON_CREDENTIAL_MISSING,
            f"a storage profile of type {profile.type_name} needs a credential",
            type=profile.type_name,
        )
    if old is not None:
        profile.check_replaces(old)  # type: ignore[arg-type] # the same
    _try_layout(profile.base, profile.layout)
    _check_confinable(profile, old)
    return profile


def digest(text: bytes) -> bytes:
    """SHA-256 of a profile as it travels: what a permit names."""
    return hashlib.sha256(text).digest()


def _type_of(members: Members) -> type[Profile]:
    name = members.required_text("type")
    if name not in _TYPES:
        raise invalid("type", name, f"one of {', '.join(_TYPES)}")
    return _TYPES[name]


def _check_confinable(profile: Profile, old: Profile | None) -> None:
    """Refuse what is new and would put tables where no policy can confine a credential."""
    right = "without {!r}, which policies of stores read as a pattern or a variable"
    if old is None and (mark := pattern_mark(profile.base.path)) is not None:
        raise invalid("key-prefix", profile.base.path, right.format(mark))
    layout = profile.layout
    templates = "/".join((layout.namespace or "", layout.tabular))
    if (old is None or old.layout != layout) and (mark := pattern_mark(templates)) is not None:
        raise invalid("storage-layout", templates, right.format(mark))


def _try_layout(base: Location, layout: Layout) -> None:
    # a layout that renders to no location fails when the profile is given, not at the first table
    try:
        layout.try_below(base)
    except LayoutError as error:
        raise invalid("storage-layout", error.value, error.right) from error
