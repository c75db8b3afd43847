"""What callers hold on tabulars in warehouses that they are known to see, by the tabulars' rows and what is remembered above.

It only ever confirms sight. Of what is absent or hidden, and of what lies in a place that is not known, it says nothing, and
all of it is read as if nothing were remembered: whoever is refused can't tell by the work which of the two it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from lakeward_authz.adapters.postgres.facts import BITS, NOWHERE, TABULAR, own_of
from lakeward_authz.adapters.postgres.holders import Held, Place
from lakeward_authz.adapters.postgres.subjects import OBJECT
from lakeward_authz.application.permissions import Rights
from lakeward_authz.domain.permissions.lakeward import GLIMPSE, MODEL, SIGHT
from lakeward_authz.domain.permissions.objects import ObjectKey
from lakeward_servicekit.postgres.pools import Pool

RIGHTS_WITHIN: Final = f"""
with callers as materialized (
    select c, array_agg(subject) as subjects from unnest($1::int[], $2::text[]) as s(c, subject) group by c)
select a.c, a.n, uuid_send(o.parent_id),
       array(select g.relation from grants g
              where g.project_id = o.project_id and g.warehouse_id = o.warehouse_id and g.kind = o.kind
                and g.object_id = o.object_id and g.subject = any(w.subjects)),
       (select sum(revision) from revisions)::bigint
  from unnest($3::int[], $4::int[], $5::text[], $6::uuid[], $7::text[], $8::uuid[])
       as a(c, n, project_id, warehouse_id, kind, object_id)
  join callers w on w.c = a.c, lateral ({OBJECT.format("a")}) as o
"""
_NAMESPACE: Final = MODEL.types["namespace"].index


class Likely(NamedTuple):
    """A caller who is known, and what it asks about, which `below_seen` says may be answered so."""

    held: Held
    objects: Sequence[ObjectKey]


def below_seen(objects: Sequence[ObjectKey], held: Held) -> bool:
    """Whether a question is about tabulars, beside the warehouses that they are in, and all of these are known to show."""
    warehouses = {key.warehouse_id for key in objects if key.type == "warehouse"}
    inside = False
    for key in objects:
        if key.type in TABULAR:
            inside = True
            if key.warehouse_id not in warehouses:
                return False
        elif key.type != "warehouse" or _place(key) not in held.places:
            return False
    return inside


def seen_before(objects: Sequence[ObjectKey], held: Held) -> Rights | None:
    """What a caller was known to hold on warehouses that show; None where one of the objects is none of these."""
    places = [_place(key) for key in objects]
    if not all(key.type == "warehouse" and place in held.places for key, place in zip(objects, places, strict=True)):
        return None
    found = [held.places[place] for place in places]
    return Rights(found, [bool(each & BITS["warehouse"][GLIMPSE]) for each in found], held.revision)


async def within_seen(pool: Pool, likely: Mapping[int, Likely]) -> dict[int, Rights]:
    """What those hold of whom everything that they ask about shows, by the number of each; one statement for all.

    Raises:
        Refusal: DATABASE_UNAVAILABLE.
    """
    callers = [(number, subject) for number, each in likely.items() for subject in each.held.subjects]
    asked = [
        (number, place, key.project_id, key.warehouse_id, key.type, key.id)
        for number, each in likely.items()
        for place, key in enumerate(each.objects)
        if key.type in TABULAR
    ]
    rows = await pool.fetch(RIGHTS_WITHIN, *map(list, zip(*callers, strict=True)), *map(list, zip(*asked, strict=True)))
    told: dict[int, dict[int, Any]] = {}
    for number, place, *row in rows:
        told.setdefault(number, {})[place] = row
    answers = {number: _answer(each, told.get(number, {})) for number, each in likely.items()}
    return {number: rights for number, rights in answers.items() if rights is not None}


def _answer(asked: Likely, told: Mapping[int, Any]) -> Rights | None:
    """What the rows say, by the place of each object; None where one of them is not there, or is not known to show."""
    places = asked.held.places
    held: list[int] = []
    glimpsed: list[bool] = []
    for place, key in enumerate(asked.objects):
        bits = BITS[key.type]
        if key.type not in TABULAR:
            its = places[_place(key)]
        else:
            row = told.get(place)
            if row is None:
                return None
            parent_id, given, revision = row
            above = places.get(("namespace", key.project_id, key.warehouse_id.bytes, parent_id))
            if above is None or revision != asked.held.revision:
                return None
            its = MODEL.held(MODEL.types[key.type].index, own_of(key.type, given), _NAMESPACE, above)
        if not its & bits[SIGHT]:
            return None
        held.append(its)
        glimpsed.append(bool(its & bits.get(GLIMPSE, 0)))
    return Rights(held, glimpsed, asked.held.revision)


def _place(key: ObjectKey) -> Place:
    return (key.type, key.project_id, key.warehouse_id.bytes, NOWHERE)
