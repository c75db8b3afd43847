"""What the model decides beside the matrix: cases that upstream's own tests leave open, and what every engine rests on."""

from __future__ import annotations

import zlib

import pytest

from lakeward_authz.domain.permissions.lakeward import MODEL, RELATION_OF, VERSION, granting, shows_above
from lakeward_servicekit.authorization.actions import DATA, SEEING, SHOWING, Action
from tests.support.authz_worlds import World


@pytest.fixture
def world() -> World:
    made = World()
    made.add("project", "p", "server")
    made.add("role", "R", "p")
    made.add("role", "inner", "p")
    made.add("warehouse", "w", "p")
    made.add("namespace", "n", "w")
    made.add("namespace", "n.deep", "n")
    for kind in ("table", "view", "generic_table"):
        made.add(kind, f"{kind} in n", "n")
        made.add(kind, f"{kind} in deep", "n.deep")
    made.add("namespace", "beside", "w")
    made.add("generic_table", "generic_table beside", "beside")
    return made


def test_data_and_metadata_granted_on_a_namespace_reach_every_generic_table_in_it_and_give_no_drop(
    world: World,
) -> None:
    for privilege in ("select", "describe"):
        world.give("user:anne", privilege, "n")
    for name in ("generic_table in n", "generic_table in deep"):
        may = world.may("user:anne", name)
        assert {"can_read_data", "can_get_metadata"} <= may
        assert not may & {"can_drop", "can_change_ownership", "can_write_data", "can_rename"}
    assert world.may("user:anne", "generic_table beside") == set()


def test_metadata_alone_shows_a_generic_table_and_not_what_it_holds(world: World) -> None:
    world.give("user:anne", "describe", "n")
    may = world.may("user:anne", "generic_table in deep")
    assert "can_get_metadata" in may
    assert not may & {"can_read_data", "can_write_data", "can_drop"}


@pytest.mark.parametrize(
    ("privilege", "may", "may_not"),
    [
        ("describe", {"can_get_metadata"}, {"can_read_data", "can_drop"}),
        ("select", {"can_get_metadata", "can_read_data"}, {"can_write_data"}),
        ("modify", {"can_read_data", "can_write_data", "can_drop"}, {"can_grant_select"}),
        ("create", {"can_get_metadata"}, {"can_read_data", "can_drop"}),
    ],
)
def test_privileges_of_a_project_reach_its_tables(
    world: World, privilege: str, may: set[str], may_not: set[str]
) -> None:
    world.give("user:anne", privilege, "p")
    found = world.may("user:anne", "table in deep")
    assert may <= found
    assert not may_not & found


def test_who_may_modify_a_project_may_delete_it_and_create_nothing_in_it(world: World) -> None:
    world.give("user:anne", "modify", "p")
    assert "can_delete" in world.may("user:anne", "p")
    assert "can_create_warehouse" not in world.may("user:anne", "p")
    assert "can_create_table" not in world.may("user:anne", "n")


def test_passing_grants_passes_what_its_holder_holds_and_nothing_else(world: World) -> None:
    world.give("user:anne", "pass_grants", "n")
    assert not world.may("user:anne", "n") & {"can_grant_select", "can_grant_modify", "can_grant_pass_grants"}
    world.give("user:anne", "select", "n")
    assert "can_grant_select" in world.may("user:anne", "n")
    assert "can_grant_describe" in world.may("user:anne", "n")
    assert not world.may("user:anne", "n") & {"can_grant_modify", "can_change_ownership", "can_grant_manage_grants"}
    assert "can_grant_select" not in world.may("user:anne", "n.deep"), "it is not inherited"


def test_managed_access_of_a_namespace_binds_the_owners_inside_and_not_its_own() -> None:
    world = World()
    world.add("project", "p", "server")
    world.add("warehouse", "w", "p")
    world.add("namespace", "n", "w", managed=True)
    world.add("namespace", "n.deep", "n")
    world.add("table", "t", "n.deep")
    world.give("user:own", "ownership", "n")
    world.give("user:child", "ownership", "n.deep")
    world.give("user:leaf", "ownership", "t")
    assert "can_grant_select" in world.may("user:own", "n")
    assert "can_grant_select" in world.may("user:own", "t"), "who manages grants above manages them below"
    for user, name in [("user:child", "n.deep"), ("user:child", "t"), ("user:leaf", "t")]:
        assert "can_grant_select" not in world.may(user, name)
        assert {"can_set_protection"} <= world.may(user, name)


