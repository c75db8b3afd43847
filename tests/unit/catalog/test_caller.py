from __future__ import annotations

import pytest

from lakeward_catalog.application.caller import Caller, Delegation
from lakeward_catalog.transport.callers import caller_of
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.authorization.identity import Identified
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind, RoleId, UserId
from lakeward_servicekit.errors import Reason
from lakeward_servicekit.telemetry import incoming
from tests.support.catalog.fakes import TokenIdentity
from tests.support.catalog.house import refusal_of


async def called(**members: object) -> Caller:
    return await caller_of(context_pb2.RequestContext(**members), identity=TokenIdentity())  # type: ignore[arg-type]


async def test_a_request_keeps_its_own_id_and_else_has_the_one_that_was_made_for_it() -> None:
    assert (await called(request_id="mine")).request_id == "mine"
    with incoming("made", None):
        assert (await called()).request_id == "made"


async def test_a_user_agent_is_cut_to_256_bytes_of_whole_characters() -> None:
    cut = (await called(user_agent="ä" * 200 + "x")).user_agent
    assert cut == "ä" * 128
    assert (await called(user_agent="x" + "ä" * 200)).user_agent == "x" + "ä" * 127


async def test_an_unspecified_delegation_is_none() -> None:
    words = [context_pb2.DELEGATION_UNSPECIFIED, context_pb2.DELEGATION_REMOTE_SIGNING]
    assert (await called(delegation=words)).delegation == {Delegation.REMOTE_SIGNING}
    assert (await called(delegation=words[:1])).delegation == frozenset()
    assert (await called()).delegation == frozenset()


@pytest.mark.parametrize("project", ["a b", "ä", "a/b", "x" * 129, "-\n"])
async def test_a_text_that_is_no_project_id_is_refused(project: str) -> None:
    assert (await refusal_of(called(project_id=project))).reason == Reason.REASON_MALFORMED_PROJECT_ID


async def test_who_assumed_a_role_acts_as_both_in_events() -> None:
    class Assumed(TokenIdentity):
        async def authenticate(self, context: context_pb2.RequestContext) -> Identified:
            return Identified(Principal(PrincipalKind.ROLE, UserId("oidc~anna"), RoleId("r1")))

    caller = await caller_of(context_pb2.RequestContext(), identity=Assumed())
    assert caller.actor.document() == {"type": "role", "principal": "oidc~anna", "assumed-role": "r1"}
    assert (await called()).actor.document() == {"type": "anonymous"}
