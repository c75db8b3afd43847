"""What the rows of permissions promise: who holds what follows by the model, and changes keep them right."""

from __future__ import annotations

import asyncio
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings

from lakeward_authz.adapters.allow_all import EveryRight
from lakeward_authz.adapters.builtin import Builtin
from lakeward_authz.adapters.postgres.grants import PostgresGrants
from lakeward_authz.adapters.postgres.names import PostgresNames
from lakeward_authz.adapters.postgres.outbox import Outbox
from lakeward_authz.adapters.postgres.role_membership import PostgresRoleMembership
from lakeward_authz.adapters.postgres.trails import PostgresTrails
from lakeward_authz.application.permissions import ALL, Given, Gone, Grant, Made, Moved, Named, Switched, Wanted
from lakeward_authz.domain.permissions.explaining import Right, causes, lacking
from lakeward_authz.domain.permissions.lakeward import MODEL
from lakeward_authz.domain.permissions.objects import SERVER, ObjectKey, role_subject
from lakeward_servicekit.authorization.actions import SEEING, Action
from lakeward_servicekit.authorization.authorizer import Demand, Outcome
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import ANONYMOUS, RoleId, UserId, user
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.authz_stores import Stores
from tests.support.authz_worlds import (
    ROLES,
    USERS,
    Node,
    World,
    fill,
    id_of,
    principal_of,
    ref_of,
    small,
    subject_of,
    worlds,
)

pytestmark = pytest.mark.integration
MANY = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
INCLUDED = {
    ObjectKind.PROJECT: Action.PROJECT_INCLUDE_IN_LIST,
    ObjectKind.WAREHOUSE: Action.WAREHOUSE_INCLUDE_IN_LIST,
    ObjectKind.NAMESPACE: Action.NAMESPACE_INCLUDE_IN_LIST,
    ObjectKind.TABLE: Action.TABLE_INCLUDE_IN_LIST,
    ObjectKind.VIEW: Action.VIEW_INCLUDE_IN_LIST,
}
CALLERS = (*USERS, *(f"role:{role}" for role in ROLES))


async def held(stores: Stores, caller: str, key: ObjectKey) -> frozenset[str] | None:
    found = (await stores.rights.of(subject_of(caller), [key])).held[0]
    return None if found is None else MODEL.types[key.type].names(found)


async def granted(stores: Stores, key: ObjectKey) -> list[Grant]:
    return [given.grant for given in await stores.grants.on(key)]


@MANY
@given(world=worlds())
async def test_who_holds_what_follows_by_the_model(stores: Stores, world: World) -> None:
    await stores.forget()
    await fill(world, stores.tree, stores.grants)
    keys = [node.key for node in world.nodes.values()]
    for caller in CALLERS:
        rights = await stores.rights.of(subject_of(caller), keys)
        for name, key, found in zip(world.nodes, keys, rights.held, strict=True):
            assert found is not None
            assert MODEL.types[key.type].names(found) == world.may(caller, name), (caller, name)


@MANY
@given(world=worlds())
async def test_what_shows_as_a_set_is_what_shows_one_by_one(stores: Stores, world: World) -> None:
    await stores.forget()
    await fill(world, stores.tree, stores.grants)
    engine = Builtin(stores.rights)
    for caller in CALLERS:
        for scope_name, scope in world.nodes.items():
            for kind, included in INCLUDED.items():
                if scope.key.type not in {"server", "project", "warehouse", "namespace"}:
                    continue
                inside = [node for node in world.nodes.values() if node.key.type == kind.word]
                direct = [node for node in inside if node.above == scope_name]
                # of a warehouse's tabulars the set knows all, at whatever depth
                tabulars = kind in {ObjectKind.TABLE, ObjectKind.VIEW} and scope.key.type == "warehouse"
                if tabulars:
                    direct = [node for node in inside if node.key.warehouse_id == scope.key.warehouse_id]
                demands = [Demand(ref_of(world, node), included) for node in direct]
                alone = await engine.decide(principal_of(caller), demands) if demands else ()
                shown = await engine.visible(principal_of(caller), ref_of(world, scope), kind)
                assert not (shown.everything and (shown.containers or shown.objects))
                if not shown.everything:
                    known = {_own_id(node) for node in direct}
                    assert shown.objects | shown.projects <= known
                for node, outcome in zip(direct, alone, strict=True):
                    above = {world.nodes[name].key.id for name in world.chain(node.above)}
                    itself = _own_id(node) in shown.objects | shown.projects
                    as_set = shown.everything or itself or not above.isdisjoint(shown.containers)
                    assert as_set == (outcome is Outcome.ALLOWED), (caller, scope_name, kind, node)


