"""Lance, deltalake, Polars and obstore: what is built over Rust's object stores shares names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from lakeward.credentials import PUBLIC_AZURE, AzureSas, Credentials, GcsToken, S3Keys

if TYPE_CHECKING:
    from obstore.store import AzureStore, GCSStore, S3Store

    from lakeward.credentials.shapes import Shapes

_FABRIC = "dfs.fabric.microsoft.com"


def storage_options(credentials: Credentials) -> dict[str, str]:
    """All that is known, secrets and place."""
    return {**_place(credentials), **_secrets(credentials)}


def polars(source: Shapes) -> dict[str, Any]:
    """Storage options that say where the store is, and a provider of secrets."""

    # Polars knows providers that are functions by their names, so each source has an object of its own.
    def provide() -> tuple[dict[str, str], int | None]:
        found = source.get()
        return _secrets(found), None if found.expires_at is None else int(found.expires_at.timestamp())

    return {"storage_options": _place(source.get()), "credential_provider": provide}


def obstore(source: Shapes) -> S3Store | AzureStore | GCSStore:
    """A store whose provider asks the source."""
    return store_of(source.get(), lambda: _answer(source.get()))


def store_of(known: Credentials, provider: Callable[[], Any]) -> S3Store | AzureStore | GCSStore:
    """A store of obstore that begins at the location.

    Args:
        known: say where the store is.
        provider: answers obstore's credentials, at once or as a coroutine.
    """
    from obstore.store import AzureStore, GCSStore, S3Store  # noqa: PLC0415 - a library that not everybody has

    # An empty prefix is refused by none of them, but would begin keys with a slash.
    common: dict[str, Any] = {"prefix": known.prefix or None, "credential_provider": provider}
    if isinstance(known.store, S3Keys):
        place = {name.removeprefix("aws_"): value for name, value in _place(known).items() if name != "allow_http"}
        if "allow_http" in _place(known):
            common["client_options"] = {"allow_http": True}
        return S3Store(known.store.bucket, **common, **cast("Any", place))
    if isinstance(known.store, AzureSas):
        place = {name.removeprefix("azure_storage_"): value for name, value in _place(known).items()}
        return AzureStore(known.store.container, **common, **cast("Any", place))
    return GCSStore(known.store.bucket, **common)


def obstore_credentials(found: Credentials) -> dict[str, Any]:
    """What obstore's providers answer."""
    return _answer(found)


def _answer(found: Credentials) -> dict[str, Any]:
    store = found.store
    if isinstance(store, S3Keys):
        told: dict[str, Any] = {
            "access_key_id": store.access_key_id,
            "secret_access_key": store.secret_access_key,
            "token": store.session_token,
        }
    elif isinstance(store, AzureSas):
        told = {"sas_token": store.sas_token}
    else:
        told = {"token": store.token}
    return {**told, "expires_at": found.expires_at}


def _place(credentials: Credentials) -> dict[str, str]:
    store = credentials.store
    if isinstance(store, S3Keys):
        told = {"aws_region": store.region, "aws_endpoint": store.endpoint}
        if (store.endpoint or "").startswith("http://"):
            told["allow_http"] = "true"
        if store.path_style:
            told["aws_virtual_hosted_style_request"] = "false"
        if store.kms_key:
            told |= {"aws_server_side_encryption": "aws:kms", "aws_sse_kms_key_id": store.kms_key}
        return {name: value for name, value in told.items() if value}
    if isinstance(store, AzureSas):
        where = {"azure_storage_account_name": store.account}
        if store.domain == _FABRIC:
            where["azure_use_fabric_endpoint"] = "true"
        elif store.domain != PUBLIC_AZURE:
            where["azure_storage_endpoint"] = store.blob_url
        return where
    return {}


def _secrets(credentials: Credentials) -> dict[str, str]:
    store = credentials.store
    if isinstance(store, S3Keys):
        told = {"aws_access_key_id": store.access_key_id, "aws_secret_access_key": store.secret_access_key}
        return {**told, **({"aws_session_token": store.session_token} if store.session_token else {})}
    if isinstance(store, GcsToken):
        return {"google_bearer_token": store.token}
    return {"azure_storage_sas_token": store.sas_token}
