"""What is remembered of places above what callers see: it says what the rows say, and tells nothing of what is hidden."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings

from lakeward_authz.adapters.postgres.holders import HELD, Holders
from lakeward_authz.adapters.postgres.rights import RIGHTS_OF_MANY, PostgresRights
from lakeward_authz.adapters.postgres.within_seen import RIGHTS_WITHIN
from lakeward_authz.application.permissions import Asked, Gone, Grant, Made, Moved
from lakeward_authz.domain.permissions.lakeward import TABULARS
from lakeward_authz.domain.permissions.objects import ObjectKey
from lakeward_servicekit.postgres.pools import Pool
from tests.support.authz_stores import Stores
from tests.support.authz_worlds import ROLES, USERS, World, fill, id_of, small, subject_of, worlds

pytestmark = pytest.mark.integration
FEW = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
ANNE, BEN = subject_of("user:anne"), subject_of("user:ben")
KINDS = {kind.word for kind in TABULARS}


class Counted:
    """A pool, and which statements were sent through it."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.sent: list[str] = []

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._pool, name)

        def send(statement: str, *arguments: object) -> Any:
            self.sent.append(statement)
            return inner(statement, *arguments)

        return send

    async def of(self, question: Coroutine[Any, Any, object]) -> list[str]:
        """The statements of one question."""
        self.sent.clear()
        await question
        return [*self.sent]


def around(key: ObjectKey) -> ObjectKey:
    return ObjectKey("warehouse", key.project_id, key.warehouse_id)


@FEW
@given(world=worlds())
async def test_who_was_seen_before_is_told_what_the_rows_say(stores: Stores, world: World) -> None:
    await stores.forget()
    await fill(world, stores.tree, stores.grants)
    tabulars = [node.key for node in world.nodes.values() if node.key.type in KINDS]
    asked: Sequence[Asked] = [
        (subject_of(caller), [around(key), key], ())
        for caller in (*USERS, *(f"role:{role}" for role in ROLES))
        for key in tabulars
    ]
    known = PostgresRights(stores.pool, holders=Holders(stores.pool))
    rows = [await stores.rights.of(subject, keys, also=also) for subject, keys, also in asked]
    for _ in range(3):
        assert await known.of_apart(asked) == rows
        for question, its in zip(asked, rows, strict=True):
            assert await known.of_apart([question]) == [its]
            if (seen := known.glimpsed(question[0], question[1][:1])) is not None:
                assert (seen.held, seen.glimpsed, seen.revision) == (its.held[:1], its.glimpsed[:1], its.revision)


@pytest.fixture
async def place(stores: Stores) -> World:
    """Anne may read one of three tables, two of which share a namespace; Ben may read nothing."""
    world = small()
    for name in ("seen", "hidden"):
        world.add("table", name, "n")
    world.add("namespace", "apart", "w")
    world.add("table", "hidden apart", "apart")
    world.add("role", "readers", "p")
    world.give("role:readers", "select", "seen")
    world.give("user:anne", "assignee", "readers")
    await fill(world, stores.tree, stores.grants)
    return world


async def test_the_work_of_a_refusal_does_not_tell_what_is_hidden_from_what_is_absent(
    stores: Stores, place: World
) -> None:
    pool = Counted(stores.pool)
    rights = PostgresRights(pool, holders=Holders(pool))  # type: ignore[arg-type]
    absent = ObjectKey("table", "p", id_of("w"), UUID(int=0))
    hidden = [place.nodes[name].key for name in ("hidden", "hidden apart")]

    async def statements(key: ObjectKey, who: Any = ANNE) -> list[str]:
        return await pool.of(rights.of_apart([(who, [around(key), key], ())]))

    # Anne sees the warehouse, which is remembered with her first question whatever it is about; Ben sees nothing.
    for who, work in ((ANNE, [RIGHTS_WITHIN, RIGHTS_OF_MANY]), (BEN, [RIGHTS_OF_MANY])):
        assert await statements(absent, who) == [HELD, RIGHTS_OF_MANY]
        for _ in range(2):
            for key in hidden:
                assert await statements(key, who) == work == await statements(absent, who)
    seen = place.nodes["seen"].key
    assert await statements(seen) == [RIGHTS_WITHIN, RIGHTS_OF_MANY]
    assert await statements(seen) == [RIGHTS_WITHIN], "what shows is looked at alone"
    for key in hidden:
        assert await statements(key) == [RIGHTS_WITHIN, RIGHTS_OF_MANY] == await statements(absent)