def _own_id(node: Node) -> UUID | str:
    """What a set of what shows calls an object."""
    match node.key.type:
        case "project":
            return node.key.project_id
        case "warehouse":
            return node.key.warehouse_id
        case _:
            return node.key.id


async def test_an_object_that_is_not_there_is_hidden(stores: Stores) -> None:
    world = small()
    await fill(world, stores.tree, stores.grants)
    await stores.grants.change(SERVER, writes=[Grant(subject_of("user:anne"), "operator")], deletes=[])
    absent = ObjectRef.table("p", id_of("w"), id_of("absent"), namespace_id=id_of("n"))
    engine = Builtin(stores.rights)
    there = ref_of(world, world.nodes["t"])
    demands = [Demand(absent, Action.TABLE_DROP), Demand(there, Action.TABLE_DROP)]
    assert await engine.decide(user("oidc~anne"), demands) == [Outcome.HIDDEN, Outcome.ALLOWED]
    assert await engine.decide(ANONYMOUS, demands) == [Outcome.HIDDEN, Outcome.HIDDEN]


async def test_a_seen_object_is_denied_and_an_unseen_one_hidden(stores: Stores) -> None:
    world = small()
    world.give("user:anne", "describe", "t")
    world.give("user:ben", "manage_grants", "t")
    await fill(world, stores.tree, stores.grants)
    engine, table = Builtin(stores.rights), ref_of(world, world.nodes["t"])
    asked = [Demand(table, Action.TABLE_DROP), Demand(table, SEEING[ObjectKind.TABLE])]
    assert await engine.decide(user("oidc~anne"), asked) == [Outcome.DENIED, Outcome.ALLOWED]
    assert await engine.decide(user("oidc~ben"), asked) == [Outcome.HIDDEN, Outcome.HIDDEN]


async def test_one_id_in_two_warehouses_is_two_objects(stores: Stores) -> None:
    world = small()
    world.add("warehouse", "v", "p")
    await fill(world, stores.tree, stores.grants)
    twin = ObjectKey("namespace", "p", id_of("v"), id_of("n"))
    await stores.tree.apply("v", [(1, Made(twin))])
    await stores.grants.change(twin, writes=[Grant(subject_of("user:anne"), "modify")], deletes=[])
    assert "can_delete" in (await held(stores, "user:anne", twin) or ())
    assert await held(stores, "user:anne", world.nodes["n"].key) == set()


async def test_a_move_takes_all_that_is_inside_along_and_leaves_the_old_place(stores: Stores) -> None:
    world = small()
    world.give("user:anne", "select", "n")
    world.give("user:ben", "select", "other")
    world.give("user:leaf", "select", "t")
    await fill(world, stores.tree, stores.grants)
    table, deep, old = (world.nodes[name].key for name in ("t", "n.deep", "n"))
    assert await stores.tree.apply("w", [(1, Moved(deep, id_of("other")))]) == 1
    assert "can_read_data" not in (await held(stores, "user:anne", table) or ())
    assert "can_read_data" in (await held(stores, "user:ben", table) or ())
    assert "can_get_metadata" not in (await held(stores, "user:leaf", old) or ())
    assert "can_get_metadata" in (await held(stores, "user:leaf", world.nodes["other"].key) or ())
    assert await stores.tree.apply("w", [(2, Moved(deep, None))]) == 2
    assert "can_read_data" not in (await held(stores, "user:ben", table) or ())
    shown = await stores.rights.shown(subject_of("user:leaf"), world.nodes["w"].key, "namespace")
    assert shown.objects == {deep.id}


