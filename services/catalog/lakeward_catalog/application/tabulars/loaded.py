"""What a reply about a tabular holds, whatever its kind."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from lakeward_catalog.application.ports.access import Access
from lakeward_catalog.domain.model import Tabular
from lakeward_servicekit.deflated import Deflated


class Credential(msgspec.Struct, frozen=True):
    """A credential for one location."""

    prefix: str
    config: Mapping[str, str]


class Loaded(msgspec.Struct, frozen=True):
    """A tabular, as a reply shows it.

    Attributes:
        etag: "" where the reply has none.
        metadata_location: None while staged.
        metadata: compressed for callers that take it, else plain.
        config: None where the caller may not read data.
        tabular: what it is, where a reply says more of it than its metadata.
        expires_at: when the first of credential and signer's scope ends, where a reply says so.
    """

    etag: str
    metadata_location: str | None
    metadata: Deflated | bytes
    config: Mapping[str, str] | None = None
    credentials: tuple[Credential, ...] = ()
    tabular: Tabular | None = None
    expires_at: datetime | None = None


class Given(msgspec.Struct, frozen=True):
    """Access to a tabular's files, as a reply shows it.

    Attributes:
        config: client properties, with links.
        credentials: none where none was vended, or it is among the client properties alone.
        expires_at: when the first of credential and signer's scope ends; None where there is neither.
    """

    level: Access
    config: Mapping[str, str]
    credentials: tuple[Credential, ...] = ()
    expires_at: datetime | None = None
