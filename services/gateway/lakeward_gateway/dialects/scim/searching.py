"""What every request of SCIM says in its query, and which part of a listing is meant."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from scim2_models import SearchRequest

from lakeward_gateway.http import Request
from lakeward_gateway.query import Text

LARGEST_PAGE: Final = 200
_LARGEST_START: Final = 2**31 - 1
FILTER: Final = Text("filter", 'Which entries, as in `userName eq "ann@example.org"`.')
START_INDEX: Final = Text("startIndex", "Place of the first entry, from 1.")
COUNT: Final = Text("count", f"How many entries at most; cut to {LARGEST_PAGE}.")
ATTRIBUTES: Final = Text("attributes", "Attributes that are shown, in place of those that are shown by default.")
EXCLUDED: Final = Text("excludedAttributes", "Attributes that are not shown, as `members`.")
SHAPE: Final = (ATTRIBUTES, EXCLUDED)
LISTING: Final = (FILTER, START_INDEX, COUNT, *SHAPE)


def parameters_of(request: Request) -> Mapping[str, Any]:
    """What the query says, by name; the RFC's models read it.

    Raises:
        Refusal: INVALID_FIELD, for a name that is given twice.
    """
    query = request.query
    found = {parameter.name: parameter.read(query) for parameter in LISTING}
    return {name: value for name, value in found.items() if value is not None}


def base_of(request: Request) -> str:
    """Where SCIM is served, as clients reach it."""
    return f"{request.context.base_uri.rstrip('/')}/scim/v2"


@dataclasses.dataclass(frozen=True, slots=True)
class Window:
    """A part of a listing.

    Attributes:
        start: place of the first entry, from 1.
        count: how many entries at most.
    """

    start: int
    count: int

    @staticmethod
    def of(search: SearchRequest[Any]) -> Window:
        """As the RFC reads what is out of bounds: at the next that is in them."""
        start = min(max(search.start_index or 1, 1), _LARGEST_START)
        count = LARGEST_PAGE if search.count is None else min(max(search.count, 0), LARGEST_PAGE)
        return Window(start, count)