async def test_into_and_out_of_a_managed_place_an_owners_right_to_grant_goes_and_comes(stores: Stores) -> None:
    world = small()
    world.add("namespace", "managed", "w", managed=True)
    world.give("user:anne", "ownership", "n.deep")
    await fill(world, stores.tree, stores.grants)
    deep = world.nodes["n.deep"].key
    assert "can_grant_select" in (await held(stores, "user:anne", deep) or ())
    await stores.tree.apply("w", [(1, Moved(deep, id_of("managed")))])
    assert "can_grant_select" not in (await held(stores, "user:anne", deep) or ())
    await stores.tree.manage(world.nodes["managed"].key, managed=False)
    assert "can_grant_select" in (await held(stores, "user:anne", deep) or ())


async def test_nothing_moves_into_itself(stores: Stores) -> None:
    world = small()
    await fill(world, stores.tree, stores.grants)
    for into in ("n", "n.deep"):
        with pytest.raises(Refusal, match="outside of") as refused:
            await stores.tree.apply("w", [(1, Moved(world.nodes["n"].key, id_of(into)))])
        assert refused.value.reason == Reason.REASON_INVALID_FIELD


async def test_what_is_gone_takes_its_grants_along_and_comes_back_without(stores: Stores) -> None:
    world = small()
    world.give("user:anne", "select", "t")
    world.give("user:anne", "ownership", "n.deep")
    world.give("user:anne", "describe", "other")
    await fill(world, stores.tree, stores.grants)
    before = [(node.key, world.parent_id(node)) for name, node in world.nodes.items() if name in {"n", "n.deep", "t"}]
    assert await stores.tree.apply("w", [(1, Gone(world.nodes["n"].key))]) == 1
    for key, _ in before:
        assert await held(stores, "user:anne", key) is None
    again = [(number, Made(key, parent_id)) for number, (key, parent_id) in enumerate(before, 2)]
    assert await stores.tree.apply("w", again) == 4
    for key, _ in before:
        assert await held(stores, "user:anne", key) == set()
    assert "can_get_metadata" in (await held(stores, "user:anne", world.nodes["other"].key) or ())


async def test_a_role_that_is_gone_gives_nothing_any_more(stores: Stores) -> None:
    world = small()
    world.give("user:anne", "assignee", "R")
    world.give("role:R", "select", "t")
    await fill(world, stores.tree, stores.grants)
    assert "can_read_data" in (await held(stores, "user:anne", world.nodes["t"].key) or ())
    await stores.tree.apply("roles", [(1, Gone(world.nodes["R"].key))])
    assert await held(stores, "user:anne", world.nodes["t"].key) == set()
    assert await granted(stores, world.nodes["t"].key) == []


async def test_a_warehouse_and_a_project_go_with_all_that_is_in_them(stores: Stores) -> None:
    await fill(small(), stores.tree, stores.grants)
    await stores.tree.apply("w", [(1, Gone(ObjectKey("warehouse", "p", id_of("w"))))])
    assert await stores.pool.fetchval("select count(*) from objects where warehouse_id = $1", id_of("w")) == 0
    await stores.tree.apply("p", [(1, Gone(ObjectKey("project", "p")))])
    assert await stores.pool.fetchval("select count(*) from objects where kind <> 'server'") == 0


async def test_a_change_that_was_applied_is_passed_over_and_a_gap_stops(stores: Stores) -> None:
    project, warehouse = ObjectKey("project", "p"), ObjectKey("warehouse", "p", id_of("w"))
    changes = [(1, Made(project, owner=subject_of("user:anne"))), (2, Made(warehouse))]
    assert await stores.tree.apply("s", changes) == 2
    assert await stores.tree.apply("s", changes) == 2
    assert await stores.tree.apply("s", [(4, Gone(project))]) == 2
    assert await stores.tree.apply("other", [(2, Gone(project))]) == 0
    assert await granted(stores, project) == [Grant(subject_of("user:anne"), "project_admin")]
    assert await held(stores, "user:anne", warehouse)


