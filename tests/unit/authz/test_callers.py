"""Who calls authz for a user."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from lakeward_authz.application.caller import Caller
from lakeward_authz.application.identifying import Authenticate, Everybody, Identification
from lakeward_authz.domain.permissions.objects import user_subject
from lakeward_authz.domain.profiles import Profile, UserKind
from lakeward_authz.transport.callers import caller_of
from lakeward_protocol.common.v1.context_pb2 import RequestContext
from lakeward_servicekit.authorization.principals import ANONYMOUS, Principal, PrincipalKind, RoleId, UserId, user
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.users import FakeRoles

ANN = Profile("Ann", "ann@x", UserKind.HUMAN)
ROLE = "0198f2c0-0000-7000-8000-000000000001"


class Names:
    """Takes an authorization for a name."""

    async def identify(self, authorization: str) -> Identification:
        return Identification(user(f"oidc~{authorization}"), ANN, datetime(2026, 8, 1, tzinfo=UTC), "names-1")


NAMED = Authenticate(Names(), FakeRoles({UUID(ROLE): [user_subject("oidc~ann")]}))


async def caller(default_project: str | None = None, **context: str) -> Caller:
    return await caller_of(
        RequestContext(authorization="ann", **context), authenticate=NAMED, default_project=default_project
    )


async def test_a_caller_is_the_user_of_the_token_with_what_the_token_says_of_it() -> None:
    key = "0198f2c0-0000-7000-8000-0000000000aa"
    found = await caller(project_id="p", idempotency_key=key)
    assert found == Caller(principal=user("oidc~ann"), profile=ANN, project="p", idempotency_key=UUID(key))
    assert found.user_id == "oidc~ann"


async def test_behind_an_assumed_role_there_is_still_the_user() -> None:
    found = await caller(assumed_role=ROLE)
    assert found.principal == Principal(PrincipalKind.ROLE, UserId("oidc~ann"), RoleId(ROLE))
    assert found.user_id == "oidc~ann"


async def test_nobody_stands_behind_the_anonymous_caller() -> None:
    everybody = Authenticate(Everybody(), FakeRoles())
    found = await caller_of(RequestContext(), authenticate=everybody, default_project=None)
    assert (found.principal, found.user_id, found.profile) == (ANONYMOUS, None, None)


async def test_a_request_that_names_no_project_is_about_the_default_one_or_about_none() -> None:
    assert (await caller("default")).chosen_project == "default"
    assert (await caller("default", project_id="p")).chosen_project == "p"
    with pytest.raises(Refusal) as refused:
        _ = (await caller()).chosen_project
    assert refused.value.reason == Reason.REASON_PROJECT_MISSING


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        ({"project_id": "a b"}, Reason.REASON_MALFORMED_PROJECT_ID),
        ({"project_id": "é"}, Reason.REASON_MALFORMED_PROJECT_ID),
        ({"project_id": "x" * 129}, Reason.REASON_MALFORMED_PROJECT_ID),
        ({"idempotency_key": "once"}, Reason.REASON_IDEMPOTENCY_KEY_INVALID),
        ({"assumed_role": "admin"}, Reason.REASON_INVALID_ROLE_ID),
    ],
)
async def test_what_can_not_be_meant_is_refused(context: dict[str, str], reason: int) -> None:
    with pytest.raises(Refusal) as refused:
        await caller(**context)
    assert refused.value.reason == reason
