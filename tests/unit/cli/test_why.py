"""What `lakeward why` asks, and how it says the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lakeward_cli.why import NotAsked, explained, lines, why

ID = "0198e000-0000-7000-8000-0000000000aa"
ROLE = "0198e000-0000-7000-8000-0000000000bb"
NAMED = {"warehouse-id": ID, "namespace": ["a", "b"], "table": "t"}
NOTHING: dict[str, Any] = {"because": [], "shown-by": [], "managed-by": [], "remedies": [], "ground": "grants"}


def asked(who: str, action: str, on: str) -> Mapping[str, Any]:
    sent: list[Any] = []

    def ask(method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        if path == "/warehouse":
            assert (method, body) == ("GET", None)
            return {"warehouses": [{"name": "other", "warehouse-id": ROLE}, {"name": "demo", "warehouse-id": ID}]}
        assert (method, path) == ("POST", "/permissions/explain")
        sent.append(body)
        return {}

    explained(ask, who=who, action=action, on=on)
    (body,) = sent
    found: Mapping[str, Any] = body
    return found


@pytest.mark.parametrize(
    ("on", "operation"),
    [
        ("server", {"server": {"action": "x"}}),
        ("project", {"project": {"action": "x"}}),
        ("project/team-a", {"project": {"action": "x", "project-id": "team-a"}}),
        ("warehouse/demo", {"warehouse": {"action": "x", "warehouse-id": ID}}),
        (f"warehouse/{ROLE}", {"warehouse": {"action": "x", "warehouse-id": ROLE}}),
        ("namespace/demo/a.b", {"namespace": {"action": "x", "warehouse-id": ID, "namespace": ["a", "b"]}}),
        ("table/demo/a.b.t", {"table": {"action": "x", **NAMED}}),
        (f"view/{ID}/a.b.t", {"view": {"action": "x", **NAMED}}),
        ("generic-table/demo/a.b.t", {"generic-table": {"action": "x", **NAMED}}),
    ],
)
def test_objects_are_named_as_people_write_them(on: str, operation: object) -> None:
    assert asked("oidc~a", "x", on) == {"operation": operation, "identity": {"user": "oidc~a"}}


def test_a_role_and_oneself_are_asked_about_too() -> None:
    assert asked(f"role:{ROLE}", "x", "server")["identity"] == {"role": ROLE}
    assert "identity" not in asked("me", "x", "server")


@pytest.mark.parametrize(
    "on", ["", "tables/demo/a.t", "table/demo", "table/demo/t", "warehouse", "server/x", "namespace/demo"]
)
def test_what_names_no_object_is_not_asked(on: str) -> None:
    with pytest.raises(NotAsked, match="names no object"):
        asked("me", "x", on)


def test_a_warehouse_that_is_not_seen_is_said_to_be() -> None:
    with pytest.raises(NotAsked, match="no warehouse 'nowhere'"):
        asked("me", "x", "warehouse/nowhere")


def test_a_yes_names_its_grants_and_their_roles() -> None:
    resource = {"type": "warehouse", "warehouse-id": ID}
    by_role = {"resource": resource, "principal": {"role": ROLE}, "privilege": "modify", "through-roles": [ID, ROLE]}
    own = {"resource": {"type": "server"}, "principal": {"user": "oidc~a"}, "privilege": "admin", "through-roles": []}
    hidden = {"resource": resource, "principal": None, "privilege": None, "through-roles": []}
    found = NOTHING | {"allowed": True, "because": [[by_role], [own, hidden]]}
    assert [*lines(found, who="oidc~a", action="drop", on="table/demo/a.t")] == [
        "yes: oidc~a may drop on table/demo/a.t",
        f"  by modify on warehouse {ID} to role:{ROLE} through {ID} > {ROLE}",
        f"  by admin on server to oidc~a, together with something on warehouse {ID}, whose grants you may not read",
    ]


def test_a_no_names_what_would_do_and_who_could_give_it() -> None:
    table, namespace = {"type": "table", "table-id": ID}, {"type": "namespace", "namespace-id": ROLE}
    remedies = [
        {"resource": table, "privilege": "modify", "right-to-give": "grant_modify", "givers": [{"user": "oidc~b"}]},
        {"resource": namespace, "privilege": "modify", "right-to-give": "grant_modify", "givers": []},
    ]
    found = NOTHING | {"allowed": False, "managed-by": [namespace], "remedies": remedies}
    assert [*lines(found, who="me", action="drop", on="x")] == [
        "no: me may not drop on x",
        f"  access is managed by namespace {ROLE}",
        f"  modify on table {ID} would do; to be given by oidc~b",
        f"  modify on namespace {ROLE} would do; to be given by whoever may grant_modify there",
    ]


def test_what_rests_on_no_grant_says_on_what() -> None:
    found = NOTHING | {"allowed": True, "ground": "everything-is-allowed"}
    assert lines(found, who="me", action="drop", on="x")[1] == "  everything is allowed"


@pytest.mark.parametrize("url", ["", "ftp://lake", "file:///etc/passwd", "lake:8181"])
def test_only_a_server_is_asked(url: str) -> None:
    with pytest.raises(NotAsked, match="no address of a server"):
        why(url, "", ("me", "drop", "server"))
