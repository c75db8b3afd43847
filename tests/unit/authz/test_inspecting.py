"""What somebody may do, asked about oneself and about others; and managed access."""

from __future__ import annotations

import itertools
from uuid import UUID

import msgspec
import pytest

from lakeward_authz.application.doors import Doors
from lakeward_authz.application.grants import Inspection
from lakeward_authz.application.inspecting import (
    ActionChecks,
    AllowedActions,
    Check,
    CheckActions,
    GetManagedAccess,
    Managed,
    ManagedAccess,
    SetManagedAccess,
)
from lakeward_authz.application.permissions import Named
from lakeward_authz.domain.permissions.objects import role_subject
from lakeward_authz.domain.permissions.privileges import VOCABULARY
from lakeward_servicekit.authorization.principals import ANONYMOUS, Principal, user
from lakeward_servicekit.errors import Reason, ReasonValue, Refusal
from tests.support.authz_memory import InMemory
from tests.support.authz_worlds import World, id_of, subject_of

OWNER, READER, STRANGER, INSTANCE = (user(f"oidc~{name}") for name in ("owner", "reader", "stranger", "instance"))


@pytest.fixture
def rows() -> InMemory:
    world = World()
    world.add("project", "p", "server")
    world.add("warehouse", "w", "p")
    world.add("namespace", "n", "w", managed=True)
    world.add("namespace", "n.deep", "n")
    world.add("table", "t", "n")
    world.add("table", "hidden", "n.deep")
    world.add("role", "R", "p")
    world.give("user:owner", "ownership", "n")
    world.give("user:reader", "select", "t")
    world.give("role:R", "modify", "t")
    return InMemory(world)


def doors(rows: InMemory) -> Doors:
    return Doors(rows, rows, frozenset({INSTANCE.user_id}))


def test_every_privilege_of_the_model_has_words() -> None:
    for found in VOCABULARY.values():
        for privilege in found:
            assert privilege.description.endswith(".")
            assert privilege.display_name
            assert privilege.category in {"administration", "security", "metadata", "read", "create", "write"}


async def test_everyone_asks_about_itself_and_only_who_reads_grants_about_another(rows: InMemory) -> None:
    actions = AllowedActions(doors(rows))
    table = rows.named("t")
    assert {"read_data", "get_metadata"} <= await actions(Inspection(table), caller=READER)
    assert "drop" not in await actions(Inspection(table), caller=READER)
    about = Inspection(table, subject_of("user:reader"))
    assert "read_data" in await actions(about, caller=OWNER)
    assert "drop" not in await actions(about, caller=OWNER)
    assert "read_data" in await actions(about, caller=READER), "that is oneself"
    with pytest.raises(Refusal) as caught:
        await actions(Inspection(table, subject_of("user:owner")), caller=READER)
    assert caught.value.reason == Reason.REASON_FORBIDDEN


@pytest.mark.parametrize("caller", [STRANGER, ANONYMOUS])
@pytest.mark.parametrize("about", [None, "user:owner"])
async def test_an_object_that_the_caller_may_do_nothing_to_is_absent_whoever_is_asked_about(
    rows: InMemory, caller: Principal, about: str | None
) -> None:
    actions, subject = AllowedActions(doors(rows)), None if about is None else subject_of(about)
    there = Inspection(rows.named("t"), subject)
    gone = Inspection(msgspec.structs.replace(rows.named("t"), id=id_of("absent")), subject)
    for inspection in (there, gone):
        assert await actions(inspection, caller=caller, absent_is_nothing=True) == frozenset()
        with pytest.raises(Refusal) as caught:
            await actions(inspection, caller=caller)
        assert caught.value.reason == Reason.REASON_NO_SUCH_TABLE


async def test_what_is_hidden_from_whom_it_is_about_is_absent_for_them(rows: InMemory) -> None:
    about = Inspection(rows.named("t"), subject_of("user:stranger"))
    with pytest.raises(Refusal) as caught:
        await AllowedActions(doors(rows))(about, caller=OWNER)
    assert caught.value.reason == Reason.REASON_NO_SUCH_TABLE


async def test_a_role_that_is_not_there_is_said_to_be_and_one_that_is_answers_for_itself(rows: InMemory) -> None:
    actions = AllowedActions(doors(rows))
    assert "commit" in await actions(Inspection(rows.named("t"), role_subject(id_of("R"))), caller=OWNER)
    with pytest.raises(Refusal) as caught:
        await actions(Inspection(rows.named("t"), role_subject(id_of("nobody"))), caller=OWNER)
    assert caught.value.reason == Reason.REASON_NO_SUCH_ROLE


async def test_a_role_of_another_project_reads_like_none_to_whoever_asks_about_it(rows: InMemory) -> None:
    rows.world.add("project", "q", "server")
    rows.world.add("role", "S", "q")
    rows.world.give("role:S", "modify", "t")
    actions, checks = AllowedActions(doors(rows)), CheckActions(doors(rows))
    table = rows.named("t")
    for caller, reason in [
        (OWNER, Reason.REASON_NO_SUCH_ROLE),
        (READER, Reason.REASON_FORBIDDEN),
        (STRANGER, Reason.REASON_NO_SUCH_TABLE),
    ]:
        for role in ("S", "nobody"):
            with pytest.raises(Refusal) as caught:
                await actions(Inspection(table, role_subject(id_of(role))), caller=caller)
            assert caught.value.reason == reason, (caller, role)
    for role in ("S", "nobody"):
        check = Check(table, "read_data", role_subject(id_of(role)))
        with pytest.raises(Refusal) as caught:
            await checks(ActionChecks([check]), caller=OWNER)
        assert caught.value.reason == Reason.REASON_NO_SUCH_ROLE


