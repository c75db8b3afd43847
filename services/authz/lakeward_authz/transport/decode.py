"""From messages to what use cases take. Bad input is refused here, once; behind this line it can't exist."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Final
from uuid import UUID

from lakeward_protocol.authz.v1 import decisions_pb2, principals_pb2
from lakeward_servicekit.authorization.actions import KIND_OF, Action
from lakeward_servicekit.authorization.authorizer import Demand, Turn
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.authorization.wire import principal_of
from lakeward_servicekit.errors import Reason, Refusal, invalid_field

MAX_DEMANDS: Final = 4000
MAX_ITEMS: Final = 256

_ACTIONS: Final = {int(action): (action, int(kind)) for action, kind in KIND_OF.items()}
_KINDS: Final = {int(kind): kind for kind in ObjectKind}
TABULARS: Final = frozenset({ObjectKind.TABLE, ObjectKind.VIEW, ObjectKind.GENERIC_TABLE})
_IN_WAREHOUSE: Final = frozenset({ObjectKind.WAREHOUSE, ObjectKind.NAMESPACE, *TABULARS})
_LISTED: Final = frozenset({ObjectKind.PROJECT, *_IN_WAREHOUSE})
_ID_BYTES: Final = dict.fromkeys((ObjectKind.NAMESPACE, *TABULARS, ObjectKind.ROLE, ObjectKind.TAG), 16)
_SCOPES: Final = frozenset({ObjectKind.SERVER, ObjectKind.PROJECT, ObjectKind.WAREHOUSE, ObjectKind.NAMESPACE})


def principal(message: principals_pb2.Principal) -> Principal:
    """Whom a question is about."""
    try:
        return principal_of(message)
    except ValueError as error:
        raise invalid_field("principal.kind", message.kind, "a kind that authz answered") from error


def demands(messages: Sequence[decisions_pb2.Demand]) -> list[Demand]:
    """What is asked."""
    count(messages)
    return [_demand(message) for message in messages]


def count(demands: Sized) -> None:
    """Check how many demands a question has."""
    if not demands:
        raise invalid_field("demands", "[]", f"1 to {MAX_DEMANDS} demands")
    if len(demands) > MAX_DEMANDS:
        raise Refusal(
            Reason.REASON_TOO_LARGE,
            f"{len(demands)} demands are asked at once; ask at most {MAX_DEMANDS}",
            what="demands",
            limit=str(MAX_DEMANDS),
        )


def turn(message: decisions_pb2.DecideRequest) -> Turn:
    """What is asked, and of whom."""
    return Turn(principal(message.principal), demands(message.demands), as_owner=message.as_owner)


def listing(message: decisions_pb2.VisibleRequest) -> tuple[ObjectRef, ObjectKind]:
    """Which listing is asked about: its scope and the kind that is listed."""
    scope = _object(message.scope)
    if scope.kind not in _SCOPES:
        raise invalid_field("scope.kind", scope.kind.word, "the server, a project, a warehouse or a namespace")
    kind = _KINDS.get(message.kind)
    if kind is None or kind not in _LISTED or (kind is ObjectKind.PROJECT) != (scope.kind is ObjectKind.SERVER):
        raise invalid_field(
            "kind", message.kind, "a project of the server; else a warehouse, a namespace or a kind of tabular"
        )
    return scope, kind


def tree_object(message: principals_pb2.ObjectRef) -> ObjectRef:
    """What the tree holds: a project, or what is in one."""
    ref = _object(message)
    if ref.kind is ObjectKind.SERVER:
        raise invalid_field("object.kind", ref.kind.word, "a project, or what is in one")
    return ref


def batch(messages: Sequence[decisions_pb2.DecideRequest]) -> None:
    """Check how many questions a batch has."""
    if not 1 <= len(messages) <= MAX_ITEMS:
        raise invalid_field("items", f"{len(messages)} questions", f"1 to {MAX_ITEMS}")


def _demand(message: decisions_pb2.Demand) -> Demand:
    ref = _object(message.object)
    action, kind = _ACTIONS.get(message.action, _NO_ACTION)
    # An action that this build does not know is refused: read as any other, it would be decided wrongly.
    if action is None or kind != ref.kind:
        raise invalid_field("demands.action", message.action, f"an action on a {ref.kind.word}")
    return Demand(ref, action)


_NO_ACTION: Final[tuple[Action | None, int]] = (None, 0)


def _object(message: principals_pb2.ObjectRef) -> ObjectRef:
    kind = _KINDS.get(message.kind)
    if kind is None:
        raise invalid_field("object.kind", message.kind, "a kind of object")
    ref = ObjectRef(kind, message.project_id, message.warehouse_id, message.id, message.parent_id)
    if len(ref.id) != _ID_BYTES.get(kind, 0):
        raise invalid_field("object.id", ref.id.hex(), f"{_ID_BYTES.get(kind, 0)} bytes for a {kind.word}")
    if kind in _IN_WAREHOUSE and not ref.warehouse_id:
        raise invalid_field("object.warehouse_id", "", f"set for a {kind.word}")
    if kind is not ObjectKind.SERVER and not ref.project_id:
        raise invalid_field("object.project_id", "", f"set for a {kind.word}")
    return ref


def role_id_of(text: str) -> UUID:
    """A role's id from a caller.

    Raises:
        Refusal: INVALID_ROLE_ID.
    """
    try:
        return UUID(text)
    except ValueError:
        shown = text[:64]
        raise Refusal(
            Reason.REASON_INVALID_ROLE_ID, f"{shown!r} is no role's id; it must be a role's UUID", role=shown
        ) from None
