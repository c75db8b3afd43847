"""Properties that tell an Iceberg client how to reach S3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lakeward_vending.domain.delegation import Vended
from lakeward_vending.domain.s3.keys import SigningKey
from lakeward_vending.domain.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lakeward_vending.domain.profiles.s3 import S3Profile
    from lakeward_vending.domain.s3.keys import Session

_REFRESH: Final = "client.refresh-credentials-endpoint"
_KEY_ID: Final = "s3.access-key-id"
_SECRET: Final = "s3.secret-access-key"  # noqa: S105 - a property's name
_TOKEN: Final = "s3.session-token"  # noqa: S105 - a property's name


def config(profile: S3Profile, *, sign: bool) -> dict[str, str]:
    """Properties of a load's `config`, without what was vended. Links to the signer are the caller's to add.

    Args:
        profile: the warehouse's.
        sign: whether the client is to have its requests signed.
    """
    properties = _shared(profile) | {"region": profile.region}
    if sign:
        properties |= {
            "s3.remote-signing-enabled": "true",
            "s3.signer": "S3V4RestSigner",
            "py-io-impl": "pyiceberg.io.fsspec.FsspecFileIO",
        }
    return properties


def vended(profile: S3Profile, session: Session) -> Vended:
    """What a client is told of a session that was minted for it."""
    keys = {
        _KEY_ID: session.access_key_id,
        _SECRET: session.secret_access_key.reveal(),
        _TOKEN: session.session_token.reveal(),
    }
    expiry = str(int(session.expires_at.timestamp() * 1000))
    properties = {**_shared(profile), **keys, "s3.session-token-expires-at-ms": expiry, "expiration-time": expiry}
    return Vended(config=keys, properties=properties, expires_at=session.expires_at, refresh_property=_REFRESH)


def signing_key(properties: Mapping[str, str]) -> SigningKey:
    """The key of whoever was told what `vended` says."""
    return SigningKey(properties[_KEY_ID], Secret(properties[_SECRET]), Secret(properties[_TOKEN]))


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
