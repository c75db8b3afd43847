"""The engine that asks OpenFGA for point decisions, and remembers them under the state of the grants.

Sets, and what a container shows because of something in it, come from authz's own rows: OpenFGA would walk everything below a
container to say no. It is told of the latter with each question, as a tuple beside the stored ones.

What is remembered is no answer while OpenFGA gives none: each question hears from it, if only that it is there, and those that
come together share that, with the statement that reads the state of the grants. A whole question that was answered before is then
found by itself; where a right was given or taken since, or something else is asked, each relation is looked for, and asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from lakeward_authz.adapters.builtin import Builtin
from lakeward_authz.adapters.openfga.answers import Answers, Asked, Question
from lakeward_authz.adapters.openfga.connection import OpenFga
from lakeward_authz.adapters.openfga.feeding import Feeder
from lakeward_authz.application.permissions import RightsTogether, key_of, subject_of, token_roles_of
from lakeward_authz.domain.outcomes import outcome_of
from lakeward_authz.domain.permissions.lakeward import ASSIGNEE, GLIMPSE, MODEL, RELATION_OF
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject
from lakeward_authz.domain.permissions.tuples import FgaTuple, caller_name, object_name
from lakeward_servicekit.authorization.actions import SHOWING
from lakeward_servicekit.authorization.authorizer import Demand, Outcome, Turn, VisibleSet
from lakeward_servicekit.authorization.objects import SERVER, ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.coalescing import Coalescer
from lakeward_servicekit.errors import Reason, Refusal

_ROLE: Final = "role:"
_SERVER: Final = key_of(SERVER)
_ATTEMPTS: Final = 5
_MOST_ANSWERS: Final = 65_536  # of about 250 bytes each
_MOST_QUESTIONS: Final = 32_768  # of about 700
# Something that is made in one of these, for whoever sees it, gives no right on it and shows nothing of it that did not show.
_KEPT: Final = frozenset(
    {ObjectKind.WAREHOUSE, ObjectKind.NAMESPACE, ObjectKind.TABLE, ObjectKind.VIEW, ObjectKind.GENERIC_TABLE}
)
# Who asks, which relations on which objects, and the roles that it has for this question alone.
_Relations: TypeAlias = tuple[Subject, Sequence[tuple[ObjectKey, str]], Sequence[Subject]]


class OpenFgaEngine:
    """Decides by OpenFGA, which is brought up to date before it is asked: a right that was taken is not answered any more.

    What it answered is remembered for as long as no right is given or taken anywhere; see `answers`.

    Args:
        openfga: a store that holds this release's model.
        feeder: brings the rows into it.
        rights: reads the same rows.
    """

    def __init__(self, openfga: OpenFga, feeder: Feeder, rights: RightsTogether) -> None:
        """Ask `openfga`."""
        self._openfga = openfga
        self._feeder = feeder
        self._rights = rights
        self._builtin = Builtin(rights)
        self._answers = Answers[Asked, bool](most=_MOST_ANSWERS)
        self._decided = Answers[Question, Sequence[Outcome]](most=_MOST_QUESTIONS)
        # one at a time, however long it takes: who waits for it could do nothing without it
        self._moment = Coalescer[None, int](self._hear, alike=True, patience=None)

    @property
    def revision(self) -> str:
        """As of the rows."""
        return self._builtin.revision

    async def decide(self, principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
        """See `Authorizer`."""
        also = await self._roles_of(principal, demands) if principal.token_roles else ()
        question = Question(principal, tuple(demands), also)
        now = await self._moment(None)
        known = self._decided.of(now).get(question)
        if known is not None:
            return known
        wanted = _relations(demands)
        ((revision, may),) = await self._hold([_asked(principal, wanted, also)], now)
        outcomes = _told(demands, wanted, may)
        if _is_lasting(demands, wanted, may):
            self._decided.keep(revision, {question: outcomes})
        return outcomes

    async def decide_each(self, turns: Sequence[Turn]) -> Sequence[Sequence[Outcome]]:
        """See `Authorizer`; asked again where a right was taken meanwhile, since OpenFGA promises no one state for a batch."""
        for _ in range(_ATTEMPTS):
            before = await self._moment(None)
            answers = await self._outcomes(turns, before)
            if await self._rights.revision() == before:
                return answers
        raise Refusal(
            Reason.REASON_AUTHORIZATION_UNAVAILABLE,
            "rights were taken away each time it was asked who may do this; retry later",
        )

    async def _outcomes(self, turns: Sequence[Turn], now: int) -> Sequence[Sequence[Outcome]]:
        wanted = [_relations(turn.demands) for turn in turns]
        asked = [
            _asked(turn.principal, own, await self._roles_of(turn.principal, turn.demands))
            for turn, own in zip(turns, wanted, strict=True)
        ]
        held = await self._hold(asked, now)
        return [_told(turn.demands, own, may) for turn, own, (_, may) in zip(turns, wanted, held, strict=True)]

    async def _roles_of(self, principal: Principal, demands: Sequence[Demand]) -> tuple[Subject, ...]:
        """Roles that it has by its token, of the projects that it asks about."""
        return tuple(await token_roles_of(principal, self._rights, {demand.object.project_id for demand in demands}))

    async def visible(self, principal: Principal, scope: ObjectRef, kind: ObjectKind) -> VisibleSet:
        """See `Authorizer`."""
        return await self._builtin.visible(principal, scope, kind)

    async def holds(
        self, subject: Subject, asked: Sequence[tuple[ObjectKey, str]], *, also: Sequence[Subject] = ()
    ) -> Sequence[bool]:
        """Whether a subject holds each relation on its object, by itself or by roles that it has for this question alone.

        Raises:
            Refusal: AUTHORIZATION_UNAVAILABLE, DATABASE_UNAVAILABLE.
        """
        ((_, held),) = await self._hold([(subject, asked, also)], await self._moment(None))
        return held

    async def _hold(self, asked: Sequence[_Relations], now: int) -> Sequence[tuple[int, Sequence[bool]]]:
        """What each holds, behind the state of the grants that it may be kept under; `now` is one that was just read.

        A state is read before anything is answered, so that no answer is kept under one that it is older than.
        """
        turns = [await self._turn(*each, now) for each in asked]
        known: dict[Asked, bool] = {}
        for revision, questions in turns:
            kept = self._answers.of(revision)
            known |= {each: kept[each] for each in questions if each in kept}
        fresh = [*dict.fromkeys(each for _, questions in turns for each in questions if each not in known)]
        if fresh:
            await self._feeder.catch_up()
            known |= zip(fresh, await self._openfga.allowed([_check(each) for each in fresh]), strict=True)
            for revision, questions in turns:
                self._answers.keep(revision, _lasting(questions, known))
        return [(revision, [known[each] for each in questions]) for revision, questions in turns]

    async def _hear(self, questions: Sequence[None]) -> Sequence[int]:
        """Hear from OpenFGA and read the state of the grants, once for all who ask at one moment."""
        _, revision = await asyncio.gather(self._openfga.hear(), self._rights.revision())
        return [revision] * len(questions)

    async def _turn(
        self, subject: Subject, relations: Sequence[tuple[ObjectKey, str]], also: Sequence[Subject], now: int
    ) -> tuple[int, Sequence[Asked]]:
        """The state of the grants, and what is to be known: each relation beside what something inside shows of its object."""
        looks_at = {key: _looks_at(key) for key, _ in relations}
        containers = [*{each: None for found in looks_at.values() for each in found}] or [_SERVER]
        rights = self._rights.glimpsed(subject, containers, also=also)
        if rights is None or rights.revision != now:
            rights = await self._rights.of(subject, containers, also=also)
        shown = {each for each, glimpsed in zip(containers, rights.glimpsed, strict=True) if glimpsed}
        beside = {key: tuple(each for each in found if each in shown) for key, found in looks_at.items()}
        return rights.revision, [Asked(subject, tuple(also), key, relation, beside[key]) for key, relation in relations]


def _asked(principal: Principal, wanted: Iterable[tuple[ObjectRef, str]], also: Sequence[Subject]) -> _Relations:
    return subject_of(principal), [(key_of(ref), relation) for ref, relation in wanted], also


def _check(asked: Asked) -> tuple[FgaTuple, Sequence[FgaTuple]]:
    """The question as OpenFGA takes it, with the tuples that stand beside the stored ones."""
    caller = caller_name(asked.subject)
    beside = [FgaTuple(caller, ASSIGNEE, caller)] if asked.subject.startswith(_ROLE) else []
    beside += [FgaTuple(caller, ASSIGNEE, caller_name(role)) for role in asked.also]
    beside += [FgaTuple(caller, GLIMPSE, object_name(each)) for each in asked.shown]
    return FgaTuple(caller, asked.relation, object_name(asked.object)), beside


def _lasting(questions: Sequence[Asked], known: Mapping[Asked, bool]) -> Mapping[Asked, bool]:
    """Answers that hold until a right is given or taken: those about objects that are there, as who holds anything shows."""
    there = {each.object for each in questions if known[each]} | {_SERVER}
    return {each: known[each] for each in questions if each.object in there}


def _is_lasting(demands: Sequence[Demand], asked: Mapping[tuple[ObjectRef, str], int], may: Sequence[bool]) -> bool:
    """Whether outcomes hold until a right is given or taken: all that is asked about is seen, and of a kind that stays so."""
    return all(
        demand.object.kind in _KEPT and may[asked[demand.object, RELATION_OF[demand.action.sight]]]
        for demand in demands
    )


def _relations(demands: Sequence[Demand]) -> dict[tuple[ObjectRef, str], int]:
    """What is to be known of the objects to answer demands, each once, in the order in which it is asked."""
    asked: dict[tuple[ObjectRef, str], int] = {}
    for demand in demands:
        for action in (demand.action.sight, demand.action):
            asked.setdefault((demand.object, RELATION_OF[action]), len(asked))
    return asked


def _told(
    demands: Sequence[Demand], asked: Mapping[tuple[ObjectRef, str], int], may: Sequence[bool]
) -> Sequence[Outcome]:
    return [
        outcome_of(
            sees=may[asked[demand.object, RELATION_OF[demand.action.sight]]]
            or (demand.action in SHOWING and may[asked[demand.object, RELATION_OF[demand.action]]]),
            may=may[asked[demand.object, RELATION_OF[demand.action]]],
        )
        for demand in demands
    ]


def _looks_at(key: ObjectKey) -> list[ObjectKey]:
    if GLIMPSE in MODEL.types[key.type].bits:
        return [key]
    # roles and tags ask what may be listed in their project
    return [ObjectKey("project", key.project_id)] if MODEL.types[key.type].link == "project" else []
