"""Objects, grants and links as OpenFGA holds them."""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import quote
from uuid import UUID

from lakeward_authz.domain.permissions.objects import NIL, SERVER, ObjectKey, Subject

MARK: Final = "lw-"
"""What our objects' ids begin with, so that others in a shared store are not taken for ours."""
_EVERYBODY: Final = ("user:*", "role:*")
_USER: Final = "user:"
_ROLE: Final = "role:"


class FgaTuple(NamedTuple):
    """A user that stands in a relation to an object."""

    user: str
    relation: str
    object: str


def object_name(key: ObjectKey) -> str:
    """The object's name: `table:lw-<warehouse>/<incarnation>`, since one id may occur in two warehouses."""
    return f"{key.type}:{MARK}{_id(key)}"


def _id(key: ObjectKey) -> str:
    match key.type:
        case "server":
            return "server"
        case "project":
            return _escaped(key.project_id)
        case "warehouse":
            return str(key.warehouse_id)
        case _ if key.warehouse_id == NIL:
            return str(key.id)
        case _:
            return f"{key.warehouse_id}/{key.id}"


def caller_name(subject: Subject) -> str:
    """Who asks: a user, or a role that was assumed."""
    if subject.startswith(_ROLE):
        return f"{_ROLE}{MARK}{subject.removeprefix(_ROLE)}"
    return f"{_USER}{_escaped(subject.removeprefix(_USER))}"


def grant_tuple(key: ObjectKey, subject: Subject, relation: str) -> FgaTuple:
    """A grant; one to a role is for its members."""
    name = caller_name(subject)
    return FgaTuple(name if subject.startswith(_USER) else f"{name}#assignee", relation, object_name(key))


def link_tuple(key: ObjectKey, parent_id: UUID | None) -> FgaTuple | None:
    """What the object hangs from; None for the server."""
    match key.type:
        case "server":
            return None
        case "project":
            return FgaTuple(object_name(SERVER), "server", object_name(key))
        case "warehouse":
            return FgaTuple(object_name(ObjectKey("project", key.project_id)), "project", object_name(key))
        case _ if key.warehouse_id == NIL:
            return FgaTuple(object_name(ObjectKey("project", key.project_id)), "project", object_name(key))
        case _ if parent_id is None:
            above = ObjectKey("warehouse", key.project_id, key.warehouse_id)
            return FgaTuple(object_name(above), "parent", object_name(key))
        case _:
            above = ObjectKey("namespace", key.project_id, key.warehouse_id, parent_id)
            return FgaTuple(object_name(above), "parent", object_name(key))


def managed_tuples(key: ObjectKey) -> list[FgaTuple]:
    """What says that an object's access is managed."""
    return [FgaTuple(everybody, "managed_access", object_name(key)) for everybody in _EVERYBODY]


def _escaped(text: str) -> str:
    # RFC 3986: what is not unreserved, "~" being so
    return quote(text, safe="")
