"""Whether actions may be taken: one at a time, as upstream's OpenFGA edition asks, and many at once, as policy engines do."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import msgspec

from lakeward_gateway.dialects.management import levels
from lakeward_gateway.dialects.management.errors import INSPECTED
from lakeward_gateway.dialects.management.levels import Level
from lakeward_gateway.dialects.management.principals import UserOrRole, grantee_of
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import Request, Response, json_response
from lakeward_gateway.operation import Answer, Body, Operation
from lakeward_gateway.peers import Stubs
from lakeward_protocol.authz.v1 import grants_pb2
from lakeward_protocol.catalog.v1 import names_pb2, tabulars_pb2
from lakeward_servicekit.errors import Reason, Refusal, invalid_field

MOST: Final = 1000
_UUID: Final = {"type": "string", "format": "uuid"}
_KINDS: Final = MappingProxyType(
    {levels.TABLE: tabulars_pb2.TABULAR_KIND_TABLE, levels.VIEW: tabulars_pb2.TABULAR_KIND_VIEW}
)
# There are none of these yet, so nothing has such a name.
_NAMELESS: Final = frozenset({levels.GENERIC_TABLE})


class Action(msgspec.Struct, frozen=True):
    """An action. What else is said of it, such as a new table's name, does not count: no right depends on it."""

    action: str


class ServerOperation(msgspec.Struct, frozen=True):
    """On the server."""

    action: Action | str


class ProjectOperation(msgspec.Struct, frozen=True, rename="kebab"):
    """On a project; without an id, on the selected one."""

    action: Action | str
    project_id: str | None = None


class WarehouseOperation(msgspec.Struct, frozen=True, rename="kebab"):
    """On a warehouse."""

    action: Action | str
    warehouse_id: str


class NamespaceOperation(msgspec.Struct, frozen=True, rename="kebab"):
    """On a namespace, by its id or by its path."""

    action: Action | str
    warehouse_id: str
    namespace_id: str | None = None
    namespace: list[str] | None = None


class TabularOperation(msgspec.Struct, frozen=True, rename="kebab"):
    """On a table, view or generic table, by its id or by its path."""

    action: Action | str
    warehouse_id: str
    table_id: str | None = None
    namespace: list[str] | None = None
    table: str | None = None


_Operation: TypeAlias = ServerOperation | ProjectOperation | WarehouseOperation | NamespaceOperation | TabularOperation


class CheckedOperation(msgspec.Struct, frozen=True, rename="kebab"):
    """Exactly one of these."""

    server: ServerOperation | None = None
    project: ProjectOperation | None = None
    warehouse: WarehouseOperation | None = None
    namespace: NamespaceOperation | None = None
    table: TabularOperation | None = None
    view: TabularOperation | None = None
    generic_table: TabularOperation | None = None


class CheckRequest(msgspec.Struct, frozen=True):
    """Whether one may."""

    operation: CheckedOperation
    identity: UserOrRole | None = None


class CheckResponse(msgspec.Struct, frozen=True):
    """Whether one may."""

    allowed: bool


class CatalogActionCheckItem(msgspec.Struct, frozen=True):
    """One of many; without an id, its place is its id."""

    operation: CheckedOperation
    identity: UserOrRole | None = None
    id: str | None = None


class CatalogActionsBatchCheckRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """Many checks; with `error-on-not-found` one about what is not there refuses all of them."""

    checks: list[CatalogActionCheckItem]
    error_on_not_found: bool = False


class CatalogActionsBatchCheckResult(msgspec.Struct, frozen=True):
    """The answer of one."""

    id: str
    allowed: bool


class CatalogActionsBatchCheckResponse(msgspec.Struct, frozen=True):
    """In the order of the checks."""

    results: list[CatalogActionsBatchCheckResult]


_check: Final = msgspec.json.Decoder(CheckRequest)
_batch: Final = msgspec.json.Decoder(CatalogActionsBatchCheckRequest)
_LEVELS: Final[Mapping[str, Level]] = {
    "server": levels.SERVER,
    "project": levels.PROJECT,
    "warehouse": levels.WAREHOUSE,
    "namespace": levels.NAMESPACE,
    "table": levels.TABLE,
    "view": levels.VIEW,
    "generic_table": levels.GENERIC_TABLE,
}