async def test_a_change_that_no_tree_allows_leaves_the_stream_where_it_was(stores: Stores) -> None:
    project = ObjectKey("project", "p")
    lost = Made(ObjectKey("namespace", "p", id_of("w"), id_of("n")))
    with pytest.raises(Refusal, match="warehouse that was made before"):
        await stores.tree.apply("s", [(1, Made(project)), (2, lost)])
    assert await held(stores, "user:anne", project) is None
    assert await stores.tree.apply("s", [(1, Made(project))]) == 1


async def test_a_stream_told_by_several_at_once_is_applied_once(stores: Stores) -> None:
    await stores.tree.apply(
        "p", [(1, Made(ObjectKey("project", "p"))), (2, Made(ObjectKey("warehouse", "p", id_of("w"))))]
    )
    names = [ObjectKey("namespace", "p", id_of("w"), id_of(f"n{number}")) for number in range(10)]
    changes = [(number, Made(key, owner=subject_of("user:anne"))) for number, key in enumerate(names, 1)]
    applied = await asyncio.gather(*(stores.tree.apply("w", changes[: number + 1]) for number in range(10)))
    assert max(applied) == 10
    assert await stores.pool.fetchval("select count(*) from grants where relation = 'ownership'") == 10


async def test_a_role_is_assumed_by_who_holds_it_directly_or_through_roles(stores: Stores) -> None:
    world = small()
    for role in ("S", "T"):
        world.add("role", role, "p")
    world.give("user:anne", "assignee", "T")
    world.give("user:olga", "ownership", "R")
    world.give("role:T", "assignee", "S")
    world.give("role:S", "assignee", "R")
    await fill(world, stores.tree, stores.grants)
    membership = PostgresRoleMembership(stores.pool)
    for name, role, may in [
        ("anne", "R", True),
        ("anne", "T", True),
        ("olga", "R", True),
        ("olga", "S", False),
        ("ben", "R", False),
        ("anne", "nowhere", None),
    ]:
        assert await membership.may_assume(UserId(f"oidc~{name}"), RoleId(str(id_of(role)))) is may, (name, role)


async def test_a_role_never_holds_itself(stores: Stores) -> None:
    world = small()
    for role in ("S", "T"):
        world.add("role", role, "p")
    world.give("role:S", "assignee", "R")
    world.give("role:T", "ownership", "S")
    await fill(world, stores.tree, stores.grants)
    for holder, outer in [("R", "R"), ("R", "S"), ("R", "T"), ("S", "T")]:
        write = Grant(role_subject(id_of(holder)), "assignee")
        with pytest.raises(Refusal, match="in itself") as refused:
            await stores.grants.change(world.nodes[outer].key, writes=[write], deletes=[])
        assert refused.value.reason == Reason.REASON_ROLE_MEMBERSHIP_CYCLE


async def test_of_memberships_that_make_a_circle_together_one_is_refused(stores: Stores) -> None:
    world = small()
    world.add("role", "S", "p")
    await fill(world, stores.tree, stores.grants)
    outcomes = await asyncio.gather(
        *(
            stores.grants.change(
                world.nodes[outer].key, writes=[Grant(role_subject(id_of(inner)), "assignee")], deletes=[]
            )
            for outer, inner in [("R", "S"), ("S", "R")]
        ),
        return_exceptions=True,
    )
    assert sorted(isinstance(outcome, Refusal) for outcome in outcomes) == [False, True]


