"""fsspec: s3fs, adlfs and gcsfs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.credentials import PUBLIC_AZURE, AzureSas, Credentials, S3Keys
from lakeward.credentials.sdks import (
    ADVISORY_SECONDS,
    MANDATORY_SECONDS,
    encryption,
    google_credentials,
    metadata,
    sas_credential,
)

if TYPE_CHECKING:
    import fsspec

    from lakeward.credentials.shapes import Shapes


def options(credentials: Credentials) -> dict[str, Any]:
    """What the filesystem of the location's scheme takes, secrets included."""
    store = credentials.store
    if isinstance(store, S3Keys):
        secrets = {"key": store.access_key_id, "secret": store.secret_access_key, "token": store.session_token}
        return {**secrets, **_s3(store)}
    if isinstance(store, AzureSas):
        return {**_azure(store), "sas_token": store.sas_token}
    # gcsfs takes a bare token for a file's name first
    return {"token": google_credentials(credentials), "project": store.project}


def filesystem(source: Shapes) -> fsspec.AbstractFileSystem:
    """One whose credentials ask the source. It is no shared instance: those are known by what they were made with."""
    import fsspec  # noqa: PLC0415 - a library that not everybody has

    store = source.get().store
    if isinstance(store, S3Keys):
        return fsspec.filesystem("s3", session=_session(source), skip_instance_cache=True, **_s3(store))
    if isinstance(store, AzureSas):
        return fsspec.filesystem("abfss", credential=sas_credential(source), skip_instance_cache=True, **_azure(store))
    return fsspec.filesystem("gs", token=google_credentials(source), project=store.project, skip_instance_cache=True)


def _s3(store: S3Keys) -> dict[str, Any]:
    told: dict[str, Any] = {
        "client_kwargs": {
            name: value
            for name, value in (("region_name", store.region), ("endpoint_url", store.endpoint))
            if value is not None
        }
    }
    if store.path_style:
        told["config_kwargs"] = {"s3": {"addressing_style": "path"}}
    if store.kms_key:
        told["s3_additional_kwargs"] = encryption(store)
    return told


def _azure(store: AzureSas) -> dict[str, Any]:
    told = {"account_name": store.account}
    return told if store.domain == PUBLIC_AZURE else {**told, "account_host": store.blob_url.removeprefix("https://")}


def _session(source: Shapes) -> Any:  # noqa: ANN401 - aiobotocore has no types
    from aiobotocore.credentials import AioCredentialResolver, AioRefreshableCredentials  # noqa: PLC0415
    from aiobotocore.session import AioSession  # noqa: PLC0415
    from anyio import to_thread  # noqa: PLC0415
    from botocore.credentials import CredentialProvider  # noqa: PLC0415

    async def fetch() -> dict[str, str | None]:
        return metadata(await to_thread.run_sync(source.get))

    class Provider(CredentialProvider):  # type: ignore[misc] # botocore has no types
        METHOD = "lakeward"

        async def load(self) -> Any:  # noqa: ANN401 # pyright: ignore[reportIncompatibleMethodOverride] - aiobotocore awaits it
            return AioRefreshableCredentials.create_from_metadata(
                await fetch(),
                fetch,
                self.METHOD,
                advisory_timeout=ADVISORY_SECONDS,
                mandatory_timeout=MANDATORY_SECONDS,
            )

    session = AioSession()
    session.register_component("credential_provider", AioCredentialResolver([Provider()]))
    return session
