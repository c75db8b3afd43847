"""Postgres: where it is, how TLS is used, how many connections a process takes."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Literal, Self
from urllib.parse import quote

from pydantic import SecretStr, model_validator

from lakeward_servicekit.settings.model import Contradiction, Settings, named

SslMode = Literal["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]


class PostgresSettings(Settings):
    """Postgres. `write_url`, `read_url` and `direct_url` say where, however it was written."""

    database_url_write: SecretStr | None = named("PG_DATABASE_URL_WRITE")
    database_url_read: SecretStr | None = named("PG_DATABASE_URL_READ")
    database_url_direct: SecretStr | None = named("PG_DIRECT_URL")
    host_w: str | None = named("PG_HOST_W")
    host_r: str | None = named("PG_HOST_R")
    port: int | None = named("PG_PORT")
    user: str | None = named("PG_USER")
    password: SecretStr | None = named("PG_PASSWORD")
    database: str | None = named("PG_DATABASE")
    ssl_mode: SslMode = named("PG_SSL_MODE")
    ssl_root_cert: Path | None = named("PG_SSL_ROOT_CERT")
    schema_prefix: str | None = named("PG_SCHEMA")
    read_pool_connections: int = named("PG_READ_POOL_CONNECTIONS")
    write_pool_connections: int = named("PG_WRITE_POOL_CONNECTIONS")
    acquire_timeout: timedelta = named("PG_ACQUIRE_TIMEOUT")
    connection_max_lifetime: timedelta | None = named("PG_CONNECTION_MAX_LIFETIME")
    test_before_acquire: bool = named("PG_TEST_BEFORE_ACQUIRE")
    statement_logging: bool = named("PG_ENABLE_STATEMENT_LOGGING")

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if self.database_url_write is None:
            parts = {
                "PG_HOST_W": self.host_w,
                "PG_PORT": self.port,
                "PG_USER": self.user,
                "PG_PASSWORD": self.password,
                "PG_DATABASE": self.database,
            }
            missing = [name for name, part in parts.items() if part is None]
            if len(missing) == len(parts):
                raise Contradiction(("PG_DATABASE_URL_WRITE", "is missing: the Postgres to use"))
            if missing:
                raise Contradiction(*((name, "is missing, and no PG_DATABASE_URL_WRITE is set") for name in missing))
        return self

    @property
    def write_url(self) -> SecretStr:
        """Changes and point reads."""
        assert self.database_url_write is not None or self.host_w is not None
        return self.database_url_write or self._from_parts(self.host_w or "")

    @property
    def read_url(self) -> SecretStr:
        """Listings, search and statistics; may lag behind."""
        if self.database_url_read is not None:
            return self.database_url_read
        if self.host_r is not None and self.database_url_write is None:
            return self._from_parts(self.host_r)
        return self.write_url

    @property
    def direct_url(self) -> SecretStr:
        """LISTEN and leases, which a transaction pooler would break."""
        return self.database_url_direct or self.write_url

    def schema_of(self, service: str) -> str:
        """The schema that a service owns: "lakeward_catalog", or "acme_catalog" with PG_SCHEMA=acme."""
        return f"{self.schema_prefix or 'lakeward'}_{service}"

    def _from_parts(self, host: str) -> SecretStr:
        password = "" if self.password is None else self.password.get_secret_value()
        userinfo = f"{quote(self.user or '', safe='')}:{quote(password, safe='')}"
        if host.startswith("/"):  # a socket's folder
            where, query = f":{self.port}", f"host={quote(host, safe='')}&"
        else:
            where, query = f"{f'[{host}]' if ':' in host else host}:{self.port}", ""
        database = quote(self.database or "", safe="")
        return SecretStr(f"postgresql://{userinfo}@{where}/{database}?{query}sslmode={self.ssl_mode}")