def a_chain(roles: int) -> World:
    """Roles of which each is in the one before; anne is in the last, and the first sees the project."""
    world = World()
    world.add("project", "p", "server")
    for number in range(roles):
        world.add("role", f"r{number}", "p")
    for number in range(1, roles):
        world.give(f"role:r{number}", "assignee", f"r{number - 1}")
    world.give("user:anne", "assignee", f"r{roles - 1}")
    world.give("role:r0", "describe", "p")
    return world


async def test_roles_are_nested_as_deep_as_anybody_likes(stores: Stores) -> None:
    world = a_chain(40)
    await fill(world, stores.tree, stores.grants)
    assert "can_get_metadata" in (await held(stores, "user:anne", world.nodes["p"].key) or ())


async def test_where_a_depth_is_configured_roles_are_nested_so_deep_and_no_deeper(stores: Stores) -> None:
    world = a_chain(4)
    for role in ("above", "beside"):
        world.add("role", role, "p")
    bounded = PostgresGrants(stores.pool, Outbox(), most_nested=3)
    await fill(world, stores.tree, bounded)
    for holder, outer in [("above", "r3"), ("r0", "above"), ("beside", "r3")]:
        write = Grant(role_subject(id_of(holder)), "assignee")
        with pytest.raises(Refusal, match="at most 3") as refused:
            await bounded.change(world.nodes[outer].key, writes=[write], deletes=[])
        assert refused.value.reason == Reason.REASON_ROLE_NESTED_TOO_DEEP
    beside = Grant(role_subject(id_of("beside")), "assignee")
    assert await bounded.change(world.nodes["r2"].key, writes=[beside], deletes=[])


async def test_a_role_of_another_project_is_given_nothing(stores: Stores) -> None:
    world = small()
    world.add("project", "q", "server")
    world.add("role", "theirs", "q")
    await fill(world, stores.tree, stores.grants)
    theirs = Grant(role_subject(id_of("theirs")), "admin")
    assert await stores.grants.change(SERVER, writes=[theirs], deletes=[])
    with pytest.raises(Refusal, match="of the project p"):
        await stores.grants.change(world.nodes["t"].key, writes=[Grant(theirs.subject, "select")], deletes=[])
    with pytest.raises(Refusal, match="there is no role"):
        await stores.grants.change(SERVER, writes=[Grant(role_subject(id_of("nobody")), "admin")], deletes=[])


async def test_grants_are_given_and_taken_together_and_repeated_freely(stores: Stores) -> None:
    world = small()
    await fill(world, stores.tree, stores.grants)
    table = world.nodes["t"].key
    select, modify = (Grant(subject_of("user:anne"), privilege) for privilege in ("select", "modify"))
    for _ in range(2):
        assert await stores.grants.change(table, writes=[select], deletes=[modify])
        assert await granted(stores, table) == [select]
    assert await stores.grants.change(table, writes=[modify], deletes=[select])
    assert await granted(stores, table) == [modify]
    assert not await stores.grants.change(ObjectKey("table", "p", id_of("w"), id_of("no")), writes=[select], deletes=[])


async def test_the_revision_moves_with_what_may_take_a_right_away_and_not_with_what_is_made(stores: Stores) -> None:
    world = small()
    await fill(world, stores.tree, stores.grants)
    anne, table = subject_of("user:anne"), world.nodes["t"].key

    async def revision() -> int:
        return (await stores.rights.of(anne, [table])).revision

    seen = [await revision()]
    await stores.tree.apply("w", [(1, Made(ObjectKey("table", "p", id_of("w"), id_of("new")), id_of("n"), anne))])
    assert await revision() == seen[-1]
    await stores.grants.change(table, writes=[], deletes=[Grant(anne, "select")])
    assert await revision() == seen[-1], "nothing changed"
    for change in (
        stores.grants.change(table, writes=[Grant(anne, "select")], deletes=[]),
        stores.grants.change(table, writes=[], deletes=[Grant(anne, "select")]),
        stores.tree.manage(world.nodes["n"].key, managed=True),
        stores.tree.apply("w", [(2, Moved(table, id_of("other")))]),
        stores.tree.apply("w", [(3, Gone(table))]),
    ):
        await change
        seen.append(await revision())
    assert seen == sorted(set(seen))


