"""What the rows about some objects, and about all above them, say that a caller holds on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from lakeward_authz.adapters.postgres.holders import Place
from lakeward_authz.application.permissions import Rights
from lakeward_authz.domain.permissions.compiled import NOTHING
from lakeward_authz.domain.permissions.lakeward import ASSIGNEE, GLIMPSE, MANAGED_ACCESS, MODEL, SIGHT, TABULARS
from lakeward_authz.domain.permissions.objects import NIL

NOWHERE: Final = NIL.bytes
_SERVER: Final[Place] = ("server", "", NOWHERE, NOWHERE)
BITS: Final = {name: found.bits for name, found in MODEL.types.items()}
_INDEX: Final = {name: found.index for name, found in MODEL.types.items()}
TABULAR: Final = frozenset(kind.word for kind in TABULARS)


class Facts:
    """What was given on places, each of which is told of by a row.

    Args:
        rows: of the statements about rights.
        count: of the objects asked about.
    """

    def __init__(self, rows: Sequence[Any], count: int) -> None:
        """Read `rows`."""
        # what was given there, and the place above
        self._facts: Final[dict[Place, tuple[int, Place | None]]] = {}
        self._asked: Final[list[Place | None]] = [None] * count
        self._glimpsed: Final = [False] * count
        self._known: Final[dict[Place, int]] = {}
        self._revision: Final[int] = rows[0][-1]
        for n, project_id, warehouse_id, kind, object_id, parent_id, managed, given, extra, _ in rows:
            bits = BITS[kind]
            own = own_of(kind, given) if given else 0
            if managed:
                own |= bits[MANAGED_ACCESS]
            if extra:
                own |= bits[ASSIGNEE if kind == "role" else GLIMPSE]
            place = (kind, project_id, warehouse_id, object_id)
            if n is not None:
                self._asked[n - 1] = place
                self._glimpsed[n - 1] = bool(extra) and kind != "role"
            if n is not None or place not in self._facts:
                self._facts[place] = (own, _above(place, parent_id))

    def rights(self) -> Rights:
        """What is held on the objects."""
        held = [None if place is None else self._held(place) for place in self._asked]
        return Rights(held, self._glimpsed, self._revision)

    def seen(self) -> Mapping[Place, int]:
        """Of the places that may be remembered (see `Held`), what is held on them."""
        found: dict[Place, int] = {}
        for place in self._asked:
            if place is None or not (place[0] in TABULAR or place[0] == "warehouse"):
                continue
            held = self._held(place)
            if not held & BITS[place[0]][SIGHT]:
                continue
            if place[0] == "warehouse":
                found[place] = held
            elif (above := self._facts[place][1]) is not None:
                found[above] = self._held(above)
        return found

    def _held(self, place: Place) -> int:
        """What follows along the chain from the server down; a missing link gives nothing, and so does what is above it."""
        known, facts = self._known, self._facts
        if (found := known.get(place)) is not None:
            return found
        chain: list[Place] = []
        link: Place | None = place
        while link is not None and link not in known:
            chain.append(link)
            link = facts[link][1] if link in facts else None
        above = NOTHING if link is None else _INDEX[link[0]]
        held = 0 if link is None else known[link]
        for one in reversed(chain):
            index = _INDEX[one[0]]
            held = MODEL.held(index, facts[one][0] if one in facts else 0, above, held)
            above = index
            known[one] = held
        return held


def rights_of(rows: Sequence[Any], count: int) -> Rights:
    """What the rows of a statement about rights say of so many objects."""
    return Facts(rows, count).rights()


def own_of(type_name: str, given: Sequence[str]) -> int:
    """Relations that were given, as bits; one of a later release's model gives nothing here."""
    bits, own = BITS[type_name], 0
    for relation in given:
        own |= bits.get(relation, 0)
    return own


def _above(place: Place, parent_id: bytes | None) -> Place | None:
    kind, project_id, warehouse_id, _ = place
    if parent_id is not None:
        return ("namespace", project_id, warehouse_id, parent_id)
    if kind == "server":
        return None
    if kind == "project":
        return _SERVER
    if kind == "warehouse" or warehouse_id == NOWHERE:
        return ("project", project_id, NOWHERE, NOWHERE)
    return ("warehouse", project_id, warehouse_id, NOWHERE)
