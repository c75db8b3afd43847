"""What DecisionService refuses, and that one bad question does not spoil a batch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from lakeward_authz.adapters.allow_all import AllowAll
from lakeward_authz.transport.decisions import DecisionServicer
from lakeward_protocol.authz.v1 import decisions_pb2 as pb
from lakeward_protocol.authz.v1 import decisions_pb2_grpc, principals_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Outcome
from lakeward_servicekit.authorization.objects import SERVER, ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import ANONYMOUS
from lakeward_servicekit.authorization.remote import RemoteAuthorizer
from lakeward_servicekit.authorization.wire import decide_request, object_message, principal_message, visible_request
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import Call, Caller, Host
from tests.support.deciding import Rule, TableAuthorizer

CALL = Call(Caller.CALLER_CATALOG)
TABLE = ObjectRef.table("p", UUID(int=1), UUID(int=2), namespace_id=UUID(int=3))
GOOD = decide_request(ANONYMOUS, [Demand(TABLE, Action.TABLE_DROP)])


def asked(*, kind: int = ObjectKind.TABLE, action: int = Action.TABLE_DROP, **changed: object) -> pb.DecideRequest:
    message = principals_pb2.ObjectRef(kind=kind, project_id="p", warehouse_id=str(UUID(int=1)), id=bytes(16))  # type: ignore[arg-type]
    for field, value in changed.items():
        setattr(message, field, value)
    demand = pb.Demand(object=message, action=action)  # type: ignore[arg-type]
    return pb.DecideRequest(principal=principal_message(ANONYMOUS), demands=[demand])


BAD = [
    pytest.param(pb.DecideRequest(principal=principal_message(ANONYMOUS)), "demands", id="no demand"),
    pytest.param(asked(action=Action.VIEW_DROP), "demands.action", id="an action of another kind"),
    pytest.param(asked(action=0), "demands.action", id="no action"),
    pytest.param(asked(action=999), "demands.action", id="an action of a newer release"),
    pytest.param(asked(kind=0), "object.kind", id="no kind"),
    pytest.param(asked(kind=77), "object.kind", id="a kind of a newer release"),
    pytest.param(asked(kind=ObjectKind.SERVER), "object.id", id="a server with an id"),
    pytest.param(asked(id=b""), "object.id", id="a table without an incarnation"),
    pytest.param(asked(id=b"short"), "object.id", id="an id of another length"),
    pytest.param(asked(warehouse_id=""), "object.warehouse_id", id="a table of no warehouse"),
    pytest.param(asked(project_id=""), "object.project_id", id="a table of no project"),
    pytest.param(pb.DecideRequest(demands=GOOD.demands), "principal.kind", id="nobody"),
]


async def refused(call: Callable[[], Awaitable[object]]) -> Refusal:
    with pytest.raises(Refusal) as refusal:
        await call()
    return refusal.value


@pytest.mark.parametrize(("request_", "field"), BAD)
async def test_a_question_that_makes_no_sense_is_refused_and_never_allowed(
    request_: pb.DecideRequest, field: str
) -> None:
    refusal = await refused(lambda: DecisionServicer(AllowAll()).Decide(request_, CALL))
    assert (refusal.reason, refusal.metadata["field"]) == (Reason.REASON_INVALID_FIELD, field)


async def test_four_thousand_demands_are_answered_and_one_more_is_not() -> None:
    servicer = DecisionServicer(AllowAll())
    most = decide_request(ANONYMOUS, [Demand(TABLE, Action.TABLE_DROP)] * 4000)
    assert len((await servicer.Decide(most, CALL)).outcomes) == 4000
    most.demands.append(most.demands[0])
    assert (await refused(lambda: servicer.Decide(most, CALL))).reason == Reason.REASON_TOO_LARGE


async def test_one_bad_question_does_not_spoil_its_batch() -> None:
    batch = pb.BatchDecideRequest(items=[GOOD, asked(action=0), GOOD])
    items = (await DecisionServicer(AllowAll()).BatchDecide(batch, CALL)).items
    assert [item.WhichOneof("outcome") for item in items] == ["response", "failure", "response"]
    assert items[1].failure.reason == Reason.REASON_INVALID_FIELD


@pytest.mark.parametrize("size", [0, 257])
async def test_a_batch_has_1_to_256_questions(size: int) -> None:
    batch = pb.BatchDecideRequest(items=[GOOD] * size)
    refusal = await refused(lambda: DecisionServicer(AllowAll()).BatchDecide(batch, CALL))
    assert refusal.metadata["field"] == "items"


@pytest.mark.parametrize(
    ("scope", "kind", "field"),
    [
        (TABLE, ObjectKind.TABLE, "scope.kind"),
        (ObjectRef.project("p"), ObjectKind.PROJECT, "kind"),
        (ObjectRef.project("p"), 0, "kind"),
        (SERVER, ObjectKind.WAREHOUSE, "kind"),
    ],
)
async def test_a_listing_is_of_a_container(scope: ObjectRef, kind: ObjectKind, field: str) -> None:
    request = visible_request(ANONYMOUS, scope, kind)
    refusal = await refused(lambda: DecisionServicer(AllowAll()).Visible(request, CALL))
    assert refusal.metadata["field"] == field


async def test_an_answer_names_the_revision_that_was_applied_before_it_was_computed() -> None:
    class Moving(TableAuthorizer):
        async def decide(self, *args: object) -> list[Outcome]:
            self.replace(Rule(True))
            return list(await super().decide(*args))  # type: ignore[arg-type]

    authorizer = Moving()
    before = authorizer.revision
    response = await DecisionServicer(authorizer).Decide(GOOD, CALL)
    assert response.revision == before != authorizer.revision


class Answering:
    def __init__(self, *outcomes: int) -> None:
        self.outcomes = outcomes

    async def Decide(self, *_: object) -> pb.DecideResponse:
        return pb.DecideResponse(outcomes=self.outcomes)  # type: ignore[arg-type]

    async def _other(self, *_: object) -> None:
        raise Refusal(Reason.REASON_SERVICE_UNAVAILABLE, "authz can't be reached", service="authz")

    BatchDecide = Visible = _other


@pytest.mark.parametrize("outcomes", [(), (0,), (9,), (3, 3)])
async def test_an_answer_that_makes_no_sense_is_no_answer(outcomes: tuple[int, ...]) -> None:
    host = Host("authz")
    host.add(decisions_pb2_grpc.add_DecisionServiceServicer_to_server, Answering(*outcomes))
    authorizer = RemoteAuthorizer(host.channel(caller=Caller.CALLER_CATALOG), coalesce=False)
    refusal = await refused(lambda: authorizer.decide(ANONYMOUS, [Demand(TABLE, Action.TABLE_DROP)]))
    assert refusal.reason == Reason.REASON_AUTHORIZATION_UNAVAILABLE


async def test_an_authz_that_is_away_gives_no_answer() -> None:
    host = Host("authz")
    host.add(decisions_pb2_grpc.add_DecisionServiceServicer_to_server, Answering())
    authorizer = RemoteAuthorizer(host.channel(caller=Caller.CALLER_CATALOG), coalesce=True)
    decided = await refused(lambda: authorizer.decide(ANONYMOUS, [Demand(TABLE, Action.TABLE_DROP)]))
    listed = await refused(lambda: authorizer.visible(ANONYMOUS, ObjectRef.project("p"), ObjectKind.WAREHOUSE))
    assert {decided.reason, listed.reason} == {Reason.REASON_AUTHORIZATION_UNAVAILABLE}


def test_objects_survive_the_trip() -> None:
    message = object_message(TABLE)
    assert (message.warehouse_id, message.id, message.parent_id) == (
        str(UUID(int=1)),
        UUID(int=2).bytes,
        UUID(int=3).bytes,
    )