TAKES: dict[str, Callable[[Stores, World], Coroutine[Any, Any, object]]] = {
    "the right": lambda stores, place: stores.grants.change(
        place.nodes["n"].key, writes=[], deletes=[Grant(ANNE, "modify")]
    ),
    "the membership": lambda stores, place: stores.grants.change(
        place.nodes["readers"].key, writes=[], deletes=[Grant(ANNE, "assignee")]
    ),
    "the place": lambda stores, place: stores.tree.apply("more", [(1, Moved(place.nodes["n"].key, id_of("apart")))]),
    "the tabular": lambda stores, place: stores.tree.apply("more", [(1, Gone(place.nodes["seen"].key))]),
    "the owner's say": lambda stores, place: stores.tree.manage(place.nodes["n"].key, managed=True),
}


@pytest.mark.parametrize("taken", TAKES)
async def test_what_is_taken_is_not_held_at_the_very_next_question(stores: Stores, place: World, taken: str) -> None:
    seen = place.nodes["seen"].key
    writes = [Grant(ANNE, "modify")]
    await stores.grants.change(place.nodes["n"].key, writes=writes, deletes=[])
    await stores.grants.change(seen, writes=[Grant(ANNE, "ownership")], deletes=[])
    elsewhere = PostgresRights(stores.pool, holders=Holders(stores.pool))
    asked: Asked = (ANNE, [around(seen), seen], ())
    for _ in range(2):
        (before,) = await elsewhere.of_apart([asked])
    await TAKES[taken](stores, place)
    (after,) = await elsewhere.of_apart([asked])
    assert after == await stores.rights.of(ANNE, asked[1])
    assert (after.held, after.revision) != (before.held, before.revision)


async def test_what_one_makes_is_theirs_where_all_above_it_was_remembered(stores: Stores, place: World) -> None:
    rights = PostgresRights(stores.pool, holders=Holders(stores.pool))
    seen, new = place.nodes["seen"].key, ObjectKey("table", "p", id_of("w"), id_of("new"))
    for _ in range(2):
        await rights.of_apart([(ANNE, [around(seen), seen], ())])
    assert (await rights.of_apart([(ANNE, [around(new), new], ())]))[0].held[1] is None
    await stores.tree.apply("more", [(1, Made(new, id_of("n"), ANNE))])
    ((held, own),) = [each.held for each in await rights.of_apart([(ANNE, [around(new), new], ())])]
    assert [held, own] == (await stores.rights.of(ANNE, [around(new), new])).held
    assert own


async def test_many_places_are_forgotten_and_not_kept(stores: Stores, place: World) -> None:
    holders = Holders(stores.pool, most_places=1)
    rights, seen = PostgresRights(stores.pool, holders=holders), place.nodes["seen"].key
    for _ in range(3):
        (found,) = await rights.of_apart([(ANNE, [around(seen), seen], ())])
        assert found == await stores.rights.of(ANNE, [around(seen), seen])
    assert holders.known(ANNE) is None


async def test_callers_who_ask_together_are_answered_each_by_what_is_known_of_it(stores: Stores, place: World) -> None:
    rights = PostgresRights(stores.pool, holders=Holders(stores.pool))
    keys = [place.nodes[name].key for name in ("seen", "hidden")]
    asked: Sequence[Asked] = [(who, [around(key), key], ()) for who in (ANNE, BEN) for key in keys]
    expected = [await stores.rights.of(subject, objects) for subject, objects, _ in asked]
    for _ in range(3):
        assert await rights.of_apart(asked) == expected
    assert await asyncio.gather(*(rights.of_apart([each]) for each in asked)) == [[each] for each in expected]
