"""Generic tables: what the catalog keeps of tables of formats other than Iceberg's.

with Client("https://lake.example.com", auth="...") as lake:
tables = lake.warehouse("sales").generic
images = tables.create("ai", "images", format="lance")
lance.write_dataset(rows, mode="overwrite", **images.access().lance())
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from enum import Enum
from typing import Any
from uuid import UUID

from lakeward.errors import AnswerError, ConfigurationError


class Kept(Enum):
    """What an update says of something that it leaves as it is."""

    AS_IT_IS = "as it is"


KEPT = Kept.AS_IT_IS


@dataclass(frozen=True)
class Described:
    """What the catalog keeps of a generic table.

    Attributes:
        id: None where the server does not say.
        namespace: its levels.
        name: as it is stored.
        format: opaque to the catalog, as "lance".
        location: where its files are.
        properties: the writer's own.
        doc: for people.
        schema: any JSON; None where none is kept.
        statistics: any JSON; None where none is kept.
        protected: whether a drop is refused unless it is forced.
        registered: files lay at its location before it; a drop leaves them unless it says otherwise.
        etag: the state of all this, for updates that must change no newer one; None where the server does not say.
    """

    id: UUID | None
    namespace: Sequence[str]
    name: str
    format: str
    location: str
    properties: Mapping[str, str] = field(default_factory=dict)
    doc: str | None = None
    schema: Any = None
    statistics: Any = None
    protected: bool = False
    registered: bool = False
    etag: str | None = None


@dataclass(frozen=True)
class Listed:
    """A generic table in a listing.

    Attributes:
        id: of the table.
        namespace: its levels.
        name: as it is stored.
        format: as "lance".
    """

    id: UUID
    namespace: Sequence[str]
    name: str
    format: str


@dataclass(frozen=True)
class TableVersion:
    """A version of a table that a writer claimed.

    Attributes:
        version: a number; each is claimed once.
        path: of its file, below the table's location.
        size: of the file, in bytes; None where its writer did not say.
        properties: the writer's own.
        claimed_at: aware.
    """

    version: int
    path: str
    size: int | None
    properties: Mapping[str, str]
    claimed_at: datetime


def described(namespace: Sequence[str], answer: Mapping[str, Any], etag: str | None) -> Described:
    """What a load, a create or an update answers.

    Args:
        namespace: that was asked in.
        answer: the document.
        etag: of the answer.
    """
    try:
        table = answer["table"]
        return Described(
            id=UUID(table["id"]) if table.get("id") else None,
            namespace=tuple(namespace),
            name=table["name"],
            format=table["format"],
            location=table["base-location"],
            properties=dict(table.get("properties") or {}),
            doc=table.get("doc"),
            schema=table.get("schema"),
            statistics=table.get("statistics"),
            protected=bool(table.get("protected")),
            registered=bool(table.get("registered")),
            etag=etag,
        )
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise AnswerError(f"the answer describes no generic table: {error!r}") from error


def config_of(answer: Mapping[str, Any]) -> Mapping[str, str]:
    """Everything that an answer says of the store and its credentials, in Iceberg's words."""
    config: dict[str, str] = dict(answer.get("config") or {})
    for entry in answer.get("storage-credentials") or ():  # one, for the table's location
        config.update(entry["config"])
    return config


def version_of(answer: Mapping[str, Any]) -> TableVersion:
    """A version as the API answers it."""
    try:
        return TableVersion(
            version=int(answer["version"]),
            path=str(answer["path"]),
            size=answer.get("size"),
            properties=dict(answer.get("properties") or {}),
            claimed_at=datetime.fromtimestamp(answer["claimed-at-ms"] / 1000, timezone.utc),
        )
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, OSError) as error:
        raise AnswerError(f"the answer describes no version: {error!r}") from error


_CANONICAL = re.compile(r'\s*(?:W/)?"[^"]*"\s*')


def if_match(etag: str | None) -> Mapping[str, str]:
    """The header of a change that must meet one state; none where any state will do.

    Raises:
        ConfigurationError: it is no entity tag.
    """
    if etag is None:
        return {}
    if not _CANONICAL.fullmatch(etag):
        raise ConfigurationError(f"{etag!r} is no entity tag: it is the `etag` of a table, quotes included")
    return {"if-match": etag}
