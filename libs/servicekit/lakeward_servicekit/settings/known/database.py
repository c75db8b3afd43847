"""Names of Postgres and of the secret store."""

from __future__ import annotations

from typing import Final

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Service, Setting, Support

PLACEHOLDER_KEY: Final = "<This is unsafe, please set a proper key>"

_DATABASE: Final = frozenset({Service.CATALOG, Service.AUTHZ, Service.VENDING, Service.CLI})
_CATALOG: Final = frozenset({Service.CATALOG})
_VENDING: Final = frozenset({Service.VENDING})
_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_SPELLINGS: Final = {"disabled": "disable", "verifyca": "verify-ca", "verifyfull": "verify-full"}

_POSTGRES: Final = (
    Setting(
        "PG_DATABASE_URL_WRITE",
        kinds.POSTGRES_URL,
        None,
        "Postgres for changes and point reads; wins over the host parts.",
        secret=True,
        services=_DATABASE,
    ),
    Setting(
        "PG_DATABASE_URL_READ",
        kinds.POSTGRES_URL,
        None,
        "Postgres for listings, which may lag behind; the write URL if unset.",
        secret=True,
        services=_CATALOG,
    ),
    Setting("PG_HOST_W", kinds.TEXT, None, "Host of the write URL, where no URL is given.", services=_DATABASE),
    Setting("PG_HOST_R", kinds.TEXT, None, "Host of the read URL; the write host if unset.", services=_CATALOG),
    Setting("PG_PORT", kinds.integer(minimum=1, maximum=65535), None, "Port of both hosts.", services=_DATABASE),
    Setting("PG_USER", kinds.TEXT, None, "Role on both hosts.", services=_DATABASE),
    Setting("PG_PASSWORD", kinds.TEXT, None, "Its password.", secret=True, services=_DATABASE),
    Setting("PG_DATABASE", kinds.TEXT, None, "Database on both hosts.", services=_DATABASE),
    Setting(
        "PG_SSL_MODE",
        kinds.word(*_MODES, spellings=_SPELLINGS),
        "prefer",
        "TLS to the hosts; a URL says its own with `sslmode=`.",
        services=_DATABASE,
    ),
    Setting(
        "PG_SSL_ROOT_CERT",
        kinds.PATH,
        None,
        "CA bundle that Postgres is verified with; of URLs as well.",
        services=_DATABASE,
    ),
    Setting(
        "PG_SCHEMA",
        kinds.matching(
            r"(?!pg_)(?!information_schema$)[A-Za-z_][A-Za-z0-9_]{0,54}",
            "a name of 1 to 55 letters, digits and '_' that begins with no digit and no pg_, and is not information_schema",
        ),
        None,
        "Beginning of the schemas' names, each service's own after it: `acme` gives acme_catalog; lakeward if unset.",
        services=_DATABASE,
    ),
    Setting(
        "PG_READ_POOL_CONNECTIONS", kinds.COUNT, "10", "Connections of one process to the read URL.", services=_CATALOG
    ),
    Setting("PG_WRITE_POOL_CONNECTIONS", kinds.COUNT, "5", "Write connections of one process.", services=_DATABASE),
    Setting("PG_ACQUIRE_TIMEOUT", kinds.DURATION, "5", "Longest wait for a free connection.", services=_DATABASE),
    Setting(
        "PG_CONNECTION_MAX_LIFETIME", kinds.DURATION, None, "Age at which a connection is replaced.", services=_DATABASE
    ),
    Setting(
        "PG_TEST_BEFORE_ACQUIRE",
        kinds.BOOLEAN,
        "false",
        "Whether each connection is tried before use.",
        services=_DATABASE,
    ),
    Setting(
        "PG_ENABLE_STATEMENT_LOGGING",
        kinds.BOOLEAN,
        "false",
        "Whether each statement is logged with its duration; never its parameters.",
        services=_DATABASE,
    ),
)

_SECRETS: Final = (
    Setting(
        "SECRET_BACKEND",
        kinds.word("postgres", "kv2"),
        "postgres",
        "Where storage secrets are kept.",
        services=_VENDING,
    ),
    Setting(
        "PG_ENCRYPTION_KEY",
        kinds.TEXT,
        PLACEHOLDER_KEY,
        "Passphrase that storage secrets in Postgres are encrypted with. The default is refused.",
        secret=True,
        services=_VENDING,
    ),
    Setting(
        "KV2__URL", kinds.HTTP_URL, None, "Address of the key-value store.", support=Support.PLANNED, services=_VENDING
    ),
    Setting("KV2__USER", kinds.TEXT, None, "User of its userpass login.", support=Support.PLANNED, services=_VENDING),
    Setting(
        "KV2__PASSWORD",
        kinds.TEXT,
        None,
        "Password of its userpass login.",
        support=Support.PLANNED,
        secret=True,
        services=_VENDING,
    ),
    Setting("KV2__SECRET_MOUNT", kinds.TEXT, None, "Mount of the secrets.", support=Support.PLANNED, services=_VENDING),
)

SETTINGS: Final = (*_POSTGRES, *_SECRETS)
