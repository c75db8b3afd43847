"""Counts what is decided, whoever decides."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Final

from lakeward_authz.application.deciding import RevisedAuthorizer
from lakeward_servicekit.authorization.authorizer import Demand, Outcome, Turn, VisibleSet
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.telemetry.metrics import Counter, Histogram

DECISIONS: Final = Counter(
    "lakeward_authz_decisions_total",
    "Demands that were decided; `outcome` is `allowed`, `denied` or `hidden`. Under `allowall` other processes know most "
    "outcomes, and do not ask.",
    ("engine", "outcome"),
)
QUESTIONS: Final = Histogram(
    "lakeward_authz_question_seconds",
    "How long questions to the engine took; `question` is `decide`, for any number of demands, or `visible`. `outcome` is "
    "`answered` or `failed`.",
    ("engine", "question", "outcome"),
)


class Metered:
    """A `RevisedAuthorizer` that counts what another one decides.

    Args:
        others: decides.
        engine: its name in metrics.
    """

    def __init__(self, others: RevisedAuthorizer, *, engine: str) -> None:
        """See the class."""
        self._others: Final = others
        self._outcomes: Final = {outcome: DECISIONS.series(engine, outcome.name.lower()) for outcome in Outcome}
        self._decided: Final = QUESTIONS.series(engine, "decide", "answered")
        self._undecided: Final = QUESTIONS.series(engine, "decide", "failed")
        self._shown: Final = QUESTIONS.series(engine, "visible", "answered")
        self._unshown: Final = QUESTIONS.series(engine, "visible", "failed")

    @property
    def revision(self) -> str:
        """See `RevisedAuthorizer`."""
        return self._others.revision

    async def decide(self, principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
        """See `Authorizer`."""
        began, spread = perf_counter(), self._undecided
        try:
            outcomes = await self._others.decide(principal, demands)
            spread = self._decided
        finally:
            spread.observe(perf_counter() - began)
        for outcome in outcomes:
            self._outcomes[outcome].value += 1
        return outcomes

    async def decide_each(self, turns: Sequence[Turn]) -> Sequence[Sequence[Outcome]]:
        """See `Authorizer`."""
        began, spread = perf_counter(), self._undecided
        try:
            answers = await self._others.decide_each(turns)
            spread = self._decided
        finally:
            spread.observe(perf_counter() - began)
        for outcomes in answers:
            for outcome in outcomes:
                self._outcomes[outcome].value += 1
        return answers

    async def visible(self, principal: Principal, scope: ObjectRef, kind: ObjectKind) -> VisibleSet:
        """See `Authorizer`."""
        began, spread = perf_counter(), self._unshown
        try:
            shown = await self._others.visible(principal, scope, kind)
            spread = self._shown
        finally:
            spread.observe(perf_counter() - began)
        return shown
