"""An authorizer over a channel to authz.

Where authz says that it allows everything, to everybody and until it ends, it is not asked again over the call that it said so
over: while that call is open, its answer is known. It is open for some seconds, and ends with the process that answered.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol, TypeAlias

from lakeward_protocol.authz.v1 import decisions_pb2 as pb
from lakeward_servicekit.authorization import wire
from lakeward_servicekit.authorization.authorizer import Demand, Outcome, Turn, VisibleSet
from lakeward_servicekit.authorization.known_sets import KnownSet, KnownSets
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.coalescing import Coalescer
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc.client import Channel
from lakeward_servicekit.rpc.lanes import Lane
from lakeward_servicekit.rpc.status import refusal_of

# A decision that takes longer helps nobody: whoever waits for it holds a request.
SECONDS = 10.0
_BATCH: Final = "/lakeward.authz.v1.DecisionService/BatchDecide"
_DECIDE: Final = "/lakeward.authz.v1.DecisionService/Decide"
_VISIBLE: Final = "/lakeward.authz.v1.DecisionService/Visible"
_EVERYTHING: Final = VisibleSet(everything=True)
_Decide: TypeAlias = Callable[[wire.Question], Awaitable[pb.DecideResponse | wire.Decided]]


class _Batch(Protocol):
    def asked(
        self, questions: pb.BatchDecideRequest, *, timeout: float
    ) -> Awaitable[tuple[pb.BatchDecideResponse, Lane | None]]: ...


class _Visible(Protocol):
    def __call__(self, question: wire.Listing, *, timeout: float) -> Awaitable[pb.VisibleResponse | wire.Shown]: ...


class RemoteAuthorizer:
    """Asks authz.

    Args:
        channel: to authz.
        coalesce: send questions that arrive together as one call, which pays over a wire; in one process it only costs.
    """

    def __init__(self, channel: Channel, *, coalesce: bool) -> None:
        """Ask over `channel`."""
        self._sets: Final = KnownSets()
        self._allowing: Lane | None = None
        # no stub's: it would not say which lane an answer came over, and in one process questions go as what they are made of
        self._batch: _Batch = channel.unary_unary(
            _BATCH,
            request_serializer=pb.BatchDecideRequest.SerializeToString,
            response_deserializer=pb.BatchDecideResponse.FromString,
        )
        self._visible: _Visible = channel.unary_unary(
            _VISIBLE, request_serializer=wire.Listing.written, response_deserializer=pb.VisibleResponse.FromString
        )
        decide: _Decide = channel.unary_unary(
            _DECIDE, request_serializer=wire.Question.written, response_deserializer=pb.DecideResponse.FromString
        )
        self._decide: _Decide = Coalescer(self._ask_together, alike=True) if coalesce else decide

    async def decide(self, principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
        """See `Authorizer`."""
        if self.answers_at_once:
            return _allowed(demands)
        try:
            response = await self._decide(wire.Question(principal, tuple(demands)))
        except Refusal as refusal:
            raise _told(refusal) from refusal
        return _outcomes(response, demands)

    async def decide_each(self, turns: Sequence[Turn]) -> Sequence[Sequence[Outcome]]:
        """See `Authorizer`; a question of its own, since all of it is decided together."""
        if self.answers_at_once:
            return [_allowed(turn.demands) for turn in turns]
        try:
            answers = await self._ask_batch(wire.turns_request(turns))
            responses = [_response(item) for item in answers.items]
        except Refusal as refusal:
            raise _told(refusal) from refusal
        if len(responses) != len(turns):
            raise _no_answer(f"{len(responses)} answers to {len(turns)} turns")
        return [_outcomes(response, turn.demands) for response, turn in zip(responses, turns, strict=True)]

    async def visible(self, principal: Principal, scope: ObjectRef, kind: ObjectKind) -> VisibleSet:
        """See `Authorizer`."""
        if self.answers_at_once:
            return _EVERYTHING
        asked = (principal, scope, kind)
        known = self._sets.find(asked)
        question = wire.Listing(*asked, known="" if known is None else known.state)
        try:
            told = wire.shown_of(await self._visible(question, timeout=SECONDS))
        except Refusal as refusal:
            raise _told(refusal) from refusal
        if told.visible is None:
            if known is None:
                raise _no_answer("nothing changed of what was never told")
            return known.shown
        return self._sets.keep(asked, KnownSet(told.state, told.visible)).shown if told.state else told.visible

    async def _ask_together(self, questions: Sequence[wire.Question]) -> Sequence[pb.DecideResponse | Exception]:
        items = [question.message() for question in questions]
        answers = await self._ask_batch(pb.BatchDecideRequest(items=items))
        return [_answer(item) for item in answers.items]

    async def _ask_batch(self, questions: pb.BatchDecideRequest) -> pb.BatchDecideResponse:
        answers, lane = await self._batch.asked(questions, timeout=SECONDS)
        self._allowing = lane if answers.everything_allowed else None
        return answers

    @property
    def answers_at_once(self) -> bool:
        """Whether nobody has to be asked now, since authz is known to allow everything."""
        return self._allowing is not None and self._allowing.is_open


def _allowed(demands: Sequence[Demand]) -> Sequence[Outcome]:
    return (Outcome.ALLOWED,) * len(demands)


def _answer(item: pb.BatchDecideItem) -> pb.DecideResponse | Refusal:
    if item.HasField("failure"):
        return refusal_of(item.failure)
    return item.response


def _response(item: pb.BatchDecideItem) -> pb.DecideResponse:
    if item.HasField("failure"):
        raise refusal_of(item.failure)
    return item.response


def _outcomes(response: pb.DecideResponse | wire.Decided, demands: Sequence[Demand]) -> Sequence[Outcome]:
    try:
        outcomes = wire.outcomes_of(response)
    except KeyError as unknown:
        raise _no_answer(f"an outcome that is not known here: {unknown}") from unknown
    if len(outcomes) != len(demands):
        raise _no_answer(f"{len(outcomes)} outcomes for {len(demands)} demands")
    return outcomes


def _told(refusal: Refusal) -> Refusal:
    if refusal.reason == Reason.REASON_SERVICE_UNAVAILABLE:
        return _no_answer(refusal.message)
    return refusal


def _no_answer(why: str) -> Refusal:
    return Refusal(
        Reason.REASON_AUTHORIZATION_UNAVAILABLE, f"who may do this can't be found out now: {why}; retry later"
    )
