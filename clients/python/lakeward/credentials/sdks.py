"""boto3, and the SDKs of Azure and Google."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from lakeward.credentials import AzureSas, Credentials, GcsToken, S3Keys
from lakeward.errors import ConfigurationError

if TYPE_CHECKING:
    import google.auth.credentials
    import google.cloud.storage
    from azure.core.credentials import AzureSasCredential
    from azure.storage.blob import ContainerClient

    from lakeward.credentials.shapes import Shapes

# botocore asks ten minutes before the end, which may be all that credentials live; the source knows better when.
ADVISORY_SECONDS = 120
MANDATORY_SECONDS = 60


def keys(found: Credentials) -> S3Keys:
    """Those of S3.

    Raises:
        ConfigurationError: the table lies elsewhere.
    """
    if not isinstance(found.store, S3Keys):
        raise ConfigurationError(f"{found.location} is not in S3")
    return found.store


def s3_client(source: Shapes) -> Any:  # noqa: ANN401 - a class that boto3 makes when it is asked for
    """A client of S3 whose session asks the source."""
    import boto3  # noqa: PLC0415 - a library that not everybody has
    from botocore.config import Config  # noqa: PLC0415
    from botocore.credentials import CredentialProvider, CredentialResolver, RefreshableCredentials  # noqa: PLC0415
    from botocore.session import Session  # noqa: PLC0415

    class Provider(CredentialProvider):  # type: ignore[misc] # botocore has no types
        METHOD = "lakeward"

        def load(self) -> Any:  # noqa: ANN401 - as above
            return RefreshableCredentials.create_from_metadata(
                metadata(source.get()),
                lambda: metadata(source.get()),
                self.METHOD,
                advisory_timeout=ADVISORY_SECONDS,
                mandatory_timeout=MANDATORY_SECONDS,
            )

    known = keys(source.get())
    session = Session()
    session.register_component("credential_provider", CredentialResolver([Provider()]))
    client = boto3.Session(botocore_session=session).client(
        "s3",
        endpoint_url=known.endpoint,
        region_name=known.region,
        config=Config(s3={"addressing_style": "path"}) if known.path_style else None,
    )
    for operation in ("PutObject", "CreateMultipartUpload", "CopyObject"):
        client.meta.events.register(
            f"provide-client-params.s3.{operation}", lambda params, **_: {**encryption(known), **params}
        )
    return client


def encryption(known: S3Keys) -> dict[str, str]:
    """What a request that writes a file says of its encryption."""
    return {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": known.kms_key} if known.kms_key else {}


def metadata(found: Credentials) -> dict[str, str | None]:
    """Credentials as botocore refreshes them."""
    store = keys(found)
    # botocore refreshes what ends; what does not end is asked for again in a day.
    ends = found.expires_at or datetime.now(timezone.utc) + timedelta(days=1)
    return {
        "access_key": store.access_key_id,
        "secret_key": store.secret_access_key,
        "token": store.session_token,
        "expiry_time": ends.isoformat(),
    }


def container_client(source: Shapes) -> ContainerClient:
    """A client of the table's container, whose credential asks the source."""
    from azure.storage.blob import ContainerClient  # noqa: PLC0415 - a library that not everybody has

    store = sas(source.get())
    return ContainerClient(store.blob_url, store.container, credential=sas_credential(source))


def sas(found: Credentials) -> AzureSas:
    """A signature of Azure's.

    Raises:
        ConfigurationError: the table lies elsewhere.
    """
    if not isinstance(found.store, AzureSas):
        raise ConfigurationError(f"{found.location} is not in Azure's storage")
    return found.store


def sas_credential(source: Shapes) -> AzureSasCredential:
    """A signature that Azure's SDK reads for each request."""
    from azure.core.credentials import AzureSasCredential  # noqa: PLC0415 - a library that not everybody has

    class Fresh(AzureSasCredential):
        @property
        def signature(self) -> str:
            return sas(source.get()).sas_token

        async def close(self) -> None:
            """Adlfs closes what it was given."""

    return Fresh(sas(source.get()).sas_token)


def storage_client(source: Shapes) -> google.cloud.storage.Client:
    """A client of Google's storage whose credentials ask the source."""
    from google.cloud import storage  # noqa: PLC0415 - a library that not everybody has

    # The SDK demands a project, which nothing below a bucket is asked for.
    return storage.Client(project=token(source.get()).project or "unknown", credentials=google_credentials(source))


def token(found: Credentials) -> GcsToken:
    """A token of Google's.

    Raises:
        ConfigurationError: the table lies elsewhere.
    """
    if not isinstance(found.store, GcsToken):
        raise ConfigurationError(f"{found.location} is not in Google's storage")
    return found.store


def google_credentials(source: Shapes) -> google.auth.credentials.Credentials:
    """Credentials that Google's libraries refresh by the source."""
    from google.oauth2.credentials import Credentials as OAuth2  # noqa: PLC0415 - a library that not everybody has

    def refresh(request: object, scopes: object) -> tuple[str, datetime | None]:
        del request, scopes
        found = source.get()
        # A time has to be told: where there is none, tomorrow's will do.
        return token(found).token, _naive(found.expires_at or datetime.now(timezone.utc) + timedelta(days=1))

    now = source.get()
    made: google.auth.credentials.Credentials = OAuth2(  # type: ignore[no-untyped-call]
        token(now).token, expiry=_naive(now.expires_at), refresh_handler=refresh
    )
    return made


def _naive(moment: datetime | None) -> datetime | None:
    # Google's libraries compare with UTC that does not say so
    return None if moment is None else moment.astimezone(timezone.utc).replace(tzinfo=None)