async def test_objects_are_found_by_what_people_call_them(stores: Stores) -> None:
    world = small()
    await fill(world, stores.tree, stores.grants)
    w, v, called = id_of("w"), id_of("v"), id_of("called")
    born = [Made(ObjectKey(kind, "p", w, id_of(kind)), id_of("n"), public_id=called) for kind in ("table", "view")]
    await stores.tree.apply("w", [*enumerate(born, 1)])
    tag = ObjectKey("tag", "p", id=id_of("pii"))
    await stores.tree.apply("p", [(1, Made(tag)), (2, Made(ObjectKey("warehouse", "p", v)))])
    table = ObjectKey("table", "p", w, id_of("table"))
    cases = {
        Named("server"): SERVER,
        Named("project", "p"): ObjectKey("project", "p"),
        Named("project", "q"): None,
        Named("warehouse", warehouse_id=w): ObjectKey("warehouse", "p", w),
        Named("warehouse", "q", w): None,
        Named("warehouse", warehouse_id=id_of("n")): None,
        Named("namespace", "p", w, id_of("n")): world.nodes["n"].key,
        Named("namespace", id=id_of("n")): world.nodes["n"].key,
        Named("namespace", "", v, id_of("n")): None,
        Named("table", "", w, called): table,
        Named("table", id=called): table,
        Named("table", "", v, called): None,
        Named("table", "", w, table.id): None,
        Named("generic_table", "", w, called): None,
        Named("view", "p", w, called): born[1].object,
        Named("view", "q", w, called): None,
        Named("role", "p", id=id_of("R")): world.nodes["R"].key,
        Named("role", "q", id=id_of("R")): None,
        Named("role", id=id_of("pii")): None,
        Named("tag", id=id_of("pii")): tag,
    }
    names = PostgresNames(stores.pool)
    assert dict(zip(cases, await names.find([*cases]), strict=True)) == cases
    assert await names.find([Named("server")] * 3) == [SERVER] * 3
    assert await names.find([]) == []


async def test_what_several_are_called_by_is_found_in_its_warehouse_alone(stores: Stores) -> None:
    await fill(small(), stores.tree, stores.grants)
    v, called = id_of("v"), id_of("called")
    twins = [
        Made(ObjectKey("table", "p", warehouse, id_of(f"one of {warehouse}")), parent, public_id=called)
        for warehouse, parent in ((id_of("w"), id_of("n")), (v, id_of("nv")))
    ]
    await stores.tree.apply("p", [(1, Made(ObjectKey("warehouse", "p", v)))])
    await stores.tree.apply("v", [(1, Made(ObjectKey("namespace", "p", v, id_of("nv")))), (2, twins[1])])
    names = PostgresNames(stores.pool)
    assert await names.find([Named("table", id=called)]) == [twins[1].object], "the only one"
    await stores.tree.apply("w", [(1, twins[0])])
    asked = [Named("table", id=called), Named("table", "", id_of("w"), called), Named("table", "", v, called)]
    assert await names.find(asked) == [None, twins[0].object, twins[1].object]


