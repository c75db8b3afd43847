from __future__ import annotations

from collections.abc import Awaitable
from datetime import UTC, datetime
from uuid import UUID

import pytest

from lakeward_authz.application.identifying import (
    Authenticator,
    Everybody,
    Identification,
    RoleMembership,
)
from lakeward_authz.application.users import User
from lakeward_authz.domain.permissions.objects import user_subject
from lakeward_authz.domain.profiles import Profile, UserKind
from lakeward_authz.transport.identity import IdentityServicer
from lakeward_protocol.authz.v1 import identity_pb2 as pb
from lakeward_protocol.authz.v1 import principals_pb2
from lakeward_protocol.common.v1.context_pb2 import RequestContext
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind, RoleId, UserId, user
from lakeward_servicekit.authorization.wire import principal_of
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import Call, Caller
from tests.support.users import FakeRoles, FakeUsers, identity_servicer

NOW = datetime(2026, 8, 1, tzinfo=UTC)
CALL = Call(Caller.CALLER_CATALOG)
ROLE = "0198f2c0-0000-7000-8000-000000000001"


class Names:
    """Takes an authorization for a name, and knows nobody called "stranger"."""

    def __init__(self, profile: Profile | None = None) -> None:
        self.profile = profile or Profile("Ann", "ann@x", UserKind.HUMAN)

    async def identify(self, authorization: str) -> Identification:
        if authorization == "stranger":
            raise Refusal(Reason.REASON_TOKEN_REFUSED, "who is that", cause="issuer")
        return Identification(user(f"oidc~{authorization}"), self.profile, NOW, "names-1")


def servicer(
    users: FakeUsers | None = None, authenticator: Authenticator | None = None, roles: RoleMembership | None = None
) -> IdentityServicer:
    return identity_servicer(authenticator or Names(), users or FakeUsers(), at=NOW, roles=roles)


def context(authorization: str = "ann", assumed_role: str = "") -> RequestContext:
    return RequestContext(authorization=authorization, assumed_role=assumed_role, request_id="r-1")


async def reason_of(call: Awaitable[object]) -> int:
    with pytest.raises(Refusal) as refusal:
        await call
    return refusal.value.reason


async def test_a_user_is_told_with_name_end_and_revision() -> None:
    answer = await servicer().Authenticate(pb.AuthenticateRequest(context=context()), CALL)
    assert (answer.principal.user_id, answer.display_name, answer.revision) == ("oidc~ann", "Ann", "names-1")
    assert answer.expires_at.ToDatetime(UTC) == NOW


async def test_without_a_provider_everybody_is_anonymous_whatever_they_send() -> None:
    for authorization in ("", "Bearer dev", "Basic x"):
        request = pb.AuthenticateRequest(context=context(authorization))
        answer = await servicer(authenticator=Everybody()).Authenticate(request, CALL)
        assert answer.principal == principals_pb2.Principal(kind=principals_pb2.PRINCIPAL_KIND_ANONYMOUS)
        assert (answer.revision, answer.HasField("expires_at")) == ("open", False)


@pytest.mark.parametrize("role", ["admin", "x" * 5000, "role:admin", f"{ROLE}'", "oidc~ann"])
@pytest.mark.parametrize("authenticator", [Names(), Everybody()])
async def test_what_is_no_roles_id_is_refused_whoever_calls(role: str, authenticator: Authenticator) -> None:
    request = pb.AuthenticateRequest(context=context(assumed_role=role))
    asking = servicer(authenticator=authenticator, roles=HELD).Authenticate(request, CALL)
    assert await reason_of(asking) == Reason.REASON_INVALID_ROLE_ID


HELD = FakeRoles({UUID(ROLE): [user_subject("oidc~ann")]})


@pytest.mark.parametrize("spelled", [ROLE, ROLE.upper(), ROLE.replace("-", ""), f"{{{ROLE}}}", f"urn:uuid:{ROLE}"])
async def test_who_holds_a_role_acts_as_it_and_is_still_named_however_the_id_is_spelled(spelled: str) -> None:
    request = pb.AuthenticateRequest(context=context(assumed_role=spelled))
    answer = await servicer(roles=HELD).Authenticate(request, CALL)
    assert principal_of(answer.principal) == Principal(PrincipalKind.ROLE, UserId("oidc~ann"), RoleId(ROLE))


