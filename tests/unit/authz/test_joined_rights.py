"""Questions about rights that arrive together are one statement for each subject, and answer as they would alone."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from uuid import UUID

import pytest

from lakeward_authz.adapters.joined_rights import JoinedRights
from lakeward_authz.application.permissions import Asked, Rights, Shown
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject, role_subject, user_subject
from lakeward_servicekit.errors import Reason, Refusal

ANNE, BEN = user_subject("oidc~anne"), user_subject("oidc~ben")
KEYS = [ObjectKey("table", "p", UUID(int=1), UUID(int=number)) for number in range(6)]


class Rows:
    """Answers each object by its number, of what stands in the rows when a statement is sent."""

    def __init__(self) -> None:
        self.asked: list[tuple[Subject, tuple[ObjectKey, ...]]] = []
        self.also: list[Sequence[Subject]] = []
        self.state = 1
        self.states = 0
        self.away = frozenset[Subject]()
        self.answering = asyncio.Event()
        self.answering.set()

    async def bound(self, token_roles: Sequence[str], project_ids: Collection[str]) -> Sequence[Subject]:
        del token_roles, project_ids
        return []

    async def of(self, subject: Subject, objects: Sequence[ObjectKey], *, also: Sequence[Subject] = ()) -> Rights:
        self.asked.append((subject, tuple(objects)))
        self.also.append(also)
        revision = self.state
        await self.answering.wait()
        if subject in self.away:
            raise Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "away")
        odd = [key.id.int % 2 == 1 for key in objects]
        return Rights([None if each else key.id.int for key, each in zip(objects, odd, strict=True)], odd, revision)

    async def of_each(self, asked: Sequence[Asked]) -> Sequence[Rights]:
        return [await self.of(subject, objects, also=also) for subject, objects, also in asked]

    async def of_apart(self, asked: Sequence[Asked]) -> Sequence[Rights]:
        return await self.of_each(asked)

    def glimpsed(
        self, subject: Subject, objects: Sequence[ObjectKey], *, also: Sequence[Subject] = ()
    ) -> Rights | None:
        del subject, objects, also
        return None

    async def revision(self) -> int:
        self.states += 1
        await self.answering.wait()
        return self.state

    async def shown(self, subject: Subject, scope: ObjectKey, type_name: str, *, also: Sequence[Subject] = ()) -> Shown:
        del subject, scope, type_name, also
        return Shown(frozenset(), frozenset())


async def test_who_asks_about_one_subject_at_one_moment_shares_a_statement_and_gets_its_own_part() -> None:
    rows = Rows()
    joined = JoinedRights(rows)
    first, second, third = await asyncio.gather(
        joined.of(ANNE, [KEYS[0], KEYS[1]]), joined.of(ANNE, [KEYS[4], KEYS[1], KEYS[4]]), joined.of(BEN, [KEYS[2]])
    )
    assert rows.asked == [(ANNE, (KEYS[0], KEYS[1], KEYS[4])), (BEN, (KEYS[2],))]
    assert (first.held, first.glimpsed) == ([0, None], [False, True])
    assert (second.held, second.glimpsed) == ([4, None, 4], [False, True, False])
    assert third.held == [2]


async def test_roles_that_a_subject_has_for_one_question_count_for_no_other() -> None:
    rows = Rows()
    joined = JoinedRights(rows)
    role = role_subject(UUID(int=9))
    await asyncio.gather(joined.of(ANNE, KEYS[:1]), joined.of(ANNE, KEYS[:1], also=[role]))
    assert rows.asked == [(ANNE, (KEYS[0],)), (ANNE, (KEYS[0],))]
    assert rows.also == [(), (role,)]


async def test_a_question_joins_no_statement_that_was_sent_before_it() -> None:
    rows = Rows()
    joined = JoinedRights(rows)
    rows.answering.clear()
    early = asyncio.ensure_future(joined.of(ANNE, KEYS[:1]))
    async with asyncio.timeout(10):
        while not rows.asked:
            await asyncio.sleep(0)
    rows.state = 2
    late = asyncio.ensure_future(joined.of(ANNE, KEYS[:1]))
    rows.answering.set()
    assert (await early).revision == 1
    assert (await late).revision == 2


async def test_what_fails_for_one_subject_is_no_answer_to_that_one_alone() -> None:
    rows = Rows()
    rows.away = frozenset({BEN})
    joined = JoinedRights(rows)
    anne, ben = await asyncio.gather(joined.of(ANNE, KEYS[:1]), joined.of(BEN, KEYS[:1]), return_exceptions=True)
    assert isinstance(anne, Rights)
    assert isinstance(ben, Refusal)
    with pytest.raises(Refusal):
        await joined.of(BEN, KEYS)


async def test_roles_that_one_question_has_count_for_no_other() -> None:
    rows = Rows()
    joined = JoinedRights(rows)
    asked: list[tuple[Subject, ...]] = []
    of = rows.of

    async def noting(subject: Subject, objects: Sequence[ObjectKey], *, also: Sequence[Subject] = ()) -> Rights:
        asked.append(tuple(also))
        return await of(subject, objects, also=also)

    rows.of = noting  # type: ignore[method-assign]
    role = role_subject(UUID(int=1))
    await asyncio.gather(joined.of(ANNE, KEYS[:1]), joined.of(ANNE, KEYS[:1], also=[role]), joined.of(ANNE, KEYS[1:2]))
    assert sorted(asked) == [(), (role,)]


async def test_the_state_is_read_once_for_all_who_ask_at_one_moment_and_again_for_who_asks_later() -> None:
    rows = Rows()
    joined = JoinedRights(rows)
    rows.answering.clear()
    first = [asyncio.ensure_future(joined.revision()) for _ in range(3)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    later = [asyncio.ensure_future(joined.revision()) for _ in range(2)]
    rows.answering.set()
    assert await asyncio.gather(*first, *later) == [1] * 5
    assert rows.states == 2, "none is answered from before its question"