async def test_nothing_in_an_inactive_warehouse_is_found_by_any_name_and_it_itself_is(stores: Stores) -> None:
    await fill(small(), stores.tree, stores.grants)
    w, v, called, anne = id_of("w"), id_of("v"), id_of("called"), subject_of("user:anne")
    warehouse, namespace = ObjectKey("warehouse", "p", v), ObjectKey("namespace", "p", v, id_of("nv"))
    theirs, ours = (
        Made(ObjectKey("table", "p", each, id_of(f"one of {each}")), parent, anne, called)
        for each, parent in ((v, id_of("nv")), (w, id_of("n")))
    )
    await stores.tree.apply("v", [(1, Made(warehouse)), (2, Made(namespace, owner=anne)), (3, theirs)])
    await stores.tree.apply("w", [(1, ours)])
    asked = [
        Named("warehouse", warehouse_id=v),
        Named("namespace", "p", v, id_of("nv")),
        Named("namespace", id=id_of("nv")),
        Named("table", "", v, called),
        Named("table", id=called),
    ]
    names = PostgresNames(stores.pool)

    async def owned() -> set[Named]:
        given = await stores.grants.granted_to(anne, "p", Wanted(relations=["ownership"]))
        return {each.named for each in given if each.named.warehouse_id == v}

    assert await names.find(asked) == [warehouse, namespace, namespace, theirs.object, None]
    assert len(await owned()) == 2
    await stores.tree.apply("v", [(4, Switched(warehouse, active=False))])
    assert await names.find(asked) == [warehouse, None, None, None, ours.object], "the other is the only one now"
    assert await owned() == set()
    assert await held(stores, "user:anne", theirs.object), "what was granted stays"
    await stores.tree.apply("v", [(5, Switched(warehouse, active=True))])
    assert await names.find(asked) == [warehouse, namespace, namespace, theirs.object, None]
    assert len(await owned()) == 2
    with pytest.raises(Refusal) as refused:
        await stores.tree.apply("v", [(6, Switched(ObjectKey("warehouse", "p", id_of("nowhere")), active=True))])
    assert refused.value.reason == Reason.REASON_INVALID_FIELD


async def test_an_exact_change_refuses_what_is_so_already_and_changes_nothing(stores: Stores) -> None:
    world = small()
    await fill(world, stores.tree, stores.grants)
    table = world.nodes["t"].key
    select, modify, describe = (
        Grant(subject_of("user:anne"), privilege) for privilege in ("select", "modify", "describe")
    )
    assert await stores.grants.change(table, writes=[select], deletes=[], exact=True)
    for writes, deletes, reason in (
        ([describe, select], [], Reason.REASON_GRANT_EXISTS),
        ([describe], [modify], Reason.REASON_NO_SUCH_GRANT),
        ([describe, select], [modify], Reason.REASON_NO_SUCH_GRANT),
    ):
        with pytest.raises(Refusal) as refused:
            await stores.grants.change(table, writes=writes, deletes=deletes, exact=True)
        assert refused.value.reason == reason
        assert "to user oidc~anne" in refused.value.metadata["grant"]
        assert await granted(stores, table) == [select]
    assert await stores.grants.change(table, writes=[modify], deletes=[select], exact=True)
    assert await granted(stores, table) == [modify]


async def test_of_exact_changes_at_once_that_are_the_same_one_wins(stores: Stores) -> None:
    world = small()
    await fill(world, stores.tree, stores.grants)
    write = Grant(subject_of("user:anne"), "select")
    outcomes = await asyncio.gather(
        *(stores.grants.change(world.nodes["t"].key, writes=[write], deletes=[], exact=True) for _ in range(6)),
        return_exceptions=True,
    )
    assert outcomes.count(True) == 1
    assert {each.reason for each in outcomes if isinstance(each, Refusal)} == {Reason.REASON_GRANT_EXISTS}


async def test_grants_on_an_object_are_listed_whole_by_whom_by_which_and_in_pages(stores: Stores) -> None:
    world = small()
    for number in range(5):
        for privilege in ("select", "modify"):
            world.give(f"user:u{number}", privilege, "t")
    world.give("user:u0", "select", "n")
    await fill(world, stores.tree, stores.grants)
    table, on = world.nodes["t"].key, stores.grants.on
    every = await on(table)
    assert [given.grant for given in every] == sorted(Grant(s, r) for s, r, name in world.grants if name == "t")
    assert {given.named for given in every} == {Named("table", "p", id_of("w"), id_of("t"))}
    assert all(given.at.tzinfo is not None for given in every)
    first = await on(table, Wanted(subject_of("user:u0")))
    assert [given.grant.relation for given in first] == ["modify", "select"]
    assert len(await on(table, Wanted(relations=["select"]))) == 5
    assert await on(table, Wanted(subject_of("user:nobody"))) == []
    paged: list[Given] = []
    while page := await on(table, Wanted(after=paged[-1].place if paged else None, size=3)):
        paged += page
    assert paged == [*every]


