"""Answers under their old names. Members that they have not are left out, as they were there."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from pydantic import BaseModel, ConfigDict, Field

from lakeward.compat.lance import iceberg_creds_to_fsspec, iceberg_creds_to_lance, merged
from lakeward.compat.objects import ObjectStore, object_store_for

_EXPIRIES = ("expiration-time", "s3.session-token-expires-at-ms", "gcs.oauth2.token-expires-at")
_SAS_EXPIRY = "adls.sas-token-expires-at-ms."


class _Model(BaseModel):
    model_config = ConfigDict(
        alias_generator=lambda name: name.replace("_", "-"), populate_by_name=True, extra="ignore"
    )


class StorageCredential(_Model):
    """Credentials for what lies below a prefix."""

    prefix: str
    config: dict[str, str] = Field(default_factory=dict)


class GenericTableData(_Model):
    """What the catalog keeps of a table."""

    name: str
    format: str
    base_location: str
    doc: str | None = None
    properties: dict[str, str] = Field(default_factory=dict)
    protected: bool = False


class LoadGenericTableResponse(_Model):
    """A table, with credentials where they were asked for."""

    table: GenericTableData
    config: dict[str, str] | None = None
    storage_credentials: list[StorageCredential] | None = None

    @property
    def location(self) -> str:
        """Where its files are."""
        return self.table.base_location

    @property
    def credentials(self) -> dict[str, str]:
        """Everything that was said of the store, in Iceberg's words."""
        return merged(self._entries, self.config)

    @property
    def lance_storage_options(self) -> dict[str, str]:
        """Lance's `storage_options`; of S3 alone."""
        return iceberg_creds_to_lance(self._entries, self.config)

    @property
    def fsspec_kwargs(self) -> dict[str, object]:
        """What `fsspec.filesystem("s3", …)` takes."""
        return iceberg_creds_to_fsspec(self._entries, self.config)

    @property
    def expires_at(self) -> datetime | None:
        """When the credentials end; None where that was not said."""
        told = self.credentials
        found = next((told[key] for key in _EXPIRIES if told.get(key)), None)
        found = found or next((value for key, value in told.items() if key.startswith(_SAS_EXPIRY) and value), None)
        try:
            return None if found is None else datetime.fromtimestamp(int(found) / 1000, timezone.utc)
        except (ValueError, OverflowError, OSError):
            return None

    def expires_within(self, seconds: float) -> bool:
        """Whether the credentials end so soon; not where nobody said when they do."""
        ends = self.expires_at
        return ends is not None and ends <= datetime.now(timezone.utc) + timedelta(seconds=seconds)

    @property
    def is_expired(self) -> bool:
        """Whether the credentials have ended."""
        return self.expires_within(0)

    def objects(self) -> ObjectStore:
        """The files at the table's place, by their paths below it.

        Raises:
            ConfigError: there are no credentials, or the store's library is not installed.
        """
        return object_store_for(self.location, self.credentials)

    @property
    def _entries(self) -> list[dict[str, object]]:
        return [entry.model_dump() for entry in self.storage_credentials or ()]


class GenericTableIdentifier(_Model):
    """A table in a listing."""

    namespace: list[str]
    name: str
    format: str | None = None
    id: str | None = None


class ListGenericTablesResponse(_Model):
    """A page of a listing."""

    identifiers: list[GenericTableIdentifier] = Field(default_factory=list)
    next_page_token: str | None = None