@dataclasses.dataclass(frozen=True, slots=True)
class _Asked:
    """What a check is about.

    Attributes:
        word: the action, as the API says it.
        named: by its id; where it has a path, that is still to be found.
        path: None where it is named by its id.
    """

    level: Level
    word: str
    named: grants_pb2.ObjectName
    path: Sequence[str] | None = None


async def check_action(request: Request, *, stubs: Stubs) -> Response:
    """Whether one action may be taken on what is there."""
    document = await parsed(_check, request.body)
    asked = _asked(document.operation, "operation")
    _known(asked, (*asked.level.access, *asked.level.authorizer), "operation")
    (check,) = await _checks(request, [(asked, document.identity)], stubs)
    answered = await stubs.grants.CheckActions(
        grants_pb2.CheckActionsRequest(context=request.context, checks=[check], absent_is_refused=True)
    )
    return json_response(CheckResponse(answered.allowed[0]))


async def batch_check(request: Request, *, stubs: Stubs) -> Response:
    """Whether each of many actions may be taken."""
    document = await parsed(_batch, request.body)
    if len(document.checks) > MOST:
        raise Refusal(
            Reason.REASON_PERMISSIONS_INVALID,
            f"{len(document.checks)} checks are asked at once; ask at most {MOST}",
            cause="TooManyChecks",
        )
    if not document.checks:
        return json_response(CatalogActionsBatchCheckResponse([]))
    asked = [_asked(check.operation, f"checks[{place}].operation") for place, check in enumerate(document.checks)]
    for place, each in enumerate(asked):
        _known(each, each.level.catalog, f"checks[{place}].operation")
    about = [(each, check.identity) for each, check in zip(asked, document.checks, strict=True)]
    answered = await stubs.grants.CheckActions(
        grants_pb2.CheckActionsRequest(
            context=request.context,
            checks=await _checks(request, about, stubs),
            absent_is_refused=document.error_on_not_found,
        )
    )
    return json_response(
        CatalogActionsBatchCheckResponse(
            [
                CatalogActionsBatchCheckResult(str(place) if check.id is None else check.id, allowed)
                for place, (check, allowed) in enumerate(zip(document.checks, answered.allowed, strict=True))
            ]
        )
    )


async def _checks(
    request: Request, asked: Sequence[tuple[_Asked, UserOrRole | None]], stubs: Stubs
) -> list[grants_pb2.ActionCheck]:
    """The questions for authz: what is named by its path is found in the catalog first, all of it at once."""
    paths = [_looked_for(each) for each, _ in asked if each.path is not None and each.level not in _NAMELESS]
    found: Iterator[str] = iter(())
    if paths:
        answer = await stubs.names.FindByName(names_pb2.FindByNameRequest(context=request.context, names=paths))
        found = iter(answer.ids)
    checks: list[grants_pb2.ActionCheck] = []
    for each, identity in asked:
        check = grants_pb2.ActionCheck(object=each.named, action=levels.relation_of(each.word))
        if identity is not None:
            check.grantee.CopyFrom(grantee_of(identity))
        if each.path is not None:
            check.called = ".".join(each.path)
            check.object.id = "" if each.level in _NAMELESS else next(found)
        checks.append(check)
    return checks


def _looked_for(asked: _Asked) -> names_pb2.NamedObject:
    assert asked.path is not None
    named = names_pb2.NamedObject(warehouse_id=asked.named.warehouse_id)
    if asked.level is levels.NAMESPACE:
        named.namespace.parts.extend(asked.path)
    else:
        *namespace, named.name = asked.path
        named.namespace.parts.extend(namespace)
        named.kind = _KINDS[asked.level]
    return named


def _asked(operation: CheckedOperation, where: str) -> _Asked:
    given = [(name, value) for name in _LEVELS if (value := getattr(operation, name)) is not None]
    if len(given) != 1:
        right = f"exactly one of {', '.join(level.noun for level in _LEVELS.values())}"
        raise invalid_field(where, ", ".join(name for name, _ in given), right)
    ((name, value),) = given
    level = _LEVELS[name]
    word = value.action if isinstance(value.action, str) else value.action.action
    return _Asked(level, word, *_named(level, value, f"{where}.{level.noun}"))