@pytest.mark.parametrize(
    ("held", "reason"),
    [
        (FakeRoles({UUID(ROLE): [user_subject("oidc~bob")]}), Reason.REASON_ROLE_NOT_ASSUMABLE),
        (FakeRoles(), Reason.REASON_ASSUMED_ROLE_UNKNOWN),
    ],
)
async def test_a_role_that_is_not_the_callers_is_refused_and_so_is_one_that_is_not_there(
    held: FakeRoles, reason: int
) -> None:
    request = pb.AuthenticateRequest(context=context(assumed_role=ROLE))
    assert await reason_of(servicer(roles=held).Authenticate(request, CALL)) == reason


async def test_the_anonymous_caller_holds_no_role_even_where_roles_are_served() -> None:
    request = pb.AuthenticateRequest(context=context(assumed_role=ROLE))
    asking = servicer(authenticator=Everybody(), roles=HELD).Authenticate(request, CALL)
    assert await reason_of(asking) == Reason.REASON_ROLE_NOT_ASSUMABLE


async def test_a_bad_token_is_refused_before_its_role_is_looked_at() -> None:
    request = pb.AuthenticateRequest(context=context("stranger", "admin"))
    assert await reason_of(servicer().Authenticate(request, CALL)) == Reason.REASON_TOKEN_REFUSED


async def provision(users: FakeUsers, authenticator: Authenticator | None = None) -> pb.ProvisionUserResponse:
    request = pb.ProvisionUserRequest(context=context(assumed_role=ROLE))
    return await servicer(users, authenticator).ProvisionUser(request, CALL)


async def test_a_caller_is_recorded_once_and_as_the_user_it_is() -> None:
    users = FakeUsers()
    answers = [await provision(users) for _ in range(3)]
    assert [(answer.user_id, answer.created) for answer in answers] == [
        ("oidc~ann", True),
        ("oidc~ann", False),
        ("oidc~ann", False),
    ]
    assert users.rows[UserId("oidc~ann")].updated_with == "config-call-creation"


async def test_what_is_recorded_stays_but_a_missing_name_is_filled_in() -> None:
    users = FakeUsers()
    await provision(users, Names(Profile(None, None, UserKind.APPLICATION)))
    assert not (await provision(users, Names(Profile(None, "a@x", UserKind.HUMAN)))).created
    assert users.rows[UserId("oidc~ann")].profile.email is None
    assert not (await provision(users)).created
    assert users.rows[UserId("oidc~ann")].profile.name == "Ann"
    await provision(users, Names(Profile("Changed", None, UserKind.HUMAN)))
    assert users.rows[UserId("oidc~ann")].profile.name == "Ann"


async def test_calling_does_not_revive_a_deleted_user() -> None:
    users = FakeUsers()
    gone = User(UserId("oidc~ann"), Profile(None, None, UserKind.HUMAN), "update-endpoint", NOW, deleted=True)
    users.rows[gone.user_id] = gone
    await provision(users)
    assert users.rows == {gone.user_id: gone}


async def test_the_anonymous_caller_is_never_recorded() -> None:
    users = FakeUsers()
    answer = await provision(users, Everybody())
    assert (answer.user_id, answer.created, users.rows) == ("", False, {})


async def bootstrap(users: FakeUsers, name: str, *, is_operator: bool = False) -> None:
    request = pb.BootstrapAdministratorRequest(context=context(name), is_operator=is_operator)
    await servicer(users, Everybody() if name == "" else None).BootstrapAdministrator(request, CALL)


async def test_the_first_administrator_stays_the_first_and_may_ask_again() -> None:
    users = FakeUsers()
    await bootstrap(users, "ann", is_operator=True)
    await bootstrap(users, "ann")
    assert await reason_of(bootstrap(users, "bob")) == Reason.REASON_ALREADY_BOOTSTRAPPED
    assert await reason_of(bootstrap(users, "")) == Reason.REASON_ALREADY_BOOTSTRAPPED
    assert users.first is not None
    assert (users.first.user_id, users.first.is_operator) == ("oidc~ann", True)
    assert users.rows[UserId("oidc~ann")].updated_with == "update-endpoint"


async def test_an_open_server_is_bootstrapped_by_nobody_in_particular() -> None:
    users = FakeUsers()
    await bootstrap(users, "")
    await bootstrap(users, "")
    assert await reason_of(bootstrap(users, "ann")) == Reason.REASON_ALREADY_BOOTSTRAPPED
