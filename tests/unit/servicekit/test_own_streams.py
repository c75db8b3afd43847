"""The streams of a service of its own: whose each is, who reads it, and by which name."""

from __future__ import annotations

import dataclasses
from contextlib import aclosing
from typing import Any

import pytest

from lakeward_protocol.authz.v1 import events_pb2 as pb
from lakeward_protocol.authz.v1 import events_pb2_grpc
from lakeward_protocol.common.v1.context_pb2 import RequestContext
from lakeward_protocol.events.v1 import reading_pb2
from lakeward_protocol.vending.v1 import events_pb2 as vending_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.principals import user
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.history import HistoryReads, Span
from lakeward_servicekit.events.own_streams import OwnStreams
from lakeward_servicekit.events.relay import LoggedEvent
from lakeward_servicekit.events.tail import Tail
from lakeward_servicekit.rpc import Caller, Host, rule_of_method
from lakeward_vending.application.caller import Caller as VendingCaller
from lakeward_vending.application.doors import Doors
from lakeward_vending.transport import decode
from tests.support.catalog.values import NOON, FreshIds
from tests.support.deciding import Rule, TableAuthorizer
from tests.support.snapshots import NamedSnapshots

ANYTHING = Rule(allows=True)


class Log:
    """`History` that has one event in every stream, which says which stream it is of."""

    async def span(self, stream: str) -> Span:
        del stream
        return Span(1, 1)

    async def read(self, stream: str, *, after: int, limit: int, most_bytes: int) -> list[LoggedEvent]:
        del limit, most_bytes
        event = Event(FreshIds().uuid7(), stream, "role", "created", stream.encode())
        return [LoggedEvent(1, event, NOON)] if after < 1 else []

    async def newest(self, streams: Any) -> dict[str, int]:
        return dict.fromkeys(streams, 1)


@dataclasses.dataclass
class House:
    authorizer: TableAuthorizer
    stub: Any


@pytest.fixture
def house() -> House:
    async def settled(context: RequestContext) -> VendingCaller:
        return VendingCaller(user("oidc~anna"), context.project_id or None)

    authorizer, log = TableAuthorizer(ANYTHING), Log()
    host = Host("authz", settle=settled)
    reads = HistoryReads(log, NamedSnapshots(), Tail(log.newest))
    host.add(
        events_pb2_grpc.add_EventServiceServicer_to_server,
        OwnStreams("authz", Doors(authorizer), reads, pb.ReadEventsResponse, pb.SubscribeResponse, decode.project),
    )
    channel: Any = host.channel(caller=Caller.CALLER_GATEWAY)
    return House(authorizer, events_pb2_grpc.EventServiceStub(channel))


async def _streamed(house: House, **of: Any) -> bytes:
    """The stream that both methods read, from its snapshot and from its log alike."""
    told: set[bytes] = set()
    for after in ("", "0"):
        page = (await house.stub.ReadEvents(pb.ReadEventsRequest(**of, reading=reading_pb2.Reading(after=after)))).page
        async with aclosing(house.stub.Subscribe(pb.SubscribeRequest(**of, after=after))) as answers:
            assert (await anext(answers)).page == page
        (event,) = page.events
        assert (event.snapshot, page.position) == (not after, "1")
        told.add(event.cloud_event)
    (stream,) = told
    return stream


async def test_a_project_and_the_server_have_a_stream_each(house: House) -> None:
    assert await _streamed(house, project_id="sales") == b"authz-sales"
    assert await _streamed(house, project_id="", context={"project_id": "mine"}) == b"authz-mine"
    assert await _streamed(house, server=True) == b"authz"


@pytest.mark.parametrize(
    ("of", "action", "hidden"),
    [
        ({"project_id": "p"}, Action.PROJECT_READ_ASSIGNMENTS, Reason.REASON_NO_SUCH_PROJECT),
        ({"server": True}, Action.SERVER_READ_ASSIGNMENTS, Reason.REASON_FORBIDDEN),
    ],
)
async def test_who_may_not_read_who_has_rights_reads_no_stream_either(
    house: House, of: dict[str, Any], action: Action, hidden: Reason.ValueType
) -> None:
    for rule, reason in (
        (Rule(allows=False, action=action), Reason.REASON_FORBIDDEN),
        (Rule(allows=False, kind=action.kind), hidden),
    ):
        house.authorizer.replace(rule, ANYTHING)
        with pytest.raises(Refusal) as read:
            await house.stub.ReadEvents(pb.ReadEventsRequest(**of))
        with pytest.raises(Refusal) as subscribed:
            await anext(house.stub.Subscribe(pb.SubscribeRequest(**of)))
        assert read.value.reason == subscribed.value.reason == reason


@pytest.mark.parametrize(
    ("of", "reason"),
    [
        ({}, Reason.REASON_INVALID_FIELD),
        ({"server": False}, Reason.REASON_INVALID_FIELD),
        ({"project_id": ""}, Reason.REASON_PROJECT_MISSING),
        ({"project_id": "a b"}, Reason.REASON_MALFORMED_PROJECT_ID),
    ],
)
async def test_what_names_no_stream_is_refused(house: House, of: dict[str, Any], reason: Reason.ValueType) -> None:
    with pytest.raises(Refusal) as refused:
        await house.stub.ReadEvents(pb.ReadEventsRequest(**of))
    assert refused.value.reason == reason


def test_both_services_demand_what_the_mechanism_demands() -> None:
    demanded = {Action.PROJECT_READ_ASSIGNMENTS.name, Action.SERVER_READ_ASSIGNMENTS.name}
    for module in (pb, vending_pb2):
        for method in module.DESCRIPTOR.services_by_name["EventService"].methods:
            assert set(rule_of_method(method).permissions) == demanded
