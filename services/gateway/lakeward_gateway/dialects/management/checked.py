"""What a question about rights names: an action, and on what, by its id or by its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

import msgspec

from lakeward_gateway.dialects.management import levels
from lakeward_gateway.dialects.management.levels import Level
from lakeward_gateway.dialects.management.principals import UserOrRole, grantee_of
from lakeward_gateway.http import Request
from lakeward_gateway.peers import Stubs
from lakeward_protocol.authz.v1 import grants_pb2
from lakeward_protocol.catalog.v1 import names_pb2, tabulars_pb2
from lakeward_servicekit.errors import invalid_field

_KINDS: Final = MappingProxyType(
    {
        levels.TABLE: tabulars_pb2.TABULAR_KIND_TABLE,
        levels.VIEW: tabulars_pb2.TABULAR_KIND_VIEW,
        levels.GENERIC_TABLE: tabulars_pb2.TABULAR_KIND_GENERIC_TABLE,
    }
)


# Thousands of these come in one body and hold no cycle, so the collector need not look at them.
class Action(msgspec.Struct, frozen=True, gc=False):
    """An action. What else is said of it, such as a new table's name, does not count: no right depends on it."""

    action: str


class ServerOperation(msgspec.Struct, frozen=True, gc=False):
    """On the server."""

    action: Action | str


class ProjectOperation(msgspec.Struct, frozen=True, gc=False, rename="kebab"):
    """On a project; without an id, on the selected one."""

    action: Action | str
    project_id: str | None = None


class WarehouseOperation(msgspec.Struct, frozen=True, gc=False, rename="kebab"):
    """On a warehouse."""

    action: Action | str
    warehouse_id: str


class NamespaceOperation(msgspec.Struct, frozen=True, gc=False, rename="kebab"):
    """On a namespace, by its id or by its path."""

    action: Action | str
    warehouse_id: str
    namespace_id: str | None = None
    namespace: list[str] | None = None


class TabularOperation(msgspec.Struct, frozen=True, gc=False, rename="kebab"):
    """On a table, view or generic table, by its id or by its path."""

    action: Action | str
    warehouse_id: str
    table_id: str | None = None
    namespace: list[str] | None = None
    table: str | None = None


_Operation: TypeAlias = ServerOperation | ProjectOperation | WarehouseOperation | NamespaceOperation | TabularOperation


class CheckedOperation(msgspec.Struct, frozen=True, gc=False, rename="kebab"):
    """Exactly one of these."""

    server: ServerOperation | None = None
    project: ProjectOperation | None = None
    warehouse: WarehouseOperation | None = None
    namespace: NamespaceOperation | None = None
    table: TabularOperation | None = None
    view: TabularOperation | None = None
    generic_table: TabularOperation | None = None


LEVELS: Final[Mapping[str, Level]] = {
    "server": levels.SERVER,
    "project": levels.PROJECT,
    "warehouse": levels.WAREHOUSE,
    "namespace": levels.NAMESPACE,
    "table": levels.TABLE,
    "view": levels.VIEW,
    "generic_table": levels.GENERIC_TABLE,
}


class Asked(msgspec.Struct, frozen=True, gc=False):
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


async def checks_of(
    request: Request, asked: Sequence[tuple[Asked, UserOrRole | None]], stubs: Stubs
) -> list[grants_pb2.ActionCheck]:
    """The questions for authz: what is named by its path is found in the catalog first, all of it at once."""
    paths = [_looked_for(each) for each, _ in asked if each.path is not None]
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
            check.object.id = next(found)
        checks.append(check)
    return checks


def _looked_for(asked: Asked) -> names_pb2.NamedObject:
    assert asked.path is not None
    named = names_pb2.NamedObject(warehouse_id=asked.named.warehouse_id)
    if asked.level is levels.NAMESPACE:
        named.namespace.parts.extend(asked.path)
    else:
        *namespace, named.name = asked.path
        named.namespace.parts.extend(namespace)
        named.kind = _KINDS[asked.level]
    return named


def asked_of(operation: CheckedOperation, where: str) -> Asked:
    """What an operation of a body asks about.

    Args:
        operation: of the body.
        where: its path there.

    Raises:
        Refusal: INVALID_FIELD, where it names none or several kinds of objects, or neither an id nor a path.
    """
    given = [(name, value) for name in LEVELS if (value := getattr(operation, name)) is not None]
    if len(given) != 1:
        right = f"exactly one of {', '.join(level.noun for level in LEVELS.values())}"
        raise invalid_field(where, ", ".join(name for name, _ in given), right)
    ((name, value),) = given
    level = LEVELS[name]
    word = value.action if isinstance(value.action, str) else value.action.action
    return Asked(level, word, *_named(level, value, f"{where}.{level.noun}"))


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


def check_word(asked: Asked, words: Sequence[str], where: str) -> None:
    """Return where the action is one of a vocabulary's words.

    Raises:
        Refusal: INVALID_FIELD.
    """
    if asked.word not in words:
        right = f"an action on a {asked.level.noun.replace('-', ' ')}: {', '.join(words)}"
        raise invalid_field(f"{where}.{asked.level.noun}.action", asked.word, right)
