"""The role that answers what principals may do and see, and what is laid over it whoever fills it."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Final, Protocol

import msgspec

from lakeward_authz.domain.bindings import Bindings
from lakeward_servicekit.authorization.actions import DATA
from lakeward_servicekit.authorization.authorizer import Authorizer, Demand, Outcome, Turn, VisibleSet
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind


class RevisedAuthorizer(Authorizer, Protocol):
    """An authorizer that says which state of the grants it answers from."""

    @property
    def revision(self) -> str:
        """The state that is applied now; read before a question, it is a state that the answer knows of. Never empty."""
        ...


class VisibleStates(Protocol):
    """What sets of what shows depend on."""

    async def of(self, principal: Principal, scope: ObjectRef) -> str:
        """A word for everything that what shows to a principal in a scope follows from; "" where there is none.

        Sets of one kind that were read after equal words, each before the next change, are equal: whoever reads the word first
        and the set behind it has a set that is not older than its word. Raises Refusal DATABASE_UNAVAILABLE.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class InstanceAdministrators:
    """Lets configured users pass whatever is no data, without asking; data is decided as for everyone.

    They see every object, so what is decided of its data is allowed or denied, never hidden. An assumed role is not its
    user: it has no such powers. Neither has an administrator as whom a view is read that names them its owner.

    Attributes:
        others: decides the rest.
        user_ids: the administrators.
    """

    others: RevisedAuthorizer
    user_ids: Collection[str]

    @property
    def revision(self) -> str:
        """As the inner one: the administrators are fixed while the process runs."""
        return self.others.revision

    async def decide(self, principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
        """See `Authorizer`."""
        if not self._passes(principal):
            return await self.others.decide(principal, demands)
        data = _data_of(demands)
        return _passed(demands, await self.others.decide(principal, data) if data else ())

    async def decide_each(self, turns: Sequence[Turn]) -> Sequence[Sequence[Outcome]]:
        """See `Authorizer`."""
        passes = [not turn.as_owner and self._passes(turn.principal) for turn in turns]
        inner = [
            Turn(turn.principal, _data_of(turn.demands)) if passed else turn
            for turn, passed in zip(turns, passes, strict=True)
        ]
        asked = [turn for turn in inner if turn.demands]
        decided = iter(await self.others.decide_each(asked) if asked else ())
        answers = [next(decided) if turn.demands else () for turn in inner]
        return [
            _passed(turn.demands, answer) if passed else answer
            for turn, passed, answer in zip(turns, passes, answers, strict=True)
        ]

    async def visible(self, principal: Principal, scope: ObjectRef, kind: ObjectKind) -> VisibleSet:
        """See `Authorizer`."""
        if not self._passes(principal):
            return await self.others.visible(principal, scope, kind)
        return VisibleSet(everything=True)

    def _passes(self, principal: Principal) -> bool:
        return principal.kind is PrincipalKind.USER and principal.user_id in self.user_ids


@dataclasses.dataclass(frozen=True, slots=True)
class OwnProviders:
    """Keeps users of a project's own provider out of everything else, whatever they were given there.

    What is elsewhere does not exist for them; on the server, which exists for everybody, they may do nothing.

    Attributes:
        others: decides what is theirs.
        bindings: which providers are whose.
    """

    others: RevisedAuthorizer
    bindings: Bindings

    @property
    def revision(self) -> str:
        """As the inner one: who is whose is fixed while the process runs."""
        return self.others.revision

    async def decide(self, principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
        """See `Authorizer`."""
        (outcomes,) = await self.decide_each([Turn(principal, demands)])
        return outcomes

    async def decide_each(self, turns: Sequence[Turn]) -> Sequence[Sequence[Outcome]]:
        """See `Authorizer`."""
        theirs = [self._theirs(turn) for turn in turns]
        asked = [
            turn if len(own) == len(turn.demands) else msgspec.structs.replace(turn, demands=own)
            for turn, own in zip(turns, theirs, strict=True)
            if own
        ]
        decided = iter(await self._ask(asked) if asked else ())
        answers = [iter(next(decided) if own else ()) for own in theirs]
        return [
            [
                next(answer) if self._admits(turn, demand) else _KEPT_OUT.get(demand.object.kind, Outcome.HIDDEN)
                for demand in turn.demands
            ]
            for turn, answer in zip(turns, answers, strict=True)
        ]

    async def _ask(self, turns: Sequence[Turn]) -> Sequence[Sequence[Outcome]]:
        if len(turns) == 1 and not turns[0].as_owner:
            return [await self.others.decide(turns[0].principal, turns[0].demands)]
        return await self.others.decide_each(turns)

    async def visible(self, principal: Principal, scope: ObjectRef, kind: ObjectKind) -> VisibleSet:
        """See `Authorizer`."""
        if not self.bindings.admit(principal, scope.project_id):
            return VisibleSet(everything=False)
        return await self.others.visible(principal, scope, kind)

    def _theirs(self, turn: Turn) -> list[Demand]:
        return [demand for demand in turn.demands if self._admits(turn, demand)]

    def _admits(self, turn: Turn, demand: Demand) -> bool:
        return self.bindings.admit(turn.principal, demand.object.project_id)


_KEPT_OUT: Final = {ObjectKind.SERVER: Outcome.DENIED}


def _data_of(demands: Sequence[Demand]) -> list[Demand]:
    return [demand for demand in demands if demand.action in DATA]


def _passed(demands: Sequence[Demand], of_data: Sequence[Outcome]) -> list[Outcome]:
    """What an administrator is told, from what was decided of data, in the order of the demands."""
    decided = iter(of_data)
    return [max(next(decided), Outcome.DENIED) if demand.action in DATA else Outcome.ALLOWED for demand in demands]
