"""Whether actions may be taken: one at a time, as upstream's OpenFGA edition asks, and many at once, as policy engines do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from lakeward_gateway.dialects.management import levels
from lakeward_gateway.dialects.management.checked import LEVELS, CheckedOperation, asked_of, check_word, checks_of
from lakeward_gateway.dialects.management.errors import INSPECTED
from lakeward_gateway.dialects.management.levels import Level
from lakeward_gateway.dialects.management.principals import UserOrRole
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import Request, Response, json_response
from lakeward_gateway.operation import Answer, Body, Operation
from lakeward_gateway.peers import Stubs
from lakeward_protocol.authz.v1 import grants_pb2
from lakeward_servicekit.errors import Reason, Refusal

MOST: Final = 1000
_UUID: Final = {"type": "string", "format": "uuid"}


class CheckRequest(msgspec.Struct, frozen=True):
    """Whether one may."""

    operation: CheckedOperation
    identity: UserOrRole | None = None


class CheckResponse(msgspec.Struct, frozen=True):
    """Whether one may."""

    allowed: bool


class CatalogActionCheckItem(msgspec.Struct, frozen=True, gc=False):
    """One of many; without an id, its place is its id."""

    operation: CheckedOperation
    identity: UserOrRole | None = None
    id: str | None = None


class CatalogActionsBatchCheckRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """Many checks; with `error-on-not-found` one about what is not there refuses all of them."""

    checks: list[CatalogActionCheckItem]
    error_on_not_found: bool = False


class CatalogActionsBatchCheckResult(msgspec.Struct, frozen=True, gc=False):
    """The answer of one."""

    id: str
    allowed: bool


class CatalogActionsBatchCheckResponse(msgspec.Struct, frozen=True):
    """In the order of the checks."""

    results: list[CatalogActionsBatchCheckResult]


_check: Final = msgspec.json.Decoder(CheckRequest)
_batch: Final = msgspec.json.Decoder(CatalogActionsBatchCheckRequest)
_OPENFGA: Final = {level: tuple(dict.fromkeys((*level.access, *level.authorizer))) for level in LEVELS.values()}


async def check_action(request: Request, *, stubs: Stubs) -> Response:
    """Whether one action may be taken on what is there."""
    document = await parsed(_check, request.body)
    asked = asked_of(document.operation, "operation")
    check_word(asked, _OPENFGA[asked.level], "operation")
    (check,) = await checks_of(request, [(asked, document.identity)], stubs)
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
    asked = [asked_of(check.operation, f"checks[{place}].operation") for place, check in enumerate(document.checks)]
    for place, each in enumerate(asked):
        check_word(each, each.level.catalog, f"checks[{place}].operation")
    about = [(each, check.identity) for each, check in zip(asked, document.checks, strict=True)]
    answered = await stubs.grants.CheckActions(
        grants_pb2.CheckActionsRequest(
            context=request.context,
            checks=await checks_of(request, about, stubs),
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


def operations(stubs: Stubs) -> Sequence[Operation]:
    """Both."""
    return (
        Operation(
            id="check",
            method="POST",
            path="/management/v1/permissions/check",
            summary="Whether a user or a role may take an action on what is there.",
            handler=partial(check_action, stubs=stubs),
            body=Body("CheckRequest", one_check(_OPENFGA)),
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


# What an action may say of what it would do; it does not count (see `Action`), so it may be anything.
_SAID: Final[Mapping[Level, str]] = {
    levels.SERVER: "name project_id",
    levels.PROJECT: "name",
    levels.WAREHOUSE: "name properties source",
    levels.NAMESPACE: "base_location destination force format generic_table_id name properties purge recursive "
    "removed_properties source table_id updated_properties",
    levels.TABLE: "force purge removed_properties target_refs update_kinds updated_properties",
    levels.VIEW: "force purge removed_properties updated_properties",
    levels.GENERIC_TABLE: "force purge",
}
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
    for level in LEVELS.values():
        action: Mapping[str, Any] = {"enum": [*words[level]]}
        if tagged:
            said: Mapping[str, Any] = {name: {} for name in _SAID[level].split()}
            action = {"type": "object", "required": ["action"], "properties": {"action": action, **said}}
        inner = {"action": action, **named.get(level, tabular)}
        required = ["action", *(["warehouse-id"] if "warehouse-id" in inner else [])]
        about = {"type": "object", "required": required, "properties": inner}
        choices.append({"type": "object", "required": [level.noun], "properties": {level.noun: about}})
    return {"oneOf": choices}


def one_check(words: Mapping[Level, Sequence[str]]) -> Mapping[str, Any]:
    """The body of a question about one action."""
    operation = _operation(words, tagged=False)
    return {"type": "object", "required": ["operation"], "properties": {"operation": operation, "identity": _IDENTITY}}


def _many() -> Mapping[str, Any]:
    operation = _operation({level: level.catalog for level in LEVELS.values()}, tagged=True)
    members = {"id": {"type": ["string", "null"]}, "operation": operation, "identity": _IDENTITY}
    checks = {
        "type": "array",
        "maxItems": MOST,
        "items": {"type": "object", "required": ["operation"], "properties": members},
    }
    properties = {"checks": checks, "error-on-not-found": {"type": "boolean"}}
    return {"type": "object", "required": ["checks"], "properties": properties}
