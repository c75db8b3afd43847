"""A set that is remembered from page to page is never older than the question, whatever changed in between."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Final, TypeAlias
from uuid import UUID

import pytest

from lakeward_authz.adapters.builtin import Builtin
from lakeward_authz.adapters.postgres.holders import Holders
from lakeward_authz.adapters.postgres.roles import PostgresRoles
from lakeward_authz.adapters.postgres.visible_states import PostgresVisibleStates
from lakeward_authz.application.permissions import Gone, Grant, Made, Moved, TreeChange
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject, role_subject, user_subject
from lakeward_authz.domain.roles import RoleIdent
from lakeward_authz.transport.decisions import DecisionServicer
from lakeward_protocol.authz.v1 import decisions_pb2 as pb
from lakeward_protocol.authz.v1 import decisions_pb2_grpc
from lakeward_servicekit.authorization.authorizer import VisibleSet
from lakeward_servicekit.authorization.objects import SERVER, ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind, UserId
from lakeward_servicekit.authorization.remote import RemoteAuthorizer
from lakeward_servicekit.authorization.wire import visible_request
from lakeward_servicekit.rpc import Caller, Host
from lakeward_servicekit.rpc.call import Call
from tests.support.authz_stores import Stores
from tests.support.directory import a_role

pytestmark = pytest.mark.integration

WAREHOUSE, OUTER, INNER = UUID(int=0xA), UUID(int=0xB), UUID(int=0xC)
CALL = Call(Caller.CALLER_CATALOG)
STREAM: Final = f"warehouse/{WAREHOUSE}"
ANNE = user_subject(UserId("oidc~anne"))
CALLING = Principal(PrincipalKind.USER, UserId("oidc~anne"), token_roles=("oidc~staff",))
NAMESPACE = ObjectRef.namespace("p", WAREHOUSE, OUTER, parent_id=None)
ROLE = a_role(1, "staff", ident=RoleIdent("oidc", "nobody's"))
Act: TypeAlias = Callable[[Stores], Awaitable[object]]


def key(kind: str, own: UUID) -> ObjectKey:
    return ObjectKey(kind, "p", WAREHOUSE, own)


def table(number: int) -> UUID:
    return UUID(int=0x100 + number)


def roles(stores: Stores) -> PostgresRoles:
    return PostgresRoles(stores.pool, stores.tree)


@pytest.fixture
async def filled(stores: Stores) -> Stores:
    """Two namespaces, one in the other, with a table each, and a role."""
    await stores.tree.apply("projects", [(1, Made(ObjectKey("project", "p")))])
    made: Sequence[TreeChange] = [
        Made(ObjectKey("warehouse", "p", WAREHOUSE)),
        Made(key("namespace", OUTER)),
        Made(key("namespace", INNER), OUTER),
        Made(key("table", table(1)), OUTER),
        Made(key("table", table(2)), INNER),
    ]
    await stores.tree.apply(STREAM, list(enumerate(made, 1)))
    assert await roles(stores).add(ROLE, owner=None, record=None)
    await stores.grants.change(key("table", table(1)), writes=[Grant(ANNE, "select")], deletes=[])
    return stores


def changed(on: ObjectKey, who: Subject, relation: str) -> Act:
    async def act(stores: Stores) -> None:
        assert await stores.grants.change(on, writes=[Grant(who, relation)], deletes=[])

    return act


def taken(stores: Stores) -> Awaitable[object]:
    return stores.grants.change(key("table", table(1)), writes=[], deletes=[Grant(ANNE, "select")])


def told(*changes: TreeChange) -> Act:
    return lambda stores: stores.tree.apply(STREAM, list(enumerate(changes, 6)))


async def joined(stores: Stores) -> None:
    staff = role_subject(ROLE.role_id)
    await stores.grants.change(key("table", table(2)), writes=[Grant(staff, "select")], deletes=[])
    await stores.tree.apply(STREAM, [(6, Moved(key("table", table(2)), OUTER))])
    await stores.grants.change(ObjectKey("role", "p", id=ROLE.role_id), writes=[Grant(ANNE, "assignee")], deletes=[])


async def made_by_role(stores: Stores) -> None:
    # held by the token, so that nothing but the making itself changes
    await roles(stores).bind(ROLE.role_id, RoleIdent("oidc", "staff"), at=datetime(2026, 1, 1, tzinfo=UTC))
    await told(Made(key("table", table(3)), OUTER, role_subject(ROLE.role_id)))(stores)


async def made_by_a_role_that_is_made(stores: Stores) -> None:
    made = a_role(2, "crew")
    assert await roles(stores).add(made, owner=ANNE, record=None)
    await told(Made(key("table", table(3)), OUTER, role_subject(made.role_id)))(stores)


async def bound(stores: Stores) -> None:
    await stores.grants.change(
        key("namespace", OUTER), writes=[Grant(role_subject(ROLE.role_id), "describe")], deletes=[]
    )
    await roles(stores).bind(ROLE.role_id, RoleIdent("oidc", "staff"), at=datetime(2026, 1, 1, tzinfo=UTC))


CHANGES: Sequence[tuple[str, Act, VisibleSet]] = (
    ("another is given", changed(key("namespace", OUTER), ANNE, "select"), VisibleSet(everything=True)),
    ("it is taken", taken, VisibleSet(everything=False)),
    (
        "one is made by the caller",
        told(Made(key("table", table(3)), OUTER, ANNE)),
        VisibleSet(everything=False, objects=frozenset({table(1), table(3)})),
    ),
    (
        "one is made by a role of the caller's",
        made_by_role,
        VisibleSet(everything=False, objects=frozenset({table(1), table(3)})),
    ),
    (
        "one is made by a role that the caller made",
        made_by_a_role_that_is_made,
        VisibleSet(everything=False, objects=frozenset({table(1), table(3)})),
    ),
    ("it moves away", told(Moved(key("table", table(1)), INNER)), VisibleSet(everything=False)),
    ("it is gone", told(Gone(key("table", table(1)))), VisibleSet(everything=False)),
    ("a role is joined", joined, VisibleSet(everything=False, objects=frozenset({table(1), table(2)}))),
    ("the token's role is bound", bound, VisibleSet(everything=True)),
)


def served(stores: Stores, *, settings: str = "") -> DecisionServicer:
    return DecisionServicer(
        Builtin(stores.rights),
        PostgresVisibleStates(stores.pool, stores.rights, Holders(stores.pool), settings=settings),
    )


@pytest.mark.parametrize(("act", "then"), [(act, then) for _, act, then in CHANGES], ids=[word for word, *_ in CHANGES])
async def test_what_shows_is_what_shows_now(filled: Stores, act: Act, then: VisibleSet) -> None:
    host = Host("authz")
    host.add(decisions_pb2_grpc.add_DecisionServiceServicer_to_server, served(filled))
    authorizer = RemoteAuthorizer(host.channel(caller=Caller.CALLER_CATALOG), coalesce=False)
    before = VisibleSet(everything=False, objects=frozenset({table(1)}))
    assert await authorizer.visible(CALLING, NAMESPACE, ObjectKind.TABLE) == before
    assert await authorizer.visible(CALLING, NAMESPACE, ObjectKind.TABLE) == before
    await act(filled)
    assert await authorizer.visible(CALLING, NAMESPACE, ObjectKind.TABLE) == then


async def asked(servicer: DecisionServicer, scope: ObjectRef, kind: ObjectKind, known: str = "") -> pb.VisibleResponse:
    told = await servicer.Visible(visible_request(CALLING, scope, kind, known=known), CALL)
    assert isinstance(told, pb.VisibleResponse)
    return told


async def test_a_set_is_told_once_while_nothing_changes(filled: Stores) -> None:
    servicer = served(filled)
    first = await asked(servicer, NAMESPACE, ObjectKind.TABLE)
    assert (first.unchanged, [*first.objects]) == (False, [table(1).bytes])
    again = await asked(servicer, NAMESPACE, ObjectKind.TABLE, first.state)
    assert again == pb.VisibleResponse(unchanged=True)
    other = await asked(servicer, NAMESPACE, ObjectKind.TABLE, f"{first.state}x")
    assert other == first


async def test_a_set_is_not_remembered_across_other_settings(filled: Stores) -> None:
    first = await asked(served(filled), NAMESPACE, ObjectKind.TABLE)
    other = served(filled, settings="other administrators")
    assert not (await asked(other, NAMESPACE, ObjectKind.TABLE, first.state)).unchanged


async def test_what_others_make_leaves_a_set_as_it_is(filled: Stores) -> None:
    servicer = served(filled)
    first = await asked(servicer, NAMESPACE, ObjectKind.TABLE)
    others = Made(key("table", table(3)), OUTER, user_subject(UserId("oidc~ben")))
    await told(others)(filled)
    assert (await asked(servicer, NAMESPACE, ObjectKind.TABLE, first.state)).unchanged


async def test_what_is_in_no_warehouse_is_told_each_time(filled: Stores) -> None:
    servicer = served(filled)
    for scope, kind in ((SERVER, ObjectKind.PROJECT), (ObjectRef.project("p"), ObjectKind.WAREHOUSE)):
        assert not (await asked(servicer, scope, kind)).state
