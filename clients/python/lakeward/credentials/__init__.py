"""Short-lived credentials for one table's place in a store, as the server hands them out, in words of no library.

    credentials.uri                 "s3://lake/sales/0198f2c4"
    credentials.store               S3Keys, AzureSas or GcsToken
    credentials.expires_at          aware, or None where the server does not say

What each library calls the same is in `lakeward.credentials.shapes`, whose methods the credentials have.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TypeAlias
from urllib.parse import urlsplit

from lakeward.credentials.shapes import Shapes
from lakeward.errors import AnswerError, NoCredentialsError

PUBLIC_AZURE = "dfs.core.windows.net"
_S3_SCHEMES = frozenset({"s3", "s3a", "s3n"})
_AZURE_SCHEMES = frozenset({"abfs", "abfss", "wasb", "wasbs"})
_SAS = "adls.sas-token."
_SAS_EXPIRY = "adls.sas-token-expires-at-ms."
_EXPIRIES = ("expiration-time", "s3.session-token-expires-at-ms", "gcs.oauth2.token-expires-at")


@dataclass(frozen=True)
class S3Keys:
    """Of S3 or of a store that speaks like it.

    Attributes:
        bucket: where the table lies.
        access_key_id: of the session.
        secret_access_key: of the session.
        session_token: None only for stores without sessions.
        region: None where the server names none.
        endpoint: "https://host:port"; None for Amazon's own.
        path_style: whether the bucket stands in the path, not in the host's name.
        kms_key: ARN of the key that files are encrypted with; None for the store's default.
    """

    bucket: str
    access_key_id: str
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)
    region: str | None = None
    endpoint: str | None = None
    path_style: bool = False
    kms_key: str | None = None


@dataclass(frozen=True)
class AzureSas:
    """Of Azure's storage, or of OneLake.

    Attributes:
        container: where the table lies; the workspace for OneLake.
        account: "onelake" for OneLake.
        domain: behind the account, as "dfs.core.windows.net"; another for sovereign clouds and OneLake.
        sas_token: a signature for the table's directory, without a question mark before it.
    """

    container: str
    account: str
    domain: str
    sas_token: str = field(repr=False)

    @property
    def blob_url(self) -> str:
        """Where the account's blobs are, as "https://account.blob.core.windows.net"."""
        return f"https://{self.account}.{self.domain.replace('dfs.', 'blob.', 1)}"


@dataclass(frozen=True)
class GcsToken:
    """Of Google's storage.

    Attributes:
        bucket: where the table lies.
        token: an OAuth 2 token that reaches the table's place alone.
        project: None where the server does not say.
    """

    bucket: str
    token: str = field(repr=False)
    project: str | None = None


Store: TypeAlias = "S3Keys | AzureSas | GcsToken"


@dataclass(frozen=True)
class Credentials(Shapes):
    """Access to what lies below one location, until it ends.

    Attributes:
        location: of the table, as the catalog has it.
        store: the store's own words.
        expires_at: aware; None where the server does not say.
    """

    location: str
    store: Store
    expires_at: datetime | None = None

    def get(self) -> Credentials:
        """These: nobody makes them fresh again. A table's `access` answers ones that stay fresh."""
        return self

    @property
    def prefix(self) -> str:
        """The location's path in its bucket or container, no slashes around it."""
        return urlsplit(self.location).path.strip("/")

    @property
    def bucket(self) -> str:
        """The bucket, or the container."""
        return self.store.container if isinstance(self.store, AzureSas) else self.store.bucket

    @property
    def uri(self) -> str:
        """The location under the scheme that libraries outside of Hadoop know: s3, abfss or gs."""
        scheme, rest = self.location.split("://", 1)
        if scheme in _S3_SCHEMES:
            return f"s3://{rest}"
        return f"abfss://{rest}" if scheme in _AZURE_SCHEMES else f"gs://{rest}"

    def life(self, now: float) -> float:
        """Seconds that are left; endless where the server does not say.

        Args:
            now: seconds since the epoch.
        """
        return math.inf if self.expires_at is None else self.expires_at.timestamp() - now

    @classmethod
    def of(cls, location: str, config: Mapping[str, str]) -> Credentials:
        """Credentials in the words of Iceberg's REST API, which Lakeward uses for tables of every format.

        Args:
            location: of the table.
            config: of an entry of `storage-credentials`, with the load's `config` below it where there is one.

        Raises:
            NoCredentialsError: there is nothing in it that opens a store.
            AnswerError: it opens a store of another kind than the location's.
        """
        scheme = urlsplit(location).scheme
        if scheme in _S3_SCHEMES and "s3.access-key-id" in config:
            store: Store = _s3(location, config)
        elif scheme in _AZURE_SCHEMES and any(key.startswith(_SAS) for key in config):
            store = _azure(location, config)
        elif scheme == "gs" and "gcs.oauth2.token" in config:
            bucket = urlsplit(location).netloc
            store = GcsToken(bucket, config["gcs.oauth2.token"], config.get("gcs.project-id"))
        else:
            raise NoCredentialsError(
                f"the server handed out no credentials for {location}: the caller may see the table and neither read nor "
                f"write it, or its warehouse hands none out"
            )
        return cls(location, store, _expiry(config))


def _s3(location: str, config: Mapping[str, str]) -> S3Keys:
    try:
        return S3Keys(
            bucket=urlsplit(location).netloc,
            access_key_id=config["s3.access-key-id"],
            secret_access_key=config["s3.secret-access-key"],
            session_token=config.get("s3.session-token"),
            region=config.get("s3.region") or config.get("client.region"),
            endpoint=config.get("s3.endpoint"),
            path_style=config.get("s3.path-style-access") == "true",
            kms_key=config.get("s3.sse.key") if config.get("s3.sse.type") == "kms" else None,
        )
    except KeyError as error:
        raise AnswerError(f"the credentials for {location} lack {error}") from error


def _azure(location: str, config: Mapping[str, str]) -> AzureSas:
    container, _, host = urlsplit(location).netloc.partition("@")
    token = config.get(_SAS + host)
    if token is None:  # the blob host of the same account
        account = host.partition(".")[0]
        found = [value for key, value in config.items() if key.startswith(f"{_SAS}{account}.") or key == _SAS + account]
        if not found:
            raise AnswerError(f"the credentials for {location} are for another account")
        token = found[0]
    account, _, domain = host.partition(".")
    return AzureSas(container, account, domain.replace("blob.", "dfs.", 1) or PUBLIC_AZURE, token.removeprefix("?"))


def _expiry(config: Mapping[str, str]) -> datetime | None:
    told = [config[key] for key in _EXPIRIES if key in config]
    told += [value for key, value in config.items() if key.startswith(_SAS_EXPIRY)]
    try:
        # Where several are told, nothing is promised beyond the first.
        return datetime.fromtimestamp(min(int(each) for each in told) / 1000, timezone.utc) if told else None
    except (ValueError, OverflowError, OSError) as error:
        raise AnswerError(f"the credentials say that they end at {told}, which is no time") from error