async def test_what_one_holds_in_a_project_is_listed_by_object_and_in_pages(stores: Stores) -> None:
    world = small()
    world.add("project", "q", "server")
    world.add("warehouse", "qw", "q")
    for privilege, name in (("describe", "p"), ("ownership", "w"), ("create", "n"), ("select", "n"), ("modify", "t")):
        world.give("user:anne", privilege, name)
    world.give("user:anne", "ownership", "qw")
    world.give("user:anne", "admin", "server")
    world.give("user:anne", "assignee", "R")
    world.give("role:R", "describe", "t")
    await fill(world, stores.tree, stores.grants)
    anne = subject_of("user:anne")
    every = await stores.grants.granted_to(anne, "p", ALL)
    assert {(given.named.type, given.grant.relation) for given in every} == {
        ("project", "describe"),
        ("warehouse", "ownership"),
        ("namespace", "create"),
        ("namespace", "select"),
        ("table", "modify"),
    }
    paged: list[Given] = []
    while page := await stores.grants.granted_to(anne, "p", Wanted(after=paged[-1].place if paged else None, size=2)):
        paged += page
    assert paged == [*every]
    assert [given.grant.relation for given in await stores.grants.granted_to(anne, "", ALL)] == ["admin"]


async def test_where_everything_is_allowed_it_is_on_what_is_there_and_managed_access_is_as_it_was_set(
    stores: Stores,
) -> None:
    world = small()
    await fill(world, stores.tree, stores.grants)
    namespace, table = world.nodes["n"].key, world.nodes["t"].key
    absent = ObjectKey("table", "p", id_of("w"), id_of("absent"))
    rights = EveryRight(stores.rights)
    found = (await rights.of(subject_of("user:anybody"), [namespace, table, absent])).held
    assert found[2] is None
    for key, held_bits in zip((namespace, table), found, strict=False):
        model = MODEL.types[key.type]
        assert held_bits is not None
        actions = {relation for relation in model.bits if relation.startswith("can_")}
        assert model.names(held_bits) == actions, "and neither rights that nobody gave nor managed access"
    await stores.tree.manage(namespace, managed=True)
    again = (await rights.of(subject_of("user:anybody"), [namespace])).held[0]
    assert again is not None
    assert "managed_access" in MODEL.types["namespace"].names(again)


@MANY
@given(world=worlds())
async def test_what_follows_along_the_way_to_an_object_is_what_is_held_on_it(stores: Stores, world: World) -> None:
    await stores.forget()
    await fill(world, stores.tree, stores.grants)
    trails = PostgresTrails(stores.pool)
    for caller in CALLERS:
        for name, node in world.nodes.items():
            trail = await trails.of(node.key, subject_of(caller))
            assert trail is not None
            may = world.may(caller, name)
            found = {each for each in MODEL.types[node.key.type].bits if trail.way.holds(trail.rights, each)}
            assert found == may, (caller, name)
            for relation in sorted(may & {"can_read_data", "can_drop", "can_get_metadata", "can_grant_select"}):
                groups = causes(trail.way, trail.rights, relation)
                assert all(trail.way.holds(group, relation) for group in groups)
                assert groups or trail.inside or trail.way.holds((), relation)
            for relation in sorted({"can_read_data", "can_create_table", "can_grant_select"} & _lacking(node, may)):
                remedies = lacking(trail.way, trail.rights, relation)
                assert remedies, "a project's or the server's administrator can do anything"
                for remedy in remedies:
                    given_too = Right(remedy.place, subject_of(caller), remedy.privilege)
                    assert trail.way.holds([*trail.rights, given_too], relation)


def _lacking(node: Node, may: frozenset[str]) -> set[str]:
    return {*MODEL.types[node.key.type].bits} - may
