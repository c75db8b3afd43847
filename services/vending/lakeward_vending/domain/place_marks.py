"""What a store itself says of who has a place in it.

An endpoint has many spellings, and two that differ may lead to one store; only the store can tell. So a warehouse's place holds a
mark, an object directly in its base location, which no tabular's location can enclose:

    <base>/.lakeward-warehouse

That tells of the same place. What lies above or below it is told by a second mark, in one directory of the bucket, whose names
begin with the base, so that a listing finds what lies below and a few what lies above:

    .lakeward-warehouses/<base>/=<warehouse>
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from typing import TYPE_CHECKING, Final
from uuid import UUID

if TYPE_CHECKING:
    from lakeward_locations import Location

NAME: Final = ".lakeward-warehouse"
DIRECTORY: Final = ".lakeward-warehouses"
MAX_BYTES: Final = 4096
_LEAF: Final = "="


@dataclasses.dataclass(frozen=True, slots=True)
class PlaceMark:
    """Whose a place is.

    Attributes:
        installation: the catalog's; ids of warehouses mean something in it alone.
        claimed_at: when it was marked.
    """

    installation: UUID
    warehouse_id: UUID
    claimed_at: dt.datetime

    def dump(self) -> bytes:
        """The object's content; for people too, who find it in their bucket."""
        document = {
            "about": "A Lakeward warehouse lies here. While this object is here, no other warehouse is made at this place.",
            "installation": str(self.installation),
            "warehouse-id": str(self.warehouse_id),
            "claimed-at": self.claimed_at.astimezone(dt.UTC).isoformat(),
        }
        return json.dumps(document, indent=2).encode()

    def is_of(self, other: PlaceMark) -> bool:
        """Whether both are marks of one warehouse."""
        return (self.installation, self.warehouse_id) == (other.installation, other.warehouse_id)


def is_reserved(segment: str) -> bool:
    """Whether a segment of a path is one of marks."""
    return segment.casefold() in {NAME, DIRECTORY}


def parse(content: bytes) -> PlaceMark | None:
    """A mark that was read, whoever wrote it; None for what is none."""
    try:
        document = json.loads(content)
        claimed_at = dt.datetime.fromisoformat(document["claimed-at"]).astimezone(dt.UTC)
        return PlaceMark(UUID(document["installation"]), UUID(document["warehouse-id"]), claimed_at)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def own_key(base: Location) -> str:
    """The object that marks a base as taken."""
    return f"{base.prefix}{NAME}"


def listed_key(base: Location, warehouse_id: UUID) -> str:
    """The object that tells warehouses above and below of this one."""
    return f"{below_prefix(base)}{_LEAF}{warehouse_id}"


def below_prefix(base: Location) -> str:
    """What the names of marks of warehouses here and below begin with."""
    return f"{DIRECTORY}/{base.prefix}"


def above_prefixes(base: Location) -> list[str]:
    """What the names of marks of warehouses begin with that strictly enclose this place; the bucket first."""
    segments = base.segments
    heads = ("".join(f"{segment}/" for segment in segments[:count]) for count in range(len(segments)))
    return [f"{DIRECTORY}/{head}{_LEAF}" for head in heads]
