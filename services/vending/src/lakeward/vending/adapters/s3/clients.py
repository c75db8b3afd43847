"""obstore's clients: made lazily, since the library is large and a process without stores needs none."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

from lakeward.servicekit import tls
from lakeward.vending.adapters.s3 import endpoints
from lakeward.vending.adapters.s3.identities import AssumedIdentity

if TYPE_CHECKING:
    from obstore.store import ClientConfig, S3Config, S3Store

    from lakeward.vending.adapters.s3.identities import Identity
    from lakeward.vending.domain.profiles.s3 import S3Profile

_RETRIES: Final = 3
_RETRY_FOR: Final = dt.timedelta(seconds=20)
_KEY_LIFE: Final = dt.timedelta(minutes=5)


def connect(profile: S3Profile, identity: Identity) -> S3Store:
    """A client of the profile's bucket that signs as `identity`. Loads the library when first called."""
    import obstore.store  # noqa: PLC0415 - see the module

    virtual = endpoints.is_virtual_host(profile)
    config: S3Config = {
        "region": profile.region,
        # the library takes the endpoint with the bucket in it exactly where it is addressed so
        "endpoint": endpoints.bucket_url(profile) if virtual else endpoints.service_url(profile),
        "virtual_hosted_style_request": virtual,
    }
    if profile.aws_kms_key_arn is not None:
        config["server_side_encryption"] = "aws:kms"
        config["sse_kms_key_id"] = profile.aws_kms_key_arn
    options: ClientConfig = {
        **tls.object_store_options(),  # type: ignore[typeddict-item] # made for this, and shared with untyped clients
        "allow_http": True,
        "connect_timeout": "5s",
        "timeout": "30s",
        "user_agent": "lakeward",
    }
    return obstore.store.S3Store(
        profile.bucket,
        config=config,
        client_options=options,
        retry_config={"max_retries": _RETRIES, "retry_timeout": _RETRY_FOR},
        credential_provider=_provider(identity),
    )


def _provider(identity: Identity) -> Any:  # noqa: ANN401 - the library's own type is a callable with a dict
    async def provide() -> dict[str, Any]:
        key = await identity.key()
        expires_at = dt.datetime.now(dt.UTC) + _KEY_LIFE
        if isinstance(identity, AssumedIdentity):
            expires_at = min(expires_at, (await identity.session()).expires_at)
        token = None if key.session_token is None else key.session_token.reveal()
        return {
            "access_key_id": key.access_key_id,
            "secret_access_key": key.secret_access_key.reveal(),
            "token": token,
            "expires_at": expires_at,
        }

    return provide
