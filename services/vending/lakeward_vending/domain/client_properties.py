"""Properties that tell an Iceberg client how to reach S3."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import datetime as dt

    from lakeward_vending.domain.profiles.s3 import S3Profile
    from lakeward_vending.domain.secret import Secret

S3_REFRESH_PROPERTY: Final = "client.refresh-credentials-endpoint"


@dataclasses.dataclass(frozen=True, slots=True)
class SessionCredential:
    """A short-lived credential, as STS granted it.

    Attributes:
        expires_at: the moment that the store granted, not the one that was asked for.
    """

    access_key_id: str
    secret_access_key: Secret
    session_token: Secret
    expires_at: dt.datetime


def config(profile: S3Profile, *, credential: SessionCredential | None, sign: bool) -> dict[str, str]:
    """Properties of a load's `config`. Links to the signer are the caller's to add.

    Args:
        profile: the warehouse's.
        credential: what was vended; None where nothing was.
        sign: whether the client is to have its requests signed.
    """
    properties = _shared(profile) | {"region": profile.region}
    if credential is not None:
        properties |= _keys(credential)
    if sign:
        properties |= {
            "s3.remote-signing-enabled": "true",
            "s3.signer": "S3V4RestSigner",
            "py-io-impl": "pyiceberg.io.fsspec.FsspecFileIO",
        }
    return properties


def storage_credential(profile: S3Profile, credential: SessionCredential) -> dict[str, str]:
    """Properties of the `storage-credentials` entry.

    It exists only where a credential was issued: a client that honours an entry without one would send requests
    unsigned.
    """
    expiry = str(int(credential.expires_at.timestamp() * 1000))
    return _shared(profile) | _keys(credential) | {"s3.session-token-expires-at-ms": expiry, "expiration-time": expiry}


def defaults(profile: S3Profile) -> dict[str, str]:
    """Properties for the `defaults` of a client's configuration."""
    return _encryption(profile)


def _shared(profile: S3Profile) -> dict[str, str]:
    properties = {"s3.region": profile.region, "client.region": profile.region}
    if profile.endpoint is not None:
        properties["s3.endpoint"] = profile.endpoint
    if profile.path_style_access:
        properties["s3.path-style-access"] = "true"
    return properties | _encryption(profile)


def _encryption(profile: S3Profile) -> dict[str, str]:
    if profile.aws_kms_key_arn is None:
        return {}
    return {"s3.sse.type": "kms", "s3.sse.key": profile.aws_kms_key_arn}


def _keys(credential: SessionCredential) -> dict[str, str]:
    return {
        "s3.access-key-id": credential.access_key_id,
        "s3.secret-access-key": credential.secret_access_key.reveal(),
        "s3.session-token": credential.session_token.reveal(),
    }