def _named(level: Level, value: _Operation, where: str) -> tuple[grants_pb2.ObjectName, Sequence[str] | None]:
    """By which id, and by which path."""
    match value:
        case ServerOperation():
            arguments, path = [], None
        case ProjectOperation(project_id=own):
            arguments, path = [] if own is None else [own], None
        case WarehouseOperation(warehouse_id=within):
            arguments, path = [within], None
        case NamespaceOperation(warehouse_id=within, namespace_id=str(own)):
            arguments, path = [within, own], None
        case TabularOperation(warehouse_id=within, table_id=str(own)):
            arguments, path = [within, own], None
        case NamespaceOperation(warehouse_id=within, namespace=list(parts)):
            arguments, path = [within, ""], parts
        case TabularOperation(warehouse_id=within, namespace=list(parts), table=str(called)):
            arguments, path = [within, ""], [*parts, called]
        case _:
            raise invalid_field(where, "neither an id nor a path", "named by one of the two")
    return level.named(*arguments), path


def _known(asked: _Asked, words: Sequence[str], where: str) -> None:
    if asked.word not in words:
        right = f"an action on a {asked.level.noun.replace('-', ' ')}: {', '.join(words)}"
        raise invalid_field(f"{where}.{asked.level.noun}.action", asked.word, right)


def operations(stubs: Stubs) -> Sequence[Operation]:
    """Both."""
    return (
        Operation(
            id="check",
            method="POST",
            path="/management/v1/permissions/check",
            summary="Whether a user or a role may take an action on what is there.",
            handler=partial(check_action, stubs=stubs),
            body=Body("CheckRequest", _one()),
            answers={200: Answer("Whether they may.", "CheckResponse", CheckResponse)},
            renderings=INSPECTED,
            tag="permissions",
        ),
        Operation(
            id="batch_check_actions",
            method="POST",
            path="/management/v1/action/batch-check",
            summary="Whether users and roles may take each of up to 1000 actions.",
            handler=partial(batch_check, stubs=stubs),
            body=Body("CatalogActionsBatchCheckRequest", _many()),
            answers={200: Answer("The answers.", "CatalogActionsBatchCheckResponse", CatalogActionsBatchCheckResponse)},
            renderings=INSPECTED,
            tag="authorization",
        ),
    )


_IDENTITY: Final = {
    "type": ["object", "null"],
    "description": "Exactly one of the two; without it the caller is meant.",
    "additionalProperties": False,
    "properties": {"user": {"type": "string"}, "role": _UUID},
}


def _operation(words: Mapping[Level, Sequence[str]], *, tagged: bool) -> Mapping[str, Any]:
    """One member of a level's name: what it is done to, and the action."""
    path = {"type": "array", "items": {"type": "string"}}
    named: Mapping[Level, Mapping[str, Any]] = {
        levels.SERVER: {},
        levels.PROJECT: {"project-id": {"type": ["string", "null"]}},
        levels.WAREHOUSE: {"warehouse-id": _UUID},
        levels.NAMESPACE: {"warehouse-id": _UUID, "namespace-id": _UUID, "namespace": path},
    }
    tabular = {"warehouse-id": _UUID, "table-id": _UUID, "namespace": path, "table": {"type": "string"}}
    choices: list[Mapping[str, Any]] = []
    for level in _LEVELS.values():
        action: Mapping[str, Any] = {"enum": [*words[level]]}
        if tagged:
            action = {"type": "object", "required": ["action"], "properties": {"action": action}}
        inner = {"action": action, **named.get(level, tabular)}
        required = ["action", *(["warehouse-id"] if "warehouse-id" in inner else [])]
        about = {"type": "object", "required": required, "properties": inner}
        choices.append({"type": "object", "required": [level.noun], "properties": {level.noun: about}})
    return {"oneOf": choices}


def _one() -> Mapping[str, Any]:
    words = {level: [*dict.fromkeys((*level.access, *level.authorizer))] for level in _LEVELS.values()}
    operation = _operation(words, tagged=False)
    return {"type": "object", "required": ["operation"], "properties": {"operation": operation, "identity": _IDENTITY}}


def _many() -> Mapping[str, Any]:
    operation = _operation({level: level.catalog for level in _LEVELS.values()}, tagged=True)
    members = {"id": {"type": ["string", "null"]}, "operation": operation, "identity": _IDENTITY}
    checks = {
        "type": "array",
        "maxItems": MOST,
        "items": {"type": "object", "required": ["operation"], "properties": members},
    }
    properties = {"checks": checks, "error-on-not-found": {"type": "boolean"}}
    return {"type": "object", "required": ["checks"], "properties": properties}
