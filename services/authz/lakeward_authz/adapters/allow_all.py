"""The authorizer that allows everything to everyone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lakeward_servicekit.authorization.authorizer import Demand, Outcome, Question, VisibleSet
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal

_REVISION: Final = "allow-all"
_EVERYTHING: Final = VisibleSet(everything=True)


class AllowAll:
    """Allows everything; knows nobody and nothing."""

    __slots__ = ()

    @property
    def revision(self) -> str:
        """Always the same."""
        return _REVISION

    async def decide(self, principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
        """See `Authorizer`."""
        del principal
        return (Outcome.ALLOWED,) * len(demands)

    async def decide_each(self, questions: Sequence[Question]) -> Sequence[Sequence[Outcome]]:
        """See `Authorizer`."""
        return [(Outcome.ALLOWED,) * len(question.demands) for question in questions]

    async def visible(self, principal: Principal, scope: ObjectRef, kind: ObjectKind) -> VisibleSet:
        """See `Authorizer`."""
        del principal, scope, kind
        return _EVERYTHING
