"""Who may give what, and who may look: decided by the model over a world in memory."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from lakeward_authz.application.doors import Doors
from lakeward_authz.application.grants import (
    ChangeGrants,
    GrantablePrivileges,
    GrantChange,
    Holdings,
    Inspection,
    ListGrants,
    ListGrantsOfPrincipal,
    Listing,
)
from lakeward_authz.application.permissions import Grant, Named, Wanted
from lakeward_authz.domain.permissions.objects import ANYBODY, Subject, role_subject
from lakeward_servicekit.authorization.principals import (
    ANONYMOUS,
    Principal,
    PrincipalKind,
    RoleId,
    UserId,
    user,
)
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.authz_memory import InMemory
from tests.support.authz_worlds import World, id_of, subject_of

OWNER, READER, PASSER, STRANGER, SECURITY, INSTANCE = (
    user(f"oidc~{name}") for name in ("owner", "reader", "passer", "stranger", "security", "instance")
)
SOMEONE = subject_of("user:someone")
TABLE = Named("table")
SELECT = Grant(SOMEONE, "select")


@pytest.fixture
def rows() -> InMemory:
    world = World()
    world.add("project", "p", "server")
    world.add("project", "q", "server")
    world.add("warehouse", "w", "p")
    world.add("namespace", "n", "w")
    world.add("table", "t", "n")
    world.add("role", "R", "p")
    world.give("user:owner", "ownership", "n")
    world.give("user:reader", "select", "n")
    world.give("user:passer", "select", "t")
    world.give("user:passer", "pass_grants", "t")
    world.give("user:security", "security_admin", "p")
    world.give("user:member", "assignee", "R")
    world.give("role:R", "describe", "t")
    return InMemory(world)


def doors(rows: InMemory) -> Doors:
    return Doors(rows, rows, frozenset({INSTANCE.user_id}))


def changing(rows: InMemory) -> ChangeGrants:
    return ChangeGrants(doors(rows), rows)


async def refused(rows: InMemory, change: GrantChange, *, caller: Principal = OWNER) -> Refusal:
    with pytest.raises(Refusal) as caught:
        await changing(rows)(change, caller=caller)
    assert rows.changed == [], "nothing was changed"
    return caught.value


@pytest.mark.parametrize("exact", [True, False])
async def test_an_owner_gives_and_takes_at_once(rows: InMemory, exact: bool) -> None:
    delete = Grant(SOMEONE, "modify")
    await changing(rows)(GrantChange(rows.named("t"), (SELECT,), (delete,), exact=exact), caller=OWNER)
    assert rows.changed == [(rows.world.nodes["t"].key, {SELECT}, {delete}, exact)]


async def test_who_may_only_read_gives_nothing(rows: InMemory) -> None:
    refusal = await refused(rows, GrantChange(rows.named("t"), (SELECT,)), caller=READER)
    assert refusal.reason == Reason.REASON_FORBIDDEN
    assert refusal.metadata == {"kind": "table", "action": "grant_select"}


async def test_who_may_pass_grants_passes_and_takes_back_what_it_holds_alone(rows: InMemory) -> None:
    table = rows.named("t")
    for change in (
        GrantChange(table, (Grant(SOMEONE, "modify"),)),
        GrantChange(table, (), (Grant(SOMEONE, "ownership"),)),
    ):
        assert (await refused(rows, change, caller=PASSER)).reason == Reason.REASON_FORBIDDEN
    await changing(rows)(GrantChange(table, (), (SELECT,)), caller=PASSER)
    assert len(rows.changed) == 1


async def test_one_entry_that_is_not_the_callers_refuses_them_all_and_each_such_one_is_named(rows: InMemory) -> None:
    every = (SELECT, Grant(SOMEONE, "modify"), Grant(SOMEONE, "ownership"))
    refusal = await refused(rows, GrantChange(rows.named("t"), every), caller=PASSER)
    assert refusal.metadata["action"] == "grant_modify"
    assert "grant modify, nor change ownership" in refusal.message
    assert "select" not in refusal.message


MANY = tuple(Grant(Subject(f"user:{n}"), "select") for n in range(101))


@pytest.mark.parametrize(
    ("change", "cause", "named"),
    [
        (GrantChange(TABLE), "EmptyGrantDiff", "1 to 100"),
        (GrantChange(TABLE, MANY), "GrantDiffTooLarge", "101 grants"),
        (GrantChange(TABLE, MANY[:60], MANY[60:]), "GrantDiffTooLarge", "101 grants"),
        (GrantChange(TABLE, (SELECT,), (SELECT,)), "ContradictoryGrantDiff", "see writes[0]"),
        (GrantChange(TABLE, (SELECT, SELECT)), "DuplicateGrantEntry", "see writes[1]"),
        (GrantChange(TABLE, (), (SELECT, SELECT, SELECT)), "DuplicateGrantEntry", "see deletes[1], deletes[2]"),
        (GrantChange(TABLE, (Grant(SOMEONE, ""),)), "InvalidGrantPrivilegeLength", "see writes[0]"),
        (GrantChange(TABLE, (), (Grant(SOMEONE, "x" * 257),)), "InvalidGrantPrivilegeLength", "see deletes[0]"),
        (GrantChange(TABLE, (Grant(SOMEONE, "create"),)), "InvalidGrantPrivilege", "select, modify, manage_tags"),
        (GrantChange(Named("warehouse"), (Grant(SOMEONE, "managed_access"),)), "InvalidGrantPrivilege", "see writes"),
        (GrantChange(Named("namespace"), (Grant(SOMEONE, "glimpse"),)), "InvalidGrantPrivilege", "see writes[0]"),
        (GrantChange(Named("namespace"), (Grant(SOMEONE, "parent"),)), "InvalidGrantPrivilege", "see writes[0]"),
        (GrantChange(Named("role"), (Grant(SOMEONE, "can_assume"),)), "InvalidGrantPrivilege", "see writes[0]"),
        (
            GrantChange(Named("role", id=id_of("R")), (Grant(role_subject(id_of("R")), "assignee"),)),
            "SelfAssignment",
            "see writes[0]",
        ),
        (
            GrantChange(TABLE, tuple(Grant(SOMEONE, f"no{n}") for n in range(7))),
            "InvalidGrantPrivilege",
            "see writes[0], writes[1], writes[2], writes[3], writes[4] and 2 more",
        ),
    ],
)
async def test_what_no_object_can_be_granted_is_refused_before_anything_is_read(
    rows: InMemory, change: GrantChange, cause: str, named: str
) -> None:
    refusal = await refused(rows, change)
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_PERMISSIONS_INVALID, {"cause": cause})
    assert named in refusal.message
    assert rows.asked == 0


async def test_nothing_is_given_to_everybody(rows: InMemory) -> None:
    refusal = await refused(rows, GrantChange(TABLE, (Grant(ANYBODY, "select"),)))
    assert (refusal.reason, refusal.metadata["field"]) == (Reason.REASON_INVALID_FIELD, "grants.subject")


async def test_what_only_a_later_release_knows_is_taken_by_who_may_give_the_most_and_given_by_nobody(
    rows: InMemory,
) -> None:
    later = Grant(SOMEONE, "audit")
    assert (await refused(rows, GrantChange(rows.named("t"), (), (later,)), caller=PASSER)).metadata == {
        "kind": "table",
        "action": "change_ownership",
    }
    await changing(rows)(GrantChange(rows.named("t"), (), (later,)), caller=OWNER)
    assert rows.changed[0][2] == {later}


@pytest.mark.parametrize("caller", [STRANGER, ANONYMOUS])
async def test_an_absent_object_is_refused_like_one_that_the_caller_may_do_nothing_to(
    rows: InMemory, caller: Principal
) -> None:
    named = rows.named("t")
    absent = msgspec.structs.replace(named, id=id_of("absent"))
    there = await refused(rows, GrantChange(named, (SELECT,)), caller=caller)
    gone = await refused(rows, GrantChange(absent, (SELECT,)), caller=caller)
    assert there.reason == gone.reason == Reason.REASON_NO_SUCH_TABLE
    assert there.message.replace(str(named.id), "") == gone.message.replace(str(absent.id), "")
    assert (await refused(rows, GrantChange(absent, (SELECT,)), caller=SECURITY)).message == gone.message


async def test_a_right_to_give_is_sight_enough_to_be_told_what_is_lacking(rows: InMemory) -> None:
    rows.world.give("user:granter", "manage_tags", "t")
    refusal = await refused(rows, GrantChange(rows.named("t"), (SELECT,)), caller=user("oidc~granter"))
    assert refusal.reason == Reason.REASON_FORBIDDEN


async def test_an_object_of_another_project_is_not_there(rows: InMemory) -> None:
    elsewhere = rows.named("t", project_id="q")
    assert (await refused(rows, GrantChange(elsewhere, (SELECT,)))).reason == Reason.REASON_NO_SUCH_TABLE
    await changing(rows)(GrantChange(rows.named("t", project_id="p"), (SELECT,)), caller=OWNER)


async def test_grants_are_shown_to_who_may_give_some(rows: InMemory) -> None:
    listed = await ListGrants(doors(rows), rows)(Listing(rows.named("t")), caller=PASSER)
    assert [given.grant for given in listed] == [
        Grant(role_subject(id_of("R")), "describe"),
        Grant(subject_of("user:passer"), "pass_grants"),
        Grant(subject_of("user:passer"), "select"),
    ]
    with pytest.raises(Refusal) as caught:
        await ListGrants(doors(rows), rows)(Listing(rows.named("t")), caller=READER)
    assert caught.value.metadata["action"] == "read_assignments"


async def test_everyone_is_shown_its_own_grants_and_a_role_s_only_under_that_role(rows: InMemory) -> None:
    rows.world.give("user:reader", "describe", "t")
    own = Listing(rows.named("t"), Wanted(subject_of("user:reader")))
    listed = await ListGrants(doors(rows), rows)(own, caller=READER)
    assert [given.grant.relation for given in listed] == ["describe"]
    role = Listing(rows.named("t"), Wanted(role_subject(id_of("R"))))
    member = user("oidc~member")
    with pytest.raises(Refusal):
        await ListGrants(doors(rows), rows)(role, caller=member)
    as_role = Principal(PrincipalKind.ROLE, UserId("oidc~member"), RoleId(str(id_of("R"))))
    assert len(await ListGrants(doors(rows), rows)(role, caller=as_role)) == 1
    with pytest.raises(Refusal) as caught:
        await ListGrants(doors(rows), rows)(own, caller=STRANGER)
    assert caught.value.reason == Reason.REASON_NO_SUCH_TABLE


async def test_an_administrator_of_the_instance_reads_all_grants_and_gives_none(rows: InMemory) -> None:
    assert await ListGrants(doors(rows), rows)(Listing(rows.named("t")), caller=INSTANCE)
    change = GrantChange(rows.named("t"), (SELECT,))
    assert (await refused(rows, change, caller=INSTANCE)).reason == Reason.REASON_NO_SUCH_TABLE


async def test_what_a_principal_holds_in_a_project_is_shown_to_itself_and_to_who_reads_its_grants(
    rows: InMemory,
) -> None:
    listing = ListGrantsOfPrincipal(doors(rows), rows)
    of_passer = Holdings("p", subject_of("user:passer"))
    for caller in (PASSER, SECURITY):
        found = await listing(of_passer, caller=caller)
        assert {(given.named.type, given.grant.relation) for given in found} == {
            ("table", "pass_grants"),
            ("table", "select"),
        }
    for caller, reason in ((READER, Reason.REASON_NO_SUCH_PROJECT), (STRANGER, Reason.REASON_NO_SUCH_PROJECT)):
        with pytest.raises(Refusal) as caught:
            await listing(dataclasses.replace(of_passer, project_id="q"), caller=caller)
        assert caught.value.reason == reason
    with pytest.raises(Refusal) as caught:
        await listing(of_passer, caller=READER)
    assert caught.value.reason == Reason.REASON_FORBIDDEN


async def test_each_privilege_is_said_to_be_the_callers_to_give_or_not(rows: InMemory) -> None:
    grantable = GrantablePrivileges(doors(rows))
    of_passer = await grantable(Inspection(rows.named("t")), caller=PASSER)
    assert {privilege.name for privilege, allowed in of_passer if allowed} == {"select", "describe"}
    about = Inspection(rows.named("t"), subject_of("user:passer"))
    assert await grantable(about, caller=OWNER) == of_passer
    assert all(allowed for _, allowed in await grantable(Inspection(rows.named("t")), caller=OWNER))
    with pytest.raises(Refusal) as caught:
        await grantable(about, caller=READER)
    assert caught.value.reason == Reason.REASON_FORBIDDEN