def test_a_role_in_a_role_reaches_what_the_outer_one_was_given(world: World) -> None:
    world.give("user:anne", "assignee", "inner")
    world.give("role:inner", "assignee", "R")
    world.give("role:R", "select", "view in deep")
    assert "can_select" in world.may("user:anne", "view in deep")
    assert "can_select" in world.may("role:inner", "view in deep")
    world.give("user:ben", "assignee", "R")
    world.give("role:inner", "modify", "table in n")
    assert "can_write_data" not in world.may("user:ben", "table in n"), "an outer role's members hold no inner one"


def test_who_assumed_a_role_has_its_rights_alone(world: World) -> None:
    world.give("user:anne", "assignee", "R")
    world.give("user:anne", "modify", "n")
    world.give("role:R", "describe", "table in n")
    assert "can_assume" in world.may("role:R", "R")
    assert "can_drop" not in world.may("role:R", "table in n")
    assert "can_get_metadata" in world.may("role:R", "table in n")


def test_a_leaf_shows_the_way_to_it_and_nothing_beside(world: World) -> None:
    world.give("user:anne", "select", "view in deep")
    for name in ("p", "w", "n", "n.deep"):
        assert "can_get_metadata" in world.may("user:anne", name)
        assert "can_list_everything" not in world.may("user:anne", name)
    for name in ("beside", "table in n", "table in deep"):
        assert "can_get_metadata" not in world.may("user:anne", name)


def test_a_right_to_manage_shows_nothing(world: World) -> None:
    for privilege in ("manage_grants", "manage_tags", "pass_grants"):
        world.give("user:anne", privilege, "n.deep")
    for name in ("p", "w", "n", "n.deep", "table in deep"):
        assert "can_get_metadata" not in world.may("user:anne", name)


def test_depth_costs_no_right() -> None:
    world = World()
    world.add("project", "p", "server")
    world.add("warehouse", "above", "p")
    name = "above"
    for level in range(30):
        world.add("namespace", f"n{level}", name)
        name = f"n{level}"
    world.add("table", "t", name)
    world.give("user:anne", "select", "above")
    assert "can_read_data" in world.may("user:anne", "t")
    world.give("user:ben", "select", "t")
    assert "can_get_metadata" in world.may("user:ben", "n0")


def test_every_action_asks_for_a_relation_of_its_kind() -> None:
    for action in Action:
        assert RELATION_OF[action] in MODEL.types[action.kind.word].bits


def test_to_see_a_thing_follows_from_all_that_may_be_done_to_it_but_granting_and_creating() -> None:
    """Else an engine would hide a thing whose action it would allow; the matrix knows those who may act unseen."""
    for kind, seeing in SEEING.items():
        found = MODEL.types[kind.word]
        unseen = {
            action
            for given in found.given
            for action in Action
            if action.kind is kind
            and action not in SHOWING
            and (held := MODEL.held(found.index, found.bits[given], -1, 0)) & found.bits[RELATION_OF[action]]
            and not held & found.bits[RELATION_OF[seeing]]
        }
        assert unseen == set()


def test_data_is_never_reached_by_seeing_alone() -> None:
    for action in DATA:
        found = MODEL.types[action.kind.word]
        held = MODEL.held(found.index, found.bits["describe"], -1, 0)
        assert held & found.bits["can_get_metadata"]
        assert not held & found.bits[RELATION_OF[action]]


def test_every_privilege_has_a_right_to_give_it() -> None:
    for type_name, found in MODEL.types.items():
        for privilege in found.given:
            assert granting(type_name, privilege) in found.bits
    assert granting("table", "managed_access") is None
    assert granting("warehouse", "glimpse") is None
    assert granting("table", "create") is None
    assert granting("cupboard", "select") is None


def test_what_shows_a_container_is_what_shows_the_thing_itself() -> None:
    assert shows_above("table") == {"ownership", "describe", "select", "modify"}
    assert shows_above("namespace") == {"ownership", "describe", "select", "create", "modify"}
    assert shows_above("role") == shows_above("tag") == shows_above("server") == set()


def test_another_model_has_another_version() -> None:
    """Stores keep the model by its version, and a model that is there is not written again."""
    rules = repr({name: dict(relations) for name, relations in MODEL.rules.items()})
    assert (VERSION, zlib.crc32(rules.encode())) == ("1.0", 2966696218)
