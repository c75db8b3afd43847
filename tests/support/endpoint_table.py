"""What each operation on a warehouse, or in one, demands: the reference's table, a line for each operation.

A line names the operation as the gateway does, what it is asked with, which rights on the warehouse suffice, and what is answered
to who has one of them. Requests are such that they change nothing even where they are allowed: what they make is there already,
what they delete is protected or holds something, what they set is set.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.warehouses import SCHEMA

LEVELS = ("nothing", "describe", "select", "create", "modify", "manage_grants", "ownership")
"""What somebody was given on the warehouse, and nothing else anywhere."""
SEE = frozenset({"describe", "select", "create", "modify", "ownership"})
READ = frozenset({"select", "modify", "ownership"})
CREATE = frozenset({"create", "ownership"})
WRITE = frozenset({"modify", "ownership"})
GRANT = frozenset({"manage_grants", "ownership"})
BOTH = CREATE & WRITE
ANY = SEE | GRANT
"""Where rights are shown and given, any right is sight enough."""
FORBIDDEN = 403
NOT_FOUND = 404


@dataclasses.dataclass(frozen=True)
class Place:
    """What is asked about: names and ids of what is there, or of what is not."""

    warehouse_id: str
    warehouse: str
    namespace: str
    namespace_id: str
    table: str
    table_id: str
    view: str
    view_id: str

    @property
    def parameters(self) -> Mapping[str, str]:
        return {
            "prefix": self.warehouse_id,
            "warehouse_id": self.warehouse_id,
            "namespace": self.namespace,
            "namespace_id": self.namespace_id,
            "table": self.table,
            "table_id": self.table_id,
            "view": self.view,
            "view_id": self.view_id,
        }


Body = Callable[[Place], Any]


@dataclasses.dataclass(frozen=True)
class Line:
    """An operation.

    Attributes:
        path: below `/catalog/v1/{prefix}`, or, behind a "!", below `/management/v1/warehouse/{warehouse_id}`.
        suffice: rights on the warehouse, any of which does.
        answered: to who has one.
        sees: rights with which it is there; without, it answers as if it were not.
        harmful: it would change something, so that nobody who may is asked to do it.
    """

    method: str
    path: str
    suffice: frozenset[str]
    answered: int = 200
    body: Body | None = None
    sees: frozenset[str] = SEE
    harmful: bool = False

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def template(self) -> str:
        """The path as the gateway has it."""
        if self.path.startswith("!"):
            return "/management/v1/warehouse/{warehouse_id}" + self.path[1:]
        return "/catalog/v1/{prefix}" + self.path

    def url(self, place: Place) -> str:
        return self.template.format_map(place.parameters)

    def expected(self, level: str) -> int:
        """The status for somebody who was given this and nothing else."""
        if level not in self.sees:
            return NOT_FOUND
        return self.answered if level in self.suffice else FORBIDDEN


_FAILING: Mapping[str, Any] = {
    "requirements": [{"type": "assert-table-uuid", "uuid": "00000000-0000-7000-8000-000000000000"}],
    "updates": [{"action": "set-properties", "updates": {"a": "b"}}],
}
_FAILING_VIEW: Mapping[str, Any] = {
    **_FAILING,
    "requirements": [{**_FAILING["requirements"][0], "type": "assert-view-uuid"}],
}


def view(name: str, namespace: str) -> Mapping[str, Any]:
    """The body of a view's creation."""
    version = {
        "version-id": 1,
        "schema-id": 0,
        "timestamp-ms": 1_700_000_000_000,
        "summary": {},
        "representations": [{"type": "sql", "sql": "select 1 as id", "dialect": "spark"}],
        "default-namespace": [namespace],
    }
    return {"name": name, "schema": SCHEMA, "view-version": version, "properties": {}}


def _renaming(name: str) -> Body:
    def body(place: Place) -> Any:
        there = {"namespace": [place.namespace], "name": getattr(place, name)}
        return {"source": there, "destination": {"namespace": [place.namespace], "name": "taken"}}

    return body


def _transaction(place: Place) -> Any:
    identifier = {"namespace": [place.namespace], "name": place.table}
    return {"table-changes": [{"identifier": identifier, **_FAILING}]}


