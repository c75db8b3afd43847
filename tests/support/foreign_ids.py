"""Requests of every operation that the gateway documents, with the places in them where something is named by an id or a name.

What an operation takes is read from its document, so that a new one is there too; what can't be made from that alone stands here.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from tests.conformance.specifications import operations, resolved
from tests.support.warehouses import SCHEMA

_SLOT: Final = re.compile(r"<<(\w+)>>")
# What the parameters of paths and queries name, and what members of bodies do.
NAMED: Final[Mapping[str, str]] = {
    "prefix": "warehouse",
    "warehouse_id": "warehouse",
    "warehouse-id": "warehouse",
    "warehouseId": "warehouse",
    "namespace": "namespace_name",
    "table": "table_name",
    "view": "view_name",
    "tabular-id": "table",
    "project_id": "project",
    "project-id": "project",
    "projectId": "project",
    "namespace_id": "namespace",
    "namespace-id": "namespace",
    "namespaceId": "namespace",
    "table_id": "table",
    "table-id": "table",
    "view_id": "view",
    "view-id": "view",
    "generic_table_id": "generic_table",
    "generic-table-id": "generic_table",
    "generic-table": "table_name",
    "task_id": "task",
    "task-ids": "task",
    "role_id": "role",
    "role": "role",
    "roleIds": "role",
    "principalRole": "role",
    "tag_definition_id": "tag",
    "tag_name": "tag_name",
    "user_id": "user",
    "member_id": "role",
}
# Where a name means something else, by the path that it stands in.
_ELSEWHERE: Final = (
    ("/generic-tables/", "table", "generic_name"),
    ("/v1/project/task/", "task_id", "project_task"),
)
# What texts are that can't be just any.
_TEXTS: Final = {"cron": "0 3 * * *"}
# What parameters are that name nothing of anybody's.
_PLAIN: Final[Mapping[str, str]] = {"column_name": "id", "member_type": "role", "version": "1"}
_TABLE: Final = {"namespace": ["<<namespace_name>>"], "name": "<<table_name>>"}
_PROPERTIES: Final = {"action": "set-properties", "updates": {"a": "b"}}
_COMMIT: Final = {"requirements": [], "updates": [_PROPERTIES]}
_VIEW_VERSION: Final = {
    "version-id": 1,
    "timestamp-ms": 1,
    "schema-id": 0,
    "summary": {},
    "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}],
    "default-namespace": ["nobodys"],
}
_PROFILE: Final = {"type": "s3", "bucket": "nobodys", "region": "local", "sts-enabled": False}
_CREDENTIAL: Final = {"type": "s3", "credential-type": "access-key", "access-key-id": "a", "secret-access-key": "s"}
# Stands for a bucket's address until one is known.
BUCKET: Final = "http://bucket.invalid"
_SIGN: Final = {"region": "local", "uri": f"{BUCKET}/nobodys/x", "method": "GET", "headers": {}}
_CHECKED: Final = {
    "operation": {"table": {"action": "get_metadata", "warehouse-id": "<<warehouse>>", "table-id": "<<table>>"}},
    "identity": {"role": "<<role>>"},
}
_WAREHOUSE: Final = {
    "warehouse-name": "made",
    "project-id": "<<project>>",
    "storage-profile": _PROFILE,
    "storage-credential": _CREDENTIAL,
}
_GRANTED: Final = ("project", "warehouse", "namespace", "table", "view", "generic_table")


def _grants(privilege: str) -> Any:
    return {"writes": [{"principal": {"role": "<<role>>"}, "privilege": privilege}]}


# Bodies that nobody could make from their schemas: what passes through unread, what depends on a member beside it.
BODIES: Final[Mapping[str, Any]] = {
    "createNamespace": {"namespace": ["made_up"]},
    "createTable": {"name": "made", "schema": SCHEMA},
    "registerTable": {"name": "made", "metadata-location": "s3://nobodys/x.metadata.json"},
    "updateTable": _COMMIT,
    "updateProperties": {"updates": {"a": "b"}},
    "renameTable": {"source": _TABLE, "destination": {"namespace": ["<<namespace_name>>"], "name": "made"}},
    "renameView": {
        "source": {"namespace": ["<<namespace_name>>"], "name": "<<view_name>>"},
        "destination": {"namespace": ["<<namespace_name>>"], "name": "made"},
    },
    "rename_generic_table": {
        "source": {"namespace": ["<<namespace_name>>"], "name": "<<generic_name>>"},
        "destination": {"namespace": ["<<namespace_name>>"], "name": "made"},
    },
    "update_generic_table": {"set-properties": {"a": "b"}},
    "register_generic_table": {"name": "made", "format": "lance", "base-location": "s3://nobodys/x"},
    "control_project_tasks": {"action": {"action-type": "cancel"}, "task-ids": ["<<project_task>>"]},
    "reportMetrics": {"report-type": "scan-report"},
    "commitTransaction": {"table-changes": [{"identifier": _TABLE, **_COMMIT}]},
    "createView": {"name": "made", "schema": SCHEMA, "view-version": _VIEW_VERSION, "properties": {}},
    "replaceView": _COMMIT,
    **dict.fromkeys(
        ("signS3TabularRequest", "signS3Request", "signS3RequestBelowCatalog", "signS3RequestAtRoot"), _SIGN
    ),
    "create_warehouse": _WAREHOUSE,
    "validate_warehouse": _WAREHOUSE,
    "update_storage_profile": {"storage-profile": _PROFILE, "storage-credential": _CREDENTIAL},
    "validate_storage_profile": {"storage-profile": _PROFILE, "storage-credential": _CREDENTIAL},
    "update_storage_credential": {"new-storage-credential": _CREDENTIAL},
    "validate_storage_credential": {"new-storage-credential": _CREDENTIAL},
    "undrop_tabulars": {"targets": [{"type": "table", "id": "<<dropped>>"}]},
    "control_tasks": {"action": {"action-type": "cancel"}, "task-ids": ["<<task>>"]},
    "list_tasks": {"entities": [{"type": "table", "table-id": "<<table>>"}]},
    "search_tabular": {"search": "<<table>>"},
    "search_role": {"search": "<<role>>", "project-id": "<<project>>"},
    "create_role": {"name": "made", "project-id": "<<project>>"},
    "create_tag_definition": {"name": "made", "scope": ["table"], "value-kind": "marker"},
    "add_role_members": {"members": [{"type": "role", "id": "<<role>>"}]},
    "check": _CHECKED,
    "batch_check_actions": {"checks": [_CHECKED], "error-on-not-found": True},
    "explain_access": {"operation": _CHECKED["operation"]},
    "apply_server_grants": _grants("operator"),
    "apply_tag_grants": _grants("apply"),
    **{f"apply_{kind}_grants": _grants("select") for kind in _GRANTED},
}
# Of these the project is the one that the header names.
_BY_HEADER: Final = re.compile(
    r"/management/v1/(project|project/(rename|actions|grants.*|task.*)|warehouse|warehouse-creation-validation|default-project"
    r"|role.*|search/role|tag-definition.*|grants|permissions/project/[a-z-]+|endpoint-statistics)"
)


@dataclasses.dataclass(frozen=True)
class Template:
    """A request with places for ids and names.

    Attributes:
        operation: its id.
        path: percent-encoded where it is to be, places aside.
        body: JSON text; "" for none.
    """

    operation: str
    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    header: str
    body: str

    @property
    def slots(self) -> Sequence[str]:
        """What each place names, in order."""
        return _SLOT.findall("\n".join([self.path, *(value for _, value in self.query), self.header, self.body]))

    def filled(self, values: Sequence[str]) -> Mapping[str, Any]:
        """What to send, with a value for each place; arguments of `httpx.AsyncClient.request`."""
        left = iter(values)

        def fill(text: str, *, encoded: bool = False) -> str:
            def value(_: re.Match[str]) -> str:
                following = next(left)
                return quote(following, safe="") if encoded else json.dumps(following)[1:-1]

            return _SLOT.sub(value, text)

        path = fill(self.path, encoded=True)
        query = [(name, fill(value)) for name, value in self.query]
        headers = {"x-project-id": fill(self.header)} if self.header else {}
        content = fill(self.body)
        assert next(left, None) is None
        if content:
            headers["content-type"] = "application/json"
        return {"method": self.method, "url": path, "params": query, "headers": headers, "content": content or None}


def templates(document: Mapping[str, Any]) -> Iterator[Template]:
    """One for each operation of a document that names something."""
    for method, path, operation in operations(document):
        template = _template(document, method, path, operation)
        if template.slots:
            yield template


def _template(document: Mapping[str, Any], method: str, path: str, operation: Mapping[str, Any]) -> Template:
    name = operation["operationId"]
    queries = [each["name"] for each in operation["parameters"] if each["in"] == "query"]
    body = ""
    if "requestBody" in operation:
        schema = resolved(document, operation["requestBody"])["content"]["application/json"]["schema"]
        made = BODIES[name] if name in BODIES else _sample(document, schema, name)
        body = json.dumps(made)
    placed = re.sub(r"\{([^}]+)\}", lambda found: _PLAIN.get(found[1]) or _place(found[1], name, path), path)
    query = tuple((each, _place(each, name, path)) for each in queries if each in NAMED)
    # a project that is named otherwise counts before the header's
    otherwise = "<<project>>" in f"{placed}{query}{body}"
    header = "<<project>>" if _BY_HEADER.fullmatch(path) and not otherwise else ""
    return Template(name, method, placed, query, header, body)


def _place(parameter: str, operation: str, path: str) -> str:
    for part, called, kind in _ELSEWHERE:
        if part in path and called == parameter:
            return f"<<{kind}>>"
    assert parameter in NAMED, f"{operation} has the parameter {parameter}: say in {__name__}.NAMED what that names"
    return f"<<{NAMED[parameter]}>>"


def _sample(document: Mapping[str, Any], node: Mapping[str, Any], name: str) -> Any:
    """A value of a schema, with a place wherever a member's name is one that names something."""
    node = _chosen(document, node)
    if "enum" in node or "const" in node:
        return node.get("const", node.get("enum", [None])[0])
    kinds = node.get("type", "object")
    match kinds if isinstance(kinds, str) else kinds[0]:
        case "object":
            members = node.get("properties", {})
            return {each: _sample(document, members[each], each) for each in _wanted(node)}
        case "array":
            return [_sample(document, node["items"], name)]
        case "string":
            return f"<<{NAMED[name]}>>" if name in NAMED else _TEXTS.get(name, "made")
        case kind:
            return {"boolean": True, "null": None}.get(kind, node.get("minimum", 1))


def _chosen(document: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a node refers to, and the first of what it offers."""
    while True:
        offered = next((node[each] for each in ("anyOf", "oneOf", "allOf") if each in node), None)
        if offered is None and "$ref" not in node:
            return node
        node = resolved(document, node if offered is None else offered[0])


def _wanted(node: Mapping[str, Any]) -> Sequence[str]:
    """Members that are required, that name something, or that hold what does; of a user and a role the role."""
    members = node.get("properties", {})
    wanted = {*node.get("required", ()), *NAMED, "writes", "principal"} - ({"user"} if "role" in members else set())
    return [each for each in members if each in wanted]
