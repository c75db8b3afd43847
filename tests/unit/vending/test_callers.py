"""Who stages a credential, and for which project."""

from __future__ import annotations

import pytest

from lakeward_protocol.common.v1.context_pb2 import RequestContext
from lakeward_servicekit.authorization.identity import Identified
from lakeward_servicekit.authorization.principals import user
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.application.caller import Caller
from lakeward_vending.transport.callers import caller_of


class Known:
    def __init__(self) -> None:
        self.asked = 0

    async def authenticate(self, context: RequestContext) -> Identified:
        self.asked += 1
        return Identified(user(context.authorization))


@pytest.mark.parametrize(("named", "project"), [("", "default"), ("mine", "mine")])
async def test_a_caller_acts_in_the_project_that_is_named_else_in_the_default_one(named: str, project: str) -> None:
    context = RequestContext(authorization="oidc~anna", project_id=named)
    caller = await caller_of(context, identity=Known(), default_project="default")
    assert caller == Caller(user("oidc~anna"), project)


async def test_who_names_no_project_that_can_be_is_refused_before_anybody_is_asked_who_it_is() -> None:
    identity = Known()
    with pytest.raises(Refusal) as refused:
        await caller_of(RequestContext(project_id="a b"), identity=identity, default_project=None)
    assert (refused.value.reason, identity.asked) == (Reason.REASON_MALFORMED_PROJECT_ID, 0)


async def test_who_names_no_project_where_there_is_no_default_one_is_refused_once_one_is_needed() -> None:
    caller = await caller_of(RequestContext(authorization="oidc~anna"), identity=Known(), default_project=None)
    with pytest.raises(Refusal) as refused:
        _ = caller.chosen_project
    assert refused.value.reason == Reason.REASON_PROJECT_MISSING
