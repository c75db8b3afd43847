"""What listings of the tree promise: everything once, in one order, whatever the size of a page."""

from __future__ import annotations

from uuid import UUID

import pytest

from lakeward_authz.application.permissions import Made
from lakeward_authz.application.tree import Place, Standing
from lakeward_authz.domain.permissions.objects import NIL, ObjectKey
from tests.support.authz_stores import Stores

pytestmark = pytest.mark.integration

V, W = UUID(int=1), UUID(int=2)
NAMESPACES = [UUID(int=number) for number in (10, 11, 12)]
TABLES = [UUID(int=number) for number in (9, 20, 21)]


async def _filled(stores: Stores) -> dict[Place, list[Standing]]:
    """Two projects, one with two warehouses and a role; what is where, in order."""
    await stores.forget()
    role = UUID(int=7)
    changes = [
        Made(ObjectKey("project", "a")),
        Made(ObjectKey("project", "b")),
        Made(ObjectKey("role", "b", id=role)),
        Made(ObjectKey("warehouse", "b", V)),
        Made(ObjectKey("warehouse", "b", W)),
        *(
            Made(ObjectKey("namespace", "b", W, each), NAMESPACES[0] if each != NAMESPACES[0] else None)
            for each in NAMESPACES
        ),
        *(Made(ObjectKey("table", "b", W, each), NAMESPACES[1]) for each in TABLES),
        Made(ObjectKey("view", "b", W, TABLES[0]), NAMESPACES[2]),
    ]
    await stores.tree.apply("s", list(enumerate(changes, 1)))
    inside = [Standing(each.object, each.parent_id) for each in changes]
    places = [Place("a"), Place("b"), Place("b", V), Place("b", W)]
    return {
        place: sorted(
            (
                each
                for each in inside
                if (each.key.project_id, each.key.warehouse_id) == (place.project_id, place.warehouse_id)
            ),
            key=lambda each: (each.key.type, each.key.id),
        )
        for place in places
    }


@pytest.mark.parametrize("limit", [1, 2, 1000])
async def test_places_are_those_where_there_is_anything(stores: Stores, limit: int) -> None:
    filled, found = await _filled(stores), list[Place]()
    while page := await stores.listing.places(after=found[-1] if found else None, limit=limit):
        assert len(page) <= limit
        found += page
    assert found == list(filled)


@pytest.mark.parametrize("limit", [1, 2, 1000])
async def test_a_place_lists_all_that_is_in_it_by_type_and_id(stores: Stores, limit: int) -> None:
    for place, inside in (await _filled(stores)).items():
        found = list[Standing]()
        while page := await stores.listing.objects(place, after=found[-1].key if found else None, limit=limit):
            assert len(page) <= limit
            found += page
        assert found == inside


async def test_some_are_found_by_their_ids_whatever_their_type_and_the_place_itself_by_none(stores: Stores) -> None:
    inside, place = (await _filled(stores))[Place("b", W)], Place("b", W)
    asked = [TABLES[0], NAMESPACES[2], NIL, UUID(int=999)]
    found = await stores.listing.objects(place, after=None, limit=1000, ids=asked)
    assert found == [each for each in inside if each.key.id in asked]
    assert [each.key.type for each in found] == ["namespace", "table", "view", "warehouse"]
