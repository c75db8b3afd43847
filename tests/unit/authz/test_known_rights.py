"""What somebody held is remembered while no right is given or taken, and answers nothing that what is made could change."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from uuid import UUID

import pytest

from lakeward_authz.adapters.known_rights import KnownRights
from lakeward_authz.application.permissions import Asked, Rights, Shown
from lakeward_authz.domain.permissions.lakeward import GLIMPSE, MODEL
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject, role_subject, user_subject

ANNE, BEN = user_subject("oidc~anne"), user_subject("oidc~ben")
WAREHOUSE = UUID(int=1)
TABLE, NAMESPACE = (ObjectKey(kind, "p", WAREHOUSE, UUID(int=2)) for kind in ("table", "namespace"))
SELECT = MODEL.types["table"].bits["select"]


class Rows:
    """Holds what is set; `asked` says which objects were read, and `states` how often the state alone was."""

    def __init__(self) -> None:
        self.held: dict[ObjectKey, int | None] = {TABLE: SELECT}
        self.glimpsed = False
        self.state = 1
        self.states = 0
        self.asked: list[tuple[ObjectKey, ...]] = []

    async def bound(self, token_roles: Sequence[str], project_ids: Collection[str] | None) -> Sequence[Subject]:
        raise AssertionError((token_roles, project_ids))

    async def revision(self) -> int:
        self.states += 1
        await asyncio.sleep(0)
        return self.state

    async def of(self, subject: Subject, objects: Sequence[ObjectKey], *, also: Sequence[Subject] = ()) -> Rights:
        del subject, also
        self.asked.append(tuple(objects))
        return Rights([self.held.get(key) for key in objects], [self.glimpsed] * len(objects), self.state)

    async def of_each(self, asked: Sequence[Asked]) -> Sequence[Rights]:
        raise AssertionError(asked)

    async def shown(self, subject: Subject, scope: ObjectKey, type_name: str, *, also: Sequence[Subject] = ()) -> Shown:
        raise AssertionError((subject, scope, type_name, also))


async def test_what_was_held_is_read_once_while_the_state_stands() -> None:
    rows = Rows()
    known = KnownRights(rows)
    for _ in range(3):
        assert await known.of(ANNE, [TABLE]) == Rights([SELECT], [False], 1)
    assert (len(rows.asked), rows.states) == (1, 2)


async def test_whose_it_is_counts_and_so_do_the_roles_of_one_question() -> None:
    rows = Rows()
    known = KnownRights(rows)
    await known.of(ANNE, [TABLE])
    await known.of(BEN, [TABLE])
    await known.of(ANNE, [TABLE], also=[role_subject(UUID(int=9))])
    assert len(rows.asked) == 3


async def test_a_right_that_was_taken_is_gone_with_the_next_question() -> None:
    rows = Rows()
    known = KnownRights(rows)
    await known.of(ANNE, [TABLE])
    rows.held[TABLE], rows.state = 0, 2
    assert (await known.of(ANNE, [TABLE])).held == [0]
    assert (await known.of(ANNE, [TABLE])).held == [0]


async def test_a_right_that_is_taken_while_the_state_is_read_is_not_answered_from_what_was_known() -> None:
    rows = Rows()
    known = KnownRights(rows)
    await known.of(ANNE, [TABLE])
    asking = asyncio.create_task(known.of(ANNE, [TABLE]))
    await asyncio.sleep(0)
    rows.held[TABLE], rows.state = 0, 2
    await known.of(BEN, [TABLE])
    assert (await asking).held == [0]


async def test_an_answer_that_was_overtaken_is_not_kept() -> None:
    rows = Rows()
    known = KnownRights(rows)
    rows.state = 5
    await known.of(BEN, [TABLE])
    rows.state = 4
    await known.of(ANNE, [TABLE])
    rows.state = 5
    await known.of(ANNE, [TABLE])
    assert len(rows.asked) == 3


@pytest.mark.parametrize("held", [None, 0], ids=["absent", "hidden"])
async def test_what_is_not_there_is_looked_for_each_time(held: int | None) -> None:
    rows = Rows()
    rows.held[NAMESPACE] = held
    known = KnownRights(rows)
    for _ in range(2):
        await known.of(ANNE, [NAMESPACE])
    assert len(rows.asked) == 2, "something may be made in it, or it itself"


async def test_a_container_is_known_where_what_is_made_in_it_can_add_nothing() -> None:
    rows = Rows()
    namespace = MODEL.types["namespace"]
    rows.held[NAMESPACE] = MODEL.held(namespace.index, namespace.bits[GLIMPSE], -1, 0) & ~namespace.bits[GLIMPSE]
    known = KnownRights(rows)
    for _ in range(2):
        await known.of(ANNE, [NAMESPACE])
    assert len(rows.asked) == 1
    rows.held[NAMESPACE], rows.glimpsed, rows.state = 0, True, 2
    for _ in range(2):
        await known.of(ANNE, [NAMESPACE])
    assert len(rows.asked) == 2


@pytest.mark.parametrize("type_name", ["role", "tag"])
async def test_what_asks_for_its_projects_lists_is_not_known(type_name: str) -> None:
    rows, key = Rows(), ObjectKey(type_name, "p", id=UUID(int=3))
    rows.held[key] = MODEL.types[type_name].bits.get("can_read", 1)
    known = KnownRights(rows)
    for _ in range(2):
        await known.of(ANNE, [key])
    assert len(rows.asked) == 2


async def test_no_more_is_kept_than_was_agreed_on() -> None:
    rows = Rows()
    known = KnownRights(rows, most=4)
    keys = [ObjectKey("table", "p", WAREHOUSE, UUID(int=number)) for number in range(6)]
    rows.held = dict.fromkeys(keys, SELECT)
    for asked, read in ((keys[:3], 1), (keys[:3], 1), (keys[3:], 2), (keys[3:], 2), (keys[:3], 3)):
        await known.of(ANNE, asked)
        assert len(rows.asked) == read


def test_what_shows_a_container_adds_to_what_is_held_and_takes_nothing() -> None:
    for found in MODEL.types.values():
        glimpse = found.bits.get(GLIMPSE)
        if glimpse is None:
            continue
        for relation in found.given:
            without = MODEL.held(found.index, found.bits[relation], -1, 0)
            assert not without & ~MODEL.held(found.index, found.bits[relation] | glimpse, -1, 0), (found.name, relation)
