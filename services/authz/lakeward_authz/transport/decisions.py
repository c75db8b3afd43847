"""DecisionService: what principals may do and see."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

from lakeward_authz.application.deciding import RevisedAuthorizer, VisibleStates
from lakeward_authz.transport import decode
from lakeward_protocol.authz.v1 import decisions_pb2 as pb
from lakeward_protocol.authz.v1 import decisions_pb2_grpc
from lakeward_servicekit.authorization.authorizer import Outcome, Turn, VisibleSet
from lakeward_servicekit.authorization.wire import Decided, Listing, Question, Shown
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.rpc.call import Call
from lakeward_servicekit.rpc.status import failure_of


class DecisionServicer(decisions_pb2_grpc.DecisionServiceServicer):
    """Answers questions from one authorizer.

    Args:
        authorizer: who decides.
        states: what sets of what shows depend on; None: whoever asks is told all of it each time.
        allows_everything: whether the authorizer does, to everybody and for as long as it is there; who asks is told so.
    """

    def __init__(
        self, authorizer: RevisedAuthorizer, states: VisibleStates | None = None, *, allows_everything: bool = False
    ) -> None:
        """Answer from `authorizer`."""
        self._allows_everything = allows_everything
        self._authorizer = authorizer
        self._states = states

    async def Decide(self, request: pb.DecideRequest | Question, context: Call) -> pb.DecideResponse | Decided:  # type: ignore[override]  # in one process the values themselves come and go
        """What one principal may, all under one revision."""
        del context
        if isinstance(request, Question):
            decode.count(request.demands)
            revision = self._authorizer.revision
            return Decided(tuple(await self._authorizer.decide(request.principal, request.demands)), revision)
        return await self._decide(request)

    async def BatchDecide(self, request: pb.BatchDecideRequest, context: Call) -> pb.BatchDecideResponse:
        """Questions that arrived together: one that is refused does not touch the others, unless they are decided together."""
        del context
        decode.batch(request.items)
        if request.together:
            items = await self._together([decode.turn(item) for item in request.items])
        elif len(request.items) == 1:
            items = [await self._item(request.items[0])]
        else:
            # at once, so that an engine may ask for all of them together
            items = await asyncio.gather(*map(self._item, request.items))
        return pb.BatchDecideResponse(items=items, everything_allowed=self._allows_everything)

    async def Visible(self, request: pb.VisibleRequest | Listing, context: Call) -> pb.VisibleResponse | Shown:  # type: ignore[override]  # as `Decide`
        """What shows in a listing."""
        del context
        if isinstance(request, Listing):
            state, _, visible = await self._shown(request)
            return Shown(visible, state)
        scope, kind = decode.listing(request)
        listing = Listing(decode.principal(request.principal), scope, kind, request.known)
        state, revision, shown = await self._shown(listing)
        if shown is None:
            return pb.VisibleResponse(unchanged=True)
        return pb.VisibleResponse(
            everything=shown.everything,
            containers=[container.bytes for container in shown.containers],
            objects=[ref.bytes for ref in shown.objects],
            projects=shown.projects,
            revision=revision,
            state=state,
        )

    async def _shown(self, asked: Listing) -> tuple[str, str, VisibleSet | None]:
        """What a listing shows, behind the state that it is not older than and a revision; None: what the asker knows."""
        state = "" if self._states is None else await self._states.of(asked.principal, asked.scope)
        if state and state == asked.known:
            return state, "", None
        revision = self._authorizer.revision
        return state, revision, await self._authorizer.visible(asked.principal, asked.scope, asked.kind)

    async def _decide(self, request: pb.DecideRequest) -> pb.DecideResponse:
        asked = decode.turn(request)
        revision = self._authorizer.revision
        if asked.as_owner:
            (outcomes,) = await self._authorizer.decide_each([asked])
        else:
            outcomes = await self._authorizer.decide(asked.principal, asked.demands)
        return pb.DecideResponse(outcomes=_values(outcomes), revision=revision)

    async def _together(self, turns: Sequence[Turn]) -> list[pb.BatchDecideItem]:
        revision = self._authorizer.revision
        answers = await self._authorizer.decide_each(turns)
        return [
            pb.BatchDecideItem(response=pb.DecideResponse(outcomes=_values(outcomes), revision=revision))
            for outcomes in answers
        ]

    async def _item(self, request: pb.DecideRequest) -> pb.BatchDecideItem:
        try:
            return pb.BatchDecideItem(response=await self._decide(request))
        except Refusal as refusal:
            return pb.BatchDecideItem(failure=failure_of(refusal))


def _values(outcomes: Sequence[Outcome]) -> Sequence[pb.Outcome.ValueType]:
    return cast("Sequence[pb.Outcome.ValueType]", outcomes)