async def test_an_administrator_of_the_instance_may_all_but_reach_data_and_give_rights(rows: InMemory) -> None:
    actions = AllowedActions(doors(rows))
    own = await actions(Inspection(rows.named("t")), caller=INSTANCE)
    assert {"get_metadata", "commit", "drop", "read_assignments"} <= own
    assert not own & {"read_data", "write_data", "grant_select", "change_ownership"}
    about = Inspection(rows.named("t"), subject_of("user:instance"))
    rows.world.give("user:security", "security_admin", "p")
    with pytest.raises(Refusal) as caught:
        await actions(about, caller=user("oidc~security"))
    assert caught.value.reason == Reason.REASON_NO_SUCH_TABLE, "to others it is a user like any"


async def test_many_checks_are_answered_in_order_by_one_question_a_principal(rows: InMemory) -> None:
    table, hidden, namespace = rows.named("t"), rows.named("hidden"), rows.named("n")
    absent = msgspec.structs.replace(table, id=id_of("absent"))
    reader = subject_of("user:reader")
    checks = [
        Check(table, "read_data"),
        Check(namespace, "create_table"),
        Check(absent, "read_data"),
        Check(Named("table", "", table.warehouse_id, called="n.nothing"), "read_data"),
        Check(table, "read_data", reader),
        Check(table, "drop", reader),
        Check(hidden, "get_metadata", reader),
    ]
    rows.asked = 0
    allowed = await CheckActions(doors(rows))(ActionChecks(checks * 100), caller=OWNER)
    assert allowed == [True, True, False, False, True, False, False] * 100
    assert rows.asked == 3


@pytest.mark.parametrize("target_id", [id_of("hidden"), id_of("absent"), None])
async def test_a_hidden_object_is_refused_like_an_absent_one_by_what_it_was_called_where_absence_is_refused(
    rows: InMemory, target_id: UUID | None
) -> None:
    target = msgspec.structs.replace(rows.named("hidden"), id=target_id, called="n.deep.hidden")
    checks = [Check(rows.named("t"), "read_data"), Check(target, "read_data")]
    check = CheckActions(doors(rows))
    assert await check(ActionChecks(checks), caller=READER) == [True, False]
    with pytest.raises(Refusal) as caught:
        await check(ActionChecks(checks, absent_is_refused=True), caller=READER)
    assert caught.value.reason == Reason.REASON_NO_SUCH_TABLE
    assert caught.value.metadata == {"table": "n.deep.hidden"}
    assert str(target_id) not in caught.value.message


@pytest.mark.parametrize(
    ("count", "action", "reason"),
    [
        (0, "drop", Reason.REASON_PERMISSIONS_INVALID),
        (1001, "drop", Reason.REASON_PERMISSIONS_INVALID),
        (1, "create_table", Reason.REASON_INVALID_FIELD),
        (1, "", Reason.REASON_INVALID_FIELD),
        (1, "ownership", Reason.REASON_INVALID_FIELD),
    ],
)
async def test_no_check_too_many_and_one_that_cannot_be_meant_are_refused_before_anything_is_read(
    rows: InMemory, count: int, action: str, reason: ReasonValue
) -> None:
    checks = [*itertools.repeat(Check(rows.named("t"), action), count)]
    with pytest.raises(Refusal) as caught:
        await CheckActions(doors(rows))(ActionChecks(checks), caller=OWNER)
    assert (caught.value.reason, rows.asked) == (reason, 0)


async def test_one_check_about_another_that_is_not_the_callers_to_ask_refuses_the_batch(rows: InMemory) -> None:
    rows.world.give("user:reader", "describe", "hidden")
    checks = [Check(rows.named("t"), "read_data"), Check(rows.named("hidden"), "drop", subject_of("user:owner"))]
    with pytest.raises(Refusal) as caught:
        await CheckActions(doors(rows))(ActionChecks(checks), caller=READER)
    assert caught.value.reason == Reason.REASON_FORBIDDEN


async def test_whether_access_is_managed_is_shown_to_who_sees_the_container(rows: InMemory) -> None:
    get = GetManagedAccess(doors(rows))
    assert await get(rows.named("n"), caller=READER) == Managed(here=True, inherited=True)
    assert await get(rows.named("n.deep"), caller=OWNER) == Managed(here=False, inherited=True)
    assert await get(rows.named("w"), caller=OWNER) == Managed(here=False, inherited=False)
    with pytest.raises(Refusal) as caught:
        await get(rows.named("n"), caller=STRANGER)
    assert caught.value.reason == Reason.REASON_NO_SUCH_NAMESPACE


async def test_managed_access_is_set_by_who_manages_grants_and_on_containers_alone(rows: InMemory) -> None:
    manage = SetManagedAccess(doors(rows), rows)
    await manage(ManagedAccess(rows.named("n"), managed=True), caller=OWNER)
    assert rows.managed == [True]
    for name, caller, reason in [
        ("n", READER, Reason.REASON_FORBIDDEN),
        ("n", STRANGER, Reason.REASON_NO_SUCH_NAMESPACE),
        ("w", OWNER, Reason.REASON_FORBIDDEN),
        ("t", OWNER, Reason.REASON_INVALID_FIELD),
    ]:
        with pytest.raises(Refusal) as caught:
            await manage(ManagedAccess(rows.named(name), managed=True), caller=caller)
        assert caught.value.reason == reason
    assert rows.managed == [True]