_PROTECT: Body = lambda _: {"protected": True}  # noqa: E731
_GIVE: Body = lambda _: {"writes": [{"principal": {"user": "oidc~friend"}, "privilege": "select"}]}  # noqa: E731
_NAMESPACE = "/namespaces/{namespace}"
_TABLE, _VIEW = f"{_NAMESPACE}/tables/{{table}}", f"{_NAMESPACE}/views/{{view}}"

LINES = (
    # Iceberg REST
    Line("GET", "/namespaces", SEE),
    Line("POST", "/namespaces", CREATE, 409, lambda place: {"namespace": [place.namespace]}),
    Line("GET", _NAMESPACE, SEE),
    Line("HEAD", _NAMESPACE, SEE, 204),
    Line("POST", f"{_NAMESPACE}/properties", WRITE, 200, lambda _: {"removals": ["not-set"]}),
    Line("DELETE", _NAMESPACE, WRITE, 409),
    Line("GET", f"{_NAMESPACE}/tables", SEE),
    Line("POST", f"{_NAMESPACE}/tables", CREATE, 409, lambda place: {"name": place.table, "schema": SCHEMA}),
    Line("GET", _TABLE, SEE),
    Line("HEAD", _TABLE, SEE, 204),
    Line("GET", f"{_TABLE}/credentials", READ),
    Line("POST", _TABLE, WRITE, 409, lambda _: _FAILING),
    Line("DELETE", _TABLE, WRITE, 409),
    Line("POST", "/tables/rename", BOTH, 409, _renaming("table")),
    Line("POST", "/transactions/commit", WRITE, 409, _transaction),
    Line("GET", f"{_NAMESPACE}/views", SEE),
    Line("POST", f"{_NAMESPACE}/views", CREATE, 409, lambda place: view(place.view, place.namespace)),
    Line("GET", _VIEW, SEE),
    Line("HEAD", _VIEW, SEE, 204),
    Line("POST", _VIEW, WRITE, 409, lambda _: _FAILING_VIEW),
    Line("DELETE", _VIEW, WRITE, 409),
    Line("POST", "/views/rename", BOTH, 409, _renaming("view")),
    # Warehouses
    Line("GET", "!", SEE),
    Line("GET", "!/statistics", SEE),
    Line("DELETE", "!", WRITE, 409),
    Line("POST", "!/rename", WRITE, 200, lambda place: {"new-name": place.warehouse}),
    Line("POST", "!/activate", WRITE),
    Line("POST", "!/deactivate", WRITE, harmful=True),
    Line("POST", "!/protection", WRITE, 200, _PROTECT),
    Line("POST", "!/delete-profile", WRITE, 200, lambda _: {"delete-profile": {"type": "hard"}}),
    Line("GET", "!/contracts", SEE),
    Line("PUT", "!/contracts", WRITE, 200, lambda _: {"contracts": []}),
    Line("GET", "!/task-queue/tabular_purge/config", SEE),
    Line("GET", "!/deleted-tabulars", SEE),
    Line("POST", "!/search-tabular", SEE, 200, lambda place: {"search": place.table}),
    Line("POST", "!/task/list", SEE, 200, lambda _: {}),
    Line("POST", "!/cascade-drop", WRITE, 200, lambda _: {"dry-run": True}),
    Line("POST", "!/namespace/{namespace_id}/cascade-drop", WRITE, 200, lambda _: {"dry-run": True}),
    Line("GET", "!/namespace/{namespace_id}/protection", SEE),
    Line("POST", "!/namespace/{namespace_id}/protection", WRITE, 200, _PROTECT),
    Line("GET", "!/table/{table_id}/protection", SEE),
    Line("POST", "!/table/{table_id}/protection", WRITE, 200, _PROTECT),
    Line("GET", "!/view/{view_id}/protection", SEE),
    Line("POST", "!/view/{view_id}/protection", WRITE, 200, _PROTECT),
    # Rights
    *(
        line
        for level in ("", "/namespace/{namespace_id}", "/table/{table_id}", "/view/{view_id}")
        for line in (
            Line("GET", f"!{level}/grants", GRANT, sees=ANY),
            Line("POST", f"!{level}/grants", GRANT, 204, _GIVE, sees=ANY),
            Line("GET", f"!{level}/actions", ANY, sees=ANY),
        )
    ),
)
