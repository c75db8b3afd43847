"""The engine that asks OpenFGA for point decisions, and remembers them under the state of the grants.

Sets, and what a container shows because of something in it, come from authz's own rows: OpenFGA would walk everything below a
container to say no. It is told of the latter with each question, as a tuple beside the stored ones.

What is remembered is no answer while OpenFGA gives none: each question hears from it, if only that it is there, and those that
come together share that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from lakeward_authz.adapters.builtin import Builtin
from lakeward_authz.adapters.openfga.answers import Answers, Asked
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
        self._answers = Answers()
        # a few at a time, however long it takes: who waits for it could do nothing without it
        self._there = Coalescer[None, None](self._ping, alike=True, at_once=2, patience=None)

    @property
    def revision(self) -> str:
        """As of the rows."""
        return self._builtin.revision

    async def decide(self, principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
        """See `Authorizer`."""
        (outcomes,) = await self._outcomes([Turn(principal, demands)])
        return outcomes

    async def decide_each(self, turns: Sequence[Turn]) -> Sequence[Sequence[Outcome]]:
        """See `Authorizer`; asked again where a right was taken meanwhile, since OpenFGA promises no one state for a batch."""
        for _ in range(_ATTEMPTS):
            before = await self._now()
            answers = await self._outcomes(turns)
            if await self._now() == before:
                return answers
        raise Refusal(
            Reason.REASON_AUTHORIZATION_UNAVAILABLE,
            "rights were taken away each time it was asked who may do this; retry later",
        )

    async def _now(self) -> int:
        """The state of the grants: a number that goes up with each right that is taken."""
        return await self._rights.revision()

    async def _outcomes(self, turns: Sequence[Turn]) -> Sequence[Sequence[Outcome]]:
        wanted = [_relations(turn.demands) for turn in turns]
        asked: list[_Relations] = []
        for turn, own in zip(turns, wanted, strict=True):
            also = await token_roles_of(turn.principal, self._rights, {ref.project_id for ref, _ in own})
            asked.append((subject_of(turn.principal), [(key_of(ref), relation) for ref, relation in own], also))
        held = await self._hold(asked)
        return [_told(turn.demands, own, may) for turn, own, may in zip(turns, wanted, held, strict=True)]

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
        (held,) = await self._hold([(subject, asked, also)])
        return held

    async def _hold(self, asked: Sequence[_Relations]) -> Sequence[Sequence[bool]]:
        # The state is read before anything is answered, so that no answer is kept under one that it is older than.
        _, turns = await asyncio.gather(self._there(None), self._turns(asked))
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
        return [[known[each] for each in questions] for _, questions in turns]

    async def _ping(self, questions: Sequence[None]) -> Sequence[None]:
        """Hear from OpenFGA, once for all who ask at one moment."""
        await self._openfga.hear()
        return questions

    async def _turns(self, asked: Sequence[_Relations]) -> Sequence[tuple[int, Sequence[Asked]]]:
        return [await self._turn(*each) for each in asked]

    async def _turn(
        self, subject: Subject, relations: Sequence[tuple[ObjectKey, str]], also: Sequence[Subject]
    ) -> tuple[int, Sequence[Asked]]:
        """The state of the grants, and what is to be known: each relation beside what something inside shows of its object."""
        looks_at = {key: _looks_at(key) for key, _ in relations}
        containers = [*{each: None for found in looks_at.values() for each in found}] or [_SERVER]
        rights = self._rights.glimpsed(subject, containers, also=also)
        if rights is None or rights.revision != await self._rights.revision():
            rights = await self._rights.of(subject, containers, also=also)
        shown = {each for each, glimpsed in zip(containers, rights.glimpsed, strict=True) if glimpsed}
        beside = {key: tuple(each for each in found if each in shown) for key, found in looks_at.items()}
        return rights.revision, [Asked(subject, tuple(also), key, relation, beside[key]) for key, relation in relations]


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
