"""Postgres: where it is, how TLS is used, how many connections a process takes."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import quote

from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Family, Service
from lakeward_servicekit.settings.model import Contradiction, Settings, setting

_LISTINGS: Final = (Service.CATALOG,)


class PostgresSettings(Settings, read_by={Service.CATALOG, Service.AUTHZ, Service.VENDING, Service.CLI}):
    """Postgres. `write_url`, `read_url` and `direct_url` say where, however it was written."""

    database_url_write: SecretStr | None = setting(
        "PG_DATABASE_URL_WRITE",
        kinds.POSTGRES_URL,
        None,
        "Postgres for changes and point reads; wins over the host parts.",
    )
    database_url_read: SecretStr | None = setting(
        "PG_DATABASE_URL_READ",
        kinds.POSTGRES_URL,
        None,
        "Postgres for listings, which may lag behind; the write URL if unset.",
        services=_LISTINGS,
    )
    database_url_direct: SecretStr | None = setting(
        "PG_DIRECT_URL",
        kinds.POSTGRES_URL,
        None,
        "Postgres past any pooler, for LISTEN and leases; the write URL if unset.",
        family=Family.OURS,
    )
    host_w: str | None = setting("PG_HOST_W", kinds.TEXT, None, "Host of the write URL, where no URL is given.")
    host_r: str | None = setting(
        "PG_HOST_R", kinds.TEXT, None, "Host of the read URL; the write host if unset.", services=_LISTINGS
    )
    port: int | None = setting("PG_PORT", kinds.integer(minimum=1, maximum=65535), None, "Port of both hosts.")
    user: str | None = setting("PG_USER", kinds.TEXT, None, "Role on both hosts.")
    password: SecretStr | None = setting("PG_PASSWORD", kinds.SECRET, None, "Its password.")
    database: str | None = setting("PG_DATABASE", kinds.TEXT, None, "Database on both hosts.")
    ssl_mode: str = setting(
        "PG_SSL_MODE",
        kinds.word(
            *("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
            spellings={"disabled": "disable", "verifyca": "verify-ca", "verifyfull": "verify-full"},
        ),
        "prefer",
        "TLS to the hosts; a URL says its own with `sslmode=`.",
    )
    ssl_root_cert: Path | None = setting(
        "PG_SSL_ROOT_CERT", kinds.PATH, None, "CA bundle that Postgres is verified with; of URLs as well."
    )
    schema_prefix: str | None = setting(
        "PG_SCHEMA",
        kinds.matching(
            r"(?!pg_)(?!information_schema$)[A-Za-z_][A-Za-z0-9_]{0,54}",
            "a name of 1 to 55 letters, digits and '_' that begins with no digit and no pg_, and is not information_schema",
        ),
        None,
        "Beginning of the schemas' names, each service's own after it: `acme` gives acme_catalog; lakeward if unset.",
    )
    read_pool_connections: int = setting(
        "PG_READ_POOL_CONNECTIONS", kinds.COUNT, "10", "Connections of one process to the read URL.", services=_LISTINGS
    )
    write_pool_connections: int = setting(
        "PG_WRITE_POOL_CONNECTIONS", kinds.COUNT, "5", "Write connections of one process."
    )
    acquire_timeout: timedelta = setting(
        "PG_ACQUIRE_TIMEOUT", kinds.DURATION, "5", "Longest wait for a free connection."
    )
    connection_max_lifetime: timedelta | None = setting(
        "PG_CONNECTION_MAX_LIFETIME", kinds.DURATION, None, "Age at which a connection is replaced."
    )
    test_before_acquire: bool = setting(
        "PG_TEST_BEFORE_ACQUIRE", kinds.BOOLEAN, "false", "Whether each connection is tried before use."
    )
    statement_logging: bool = setting(
        "PG_ENABLE_STATEMENT_LOGGING",
        kinds.BOOLEAN,
        "false",
        "Whether each statement is logged with its duration; never its parameters.",
    )

    def __post_init__(self) -> None:
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
