"""What GrantService makes of a message, and what it refuses before anything is asked."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_authz.adapters.allow_all import EveryRight
from lakeward_authz.application.caller import Caller
from lakeward_authz.application.doors import Doors
from lakeward_authz.application.explaining import ExplainAccess
from lakeward_authz.application.grants import ChangeGrants, GrantablePrivileges, ListGrants, ListGrantsOfPrincipal
from lakeward_authz.application.inspecting import AllowedActions, CheckActions, GetManagedAccess, SetManagedAccess
from lakeward_authz.application.permissions import Grant
from lakeward_authz.domain.permissions.objects import role_subject, user_subject
from lakeward_authz.domain.user_ids import parse_user_id
from lakeward_authz.transport import pages
from lakeward_authz.transport.grants import GrantServicer, grantee
from lakeward_protocol.authz.v1 import grants_pb2 as pb
from lakeward_protocol.authz.v1 import principals_pb2 as kinds
from lakeward_protocol.common.v1.context_pb2 import Page
from lakeward_servicekit.authorization.principals import ANONYMOUS, Principal, user
from lakeward_servicekit.errors import Reason, ReasonValue, Refusal
from lakeward_servicekit.paging import PageSizes
from tests.support.authz_memory import InMemory, TrailsInMemory
from tests.support.authz_worlds import World, id_of, subject_of

ROLE = "0198e000-0000-7000-8000-0000000000bb"


@pytest.fixture
def rows() -> InMemory:
    world = World()
    world.add("project", "p", "server")
    world.add("project", "q", "server")
    world.add("warehouse", "w", "p")
    world.add("namespace", "n", "w")
    world.add("table", "t", "n")
    world.give("user:owner", "ownership", "n")
    for number in range(7):
        world.give(f"user:u{number}", "select", "t")
    return InMemory(world)


def servicer(rows: InMemory, *, open_to_all: bool = False) -> GrantServicer:
    doors = Doors(rows, EveryRight(rows) if open_to_all else rows)
    return GrantServicer(
        list_grants=ListGrants(doors, rows),
        list_of_principal=ListGrantsOfPrincipal(doors, rows),
        change=ChangeGrants(doors, rows),
        grantable=GrantablePrivileges(doors),
        allowed=AllowedActions(doors),
        check=CheckActions(doors),
        explain=ExplainAccess(doors, TrailsInMemory(rows), open_to_all=open_to_all),
        managed=GetManagedAccess(doors),
        manage=SetManagedAccess(doors, rows),
        sizes=PageSizes(3, 5),
    )


def calls(principal: Principal, project: str | None = "p") -> Caller:
    return Caller(principal=principal, project=project)


OWNER = calls(user("oidc~owner"))
TABLE = pb.ObjectName(kind=kinds.OBJECT_KIND_TABLE, warehouse_id=str(id_of("w")), id=str(id_of("t")))


def entry(privilege: str = "select", **who: str) -> pb.GrantEntry:
    return pb.GrantEntry(grantee=pb.Grantee(**who), privilege=privilege)


async def changed(rows: InMemory, *writes: pb.GrantEntry, deletes: tuple[pb.GrantEntry, ...] = ()) -> set[Grant]:
    request = pb.ChangeGrantsRequest(object=TABLE, writes=writes, deletes=deletes)
    await servicer(rows).ChangeGrants(request, OWNER)
    return rows.changed[-1][1]


@pytest.mark.parametrize(
    "user_id",
    [
        "oidc~a#member",
        "oidc~*",
        "oidc~user:*",
        f"oidc~role:{ROLE}",
        f"role~{ROLE}",
        "oidc~a~b",
        "oidc~a b",
        "oidc~Ann",
        "oidc~å/é@例",
        "kubernetes~system:serviceaccount:a:b",
    ],
)
async def test_whatever_a_user_is_called_the_grant_is_that_users_and_nobody_elses(rows: InMemory, user_id: str) -> None:
    (written,) = await changed(rows, entry(user_id=user_id))
    assert written == Grant(user_subject(user_id), "select")
    assert written.subject.startswith("user:")
    assert user_subject(parse_user_id(user_id)) == written.subject


@given(st.text(max_size=40) | st.from_regex(r"[a-z0-9-]{1,9}~[^\x00-\x1f\ud800-\udfff]{1,9}", fullmatch=True))
def test_a_text_is_one_users_id_as_it_stands_or_nobodys(text: str) -> None:
    found = None
    with suppress(Refusal):
        found = grantee(pb.Grantee(user_id=text), "x")
    provider, tilde, subject = text.partition("~")
    if found is not None:
        assert found == f"user:{text}"
    assert found is None or (provider and tilde and subject)


async def test_a_role_is_one_role_however_its_id_is_spelled(rows: InMemory) -> None:
    for spelled in (ROLE, ROLE.upper(), ROLE.replace("-", "")):
        assert await changed(rows, entry(role_id=spelled)) == {Grant(role_subject(UUID(ROLE)), "select")}
    with pytest.raises(Refusal) as refused:
        await changed(rows, entry(role_id=ROLE), entry(role_id=ROLE.upper()))
    assert refused.value.metadata == {"cause": "DuplicateGrantEntry"}


@pytest.mark.parametrize(
    ("who", "reason", "cause"),
    [
        ({}, Reason.REASON_PERMISSIONS_INVALID, "MissingGrantPrincipal"),
        ({"user_id": "oidc~a", "role_id": ROLE}, Reason.REASON_PERMISSIONS_INVALID, "AmbiguousGrantPrincipal"),
        ({"user_id": ""}, Reason.REASON_INVALID_USER_ID, None),
        ({"user_id": "anonymous"}, Reason.REASON_INVALID_USER_ID, None),
        ({"user_id": "*"}, Reason.REASON_INVALID_USER_ID, None),
        ({"user_id": "oidc~"}, Reason.REASON_INVALID_USER_ID, None),
        ({"user_id": "~a"}, Reason.REASON_INVALID_USER_ID, None),
        ({"user_id": "OIDC~a"}, Reason.REASON_INVALID_USER_ID, None),
        ({"user_id": "user:oidc~a"}, Reason.REASON_INVALID_USER_ID, None),
        ({"user_id": "oidc~a\x00b"}, Reason.REASON_INVALID_USER_ID, None),
        ({"user_id": "oidc~a\nb"}, Reason.REASON_INVALID_USER_ID, None),
        ({"user_id": f"oidc~{'x' * 128}"}, Reason.REASON_INVALID_USER_ID, None),
        ({"user_id": f"{'x' * 128}~a"}, Reason.REASON_INVALID_USER_ID, None),
        ({"role_id": "*"}, Reason.REASON_INVALID_FIELD, None),
        ({"role_id": ""}, Reason.REASON_INVALID_FIELD, None),
        ({"role_id": f"{ROLE}#assignee"}, Reason.REASON_INVALID_FIELD, None),
        ({"role_id": "oidc~a"}, Reason.REASON_INVALID_FIELD, None),
    ],
)
async def test_who_is_nobody_in_particular_is_given_nothing(
    rows: InMemory, who: dict[str, str], reason: ReasonValue, cause: str | None
) -> None:
    for writes, deletes in (((entry(**who),), ()), ((), (entry(**who),))):
        with pytest.raises(Refusal) as refused:
            await changed(rows, *writes, deletes=deletes)
        assert refused.value.reason == reason
        assert cause is None or refused.value.metadata == {"cause": cause}
    assert rows.changed == []


async def test_entries_that_name_two_principals_or_none_are_named_with_their_places(rows: InMemory) -> None:
    both = entry(user_id="oidc~a", role_id=ROLE)
    with pytest.raises(Refusal, match=r"writes\[1\], deletes\[0\]"):
        await changed(rows, entry(user_id="oidc~a"), both, deletes=(both,))


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        (pb.ObjectName(), Reason.REASON_INVALID_FIELD),
        (pb.ObjectName(kind=kinds.OBJECT_KIND_TABLE), Reason.REASON_INVALID_FIELD),
        (
            pb.ObjectName(kind=kinds.OBJECT_KIND_TABLE, warehouse_id="w", id=str(id_of("t"))),
            Reason.REASON_INVALID_FIELD,
        ),
        (pb.ObjectName(kind=kinds.OBJECT_KIND_TABLE, id="t"), Reason.REASON_INVALID_FIELD),
        (pb.ObjectName(kind=kinds.OBJECT_KIND_WAREHOUSE), Reason.REASON_INVALID_FIELD),
        (pb.ObjectName(kind=kinds.OBJECT_KIND_ROLE, id=""), Reason.REASON_INVALID_FIELD),
        (pb.ObjectName(kind=kinds.OBJECT_KIND_PROJECT, project_id="p#q"), Reason.REASON_MALFORMED_PROJECT_ID),
        (pb.ObjectName(kind=kinds.OBJECT_KIND_PROJECT, project_id="p\n"), Reason.REASON_MALFORMED_PROJECT_ID),
        (pb.ObjectName(kind=kinds.OBJECT_KIND_PROJECT, project_id="nowhere"), Reason.REASON_NO_SUCH_PROJECT),
    ],
)
async def test_an_object_that_is_not_named_as_one_of_its_kind_is_refused(
    rows: InMemory, named: pb.ObjectName, reason: ReasonValue
) -> None:
    with pytest.raises(Refusal) as refused:
        await servicer(rows).ListGrants(pb.ListGrantsRequest(object=named), OWNER)
    assert refused.value.reason == reason


async def test_a_project_is_the_named_one_else_the_calls(rows: InMemory) -> None:
    project = pb.ListGrantsRequest(object=pb.ObjectName(kind=kinds.OBJECT_KIND_PROJECT))
    named = pb.ListGrantsRequest(object=pb.ObjectName(kind=kinds.OBJECT_KIND_PROJECT, project_id="q"))
    made = servicer(rows, open_to_all=True)
    for request, called, project_id in ((project, "p", "p"), (project, "q", "q"), (named, "p", "q")):
        assert (await made.ListGrants(request, calls(ANONYMOUS, called))).project_id == project_id
    with pytest.raises(Refusal) as refused:
        await made.ListGrants(project, calls(ANONYMOUS, None))
    assert refused.value.reason == Reason.REASON_PROJECT_MISSING


async def test_what_must_be_of_the_calls_project_is_not_there_in_another(rows: InMemory) -> None:
    here = pb.ObjectName()
    here.CopyFrom(TABLE)
    here.of_this_project = True
    request = pb.ListGrantsRequest(object=here)
    assert (await servicer(rows).ListGrants(request, OWNER)).grants
    with pytest.raises(Refusal) as refused:
        await servicer(rows).ListGrants(request, calls(OWNER.principal, "q"))
    assert refused.value.reason == Reason.REASON_NO_SUCH_TABLE


async def test_pages_of_grants_are_full_and_lead_to_the_last(rows: InMemory) -> None:
    seen: list[str] = []
    page = Page(size=3)
    sizes = []
    while True:
        listed = await servicer(rows).ListGrants(pb.ListGrantsRequest(object=TABLE, page=page), OWNER)
        sizes.append(len(listed.grants))
        seen += [grant.grantee.user_id for grant in listed.grants]
        if not listed.next_page_token:
            break
        page.token = listed.next_page_token
    assert (sizes, seen) == ([3, 3, 1], [f"oidc~u{number}" for number in range(7)])
    everything = await servicer(rows).ListGrants(pb.ListGrantsRequest(object=TABLE), OWNER)
    assert (len(everything.grants), everything.next_page_token) == (7, "")
    first = everything.grants[0]
    assert (first.recognized, first.object.id, first.object.warehouse_id) == (True, TABLE.id, TABLE.warehouse_id)


@pytest.mark.parametrize(("asked", "entries"), [(None, 3), (0, 1), (4, 4), (1000, 5)])
async def test_a_page_has_as_many_entries_as_settings_allow(rows: InMemory, asked: int | None, entries: int) -> None:
    listed = await servicer(rows).ListGrants(pb.ListGrantsRequest(object=TABLE, page=Page(size=asked)), OWNER)
    assert (len(listed.grants), bool(listed.next_page_token)) == (entries, True)


async def test_a_page_token_of_another_listing_is_refused(rows: InMemory) -> None:
    made = servicer(rows)
    listed = await made.ListGrants(pb.ListGrantsRequest(object=TABLE, page=Page(size=1)), OWNER)
    namespace = pb.ObjectName(kind=kinds.OBJECT_KIND_NAMESPACE, id=str(id_of("n")))
    for token in (listed.next_page_token, "garbage", "e30", "W10", "WzFd", "x" * 5000, "é", "//"):
        with pytest.raises(Refusal) as refused:
            await made.ListGrants(pb.ListGrantsRequest(object=namespace, page=Page(token=token)), OWNER)
        assert refused.value.reason == Reason.REASON_INVALID_PAGE_TOKEN, token
    of_owner = pb.ListGrantsOfPrincipalRequest(grantee=pb.Grantee(user_id="oidc~owner"))
    digest = ("p", subject_of("user:owner"))
    of_owner.page.token = pages.token_of(("x", "table", "y", "select"), listing=digest)
    with pytest.raises(Refusal) as refused:
        await made.ListGrantsOfPrincipal(of_owner, OWNER)
    assert refused.value.reason == Reason.REASON_INVALID_PAGE_TOKEN


async def test_where_everything_is_allowed_everybody_gives_and_grants_are_kept(rows: InMemory) -> None:
    made = servicer(rows, open_to_all=True)
    request = pb.ChangeGrantsRequest(object=TABLE, writes=[entry(user_id="oidc~new")])
    await made.ChangeGrants(request, calls(ANONYMOUS))
    assert rows.changed[0][1] == {Grant(subject_of("user:new"), "select")}
    allowed = await made.GetAllowedActions(pb.GetAllowedActionsRequest(object=TABLE), calls(ANONYMOUS))
    assert {"read_data", "grant_select", "drop"} <= {*allowed.actions}
    request.object.id = str(id_of("absent"))
    with pytest.raises(Refusal) as refused:
        await made.ChangeGrants(request, calls(ANONYMOUS))
    assert refused.value.reason == Reason.REASON_NO_SUCH_TABLE


async def test_the_vocabulary_is_told_to_everybody_with_words_for_people(rows: InMemory) -> None:
    listed = await servicer(rows).ListPrivileges(pb.ListPrivilegesRequest(), calls(ANONYMOUS))
    of_tables = [each for each in listed.privileges if each.kind == kinds.OBJECT_KIND_TABLE]
    assert [each.name for each in of_tables] == [
        "ownership",
        "pass_grants",
        "manage_grants",
        "describe",
        "select",
        "modify",
        "manage_tags",
    ]
    assert of_tables[1].display_name == "Pass grants"


async def test_checks_are_asked_of_objects_and_of_what_is_not_there(rows: InMemory) -> None:
    absent = pb.ObjectName(kind=kinds.OBJECT_KIND_TABLE, warehouse_id=TABLE.warehouse_id)
    checks = [
        pb.ActionCheck(object=TABLE, action="read_data"),
        pb.ActionCheck(object=TABLE, action="drop", grantee=pb.Grantee(user_id="oidc~u1")),
        pb.ActionCheck(object=absent, action="drop", called="n.nothing"),
    ]
    answer = await servicer(rows).CheckActions(pb.CheckActionsRequest(checks=checks), OWNER)
    assert [*answer.allowed] == [True, False, False]
    with pytest.raises(Refusal) as refused:
        await servicer(rows).CheckActions(pb.CheckActionsRequest(checks=checks, absent_is_refused=True), OWNER)
    assert refused.value.metadata == {"table": "n.nothing"}
