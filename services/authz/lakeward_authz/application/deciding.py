"""The role that answers what principals may do and see, and what is laid over it whoever fills it."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Protocol

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


def _data_of(demands: Sequence[Demand]) -> list[Demand]:
    return [demand for demand in demands if demand.action in DATA]


def _passed(demands: Sequence[Demand], of_data: Sequence[Outcome]) -> list[Outcome]:
    """What an administrator is told, from what was decided of data, in the order of the demands."""
    decided = iter(of_data)
    return [max(next(decided), Outcome.DENIED) if demand.action in DATA else Outcome.ALLOWED for demand in demands]
