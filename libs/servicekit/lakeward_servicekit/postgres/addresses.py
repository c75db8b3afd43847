"""From a Postgres URL to what asyncpg connects with."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from lakeward_servicekit import tls

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping
    from pathlib import Path

_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
# How libpq's names of TLS files are given to a context of our own.
_OWN_FILES: Final = frozenset({"sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword"})


@dataclasses.dataclass(frozen=True, slots=True)
class Address:
    """Where and how to connect.

    Attributes:
        dsn: for asyncpg; holds the password, so it is in no repr.
        ssl: a context where the server is to be verified; None leaves it to asyncpg and the URL's `sslmode`.
        server_settings: run-time parameters that each session begins with.
    """

    dsn: str = dataclasses.field(repr=False)
    ssl: ssl.SSLContext | None
    server_settings: Mapping[str, str]


def address_of(url: str, *, name: str, schema: str | None, root_cert: Path | None = None) -> Address:
    """Read a URL.

    With `sslmode` verify-ca or verify-full, or require and a root certificate, the server is verified with that
    certificate, or else with SSL_CERT_FILE and SSL_CERT_DIR, or the system's.

    Args:
        url: `postgresql://user:password@host:port/database?sslmode=...`.
        name: shown by Postgres as application_name, cut to 63 bytes.
        schema: where unqualified names are looked up first, before `public`; None leaves it to the server.
        root_cert: wins over the URL's `sslrootcert`.

    Raises:
        ValueError: `sslmode` is none of libpq's.
    """
    parts = urlsplit(url)
    query = parse_qsl(parts.query, keep_blank_values=True)
    given = dict(query)
    mode = given.get("sslmode", os.environ.get("PGSSLMODE", "prefer"))
    if mode not in _MODES:
        raise ValueError(f"sslmode is {mode!r}; it must be one of {', '.join(_MODES)}")
    root = str(root_cert) if root_cert is not None else given.get("sslrootcert", os.environ.get("PGSSLROOTCERT"))
    context = None
    if mode in {"verify-ca", "verify-full"} or (mode == "require" and root is not None):
        context = tls.client_context(
            ca_file=None if root == "system" else root,
            cert_file=given.get("sslcert"),
            key_file=given.get("sslkey"),
            key_password=given.get("sslpassword"),
            check_hostname=mode == "verify-full",
        )
        query = [(key, value) for key, value in query if key not in _OWN_FILES]
    # `jit` costs more than it saves in statements that take a millisecond.
    settings = {"application_name": name[:63], "timezone": "UTC", "jit": "off"}
    if schema is not None:
        settings["search_path"] = f"{quoted(schema)}, public"
    return Address(urlunsplit(parts._replace(query=urlencode(query))), context, settings)


def quoted(identifier: str) -> str:
    """An identifier as SQL takes it, case and all."""
    return '"' + identifier.replace('"', '""') + '"'
