"""TreeService: hears of objects."""

from __future__ import annotations

import dataclasses
from typing import Final
from uuid import UUID

from lakeward_authz.application.permissions import Gone, Made, Moved, TreeChange, key_of, subject_of
from lakeward_authz.application.tree import ApplyTreeChanges, TreeChanges
from lakeward_authz.domain.permissions.objects import Subject
from lakeward_authz.transport import decode
from lakeward_protocol.authz.v1 import principals_pb2, tree_pb2_grpc
from lakeward_protocol.authz.v1 import tree_pb2 as pb
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import PrincipalKind
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.rpc.call import Call

_LONGEST_STREAM: Final = 128
_MOST: Final = 1000
_MOVES: Final = frozenset({ObjectKind.NAMESPACE, *decode.TABULARS})


@dataclasses.dataclass(frozen=True, slots=True)
class TreeServicer(tree_pb2_grpc.TreeServiceServicer):
    """Tells the tree what changed."""

    apply: ApplyTreeChanges

    async def ApplyTreeChanges(self, request: pb.ApplyTreeChangesRequest, context: Call) -> pb.ApplyTreeChangesResponse:
        """Apply changes of one stream."""
        del context
        return pb.ApplyTreeChangesResponse(applied=await self.apply(_changes(request)))


def _changes(request: pb.ApplyTreeChangesRequest) -> TreeChanges:
    if not 1 <= len(request.stream) <= _LONGEST_STREAM:
        raise invalid_field("stream", request.stream, f"1 to {_LONGEST_STREAM} characters")
    if not 1 <= len(request.changes) <= _MOST:
        raise invalid_field("changes", f"{len(request.changes)} changes", f"1 to {_MOST}")
    sequences = [change.sequence for change in request.changes]
    if sequences[0] < 1 or sequences != sorted(set(sequences)):
        raise invalid_field("changes.sequence", sequences[:10], "ascending, from 1 at the lowest")
    return TreeChanges(request.stream, [(change.sequence, _change(change)) for change in request.changes])


def _change(message: pb.TreeChange) -> TreeChange:
    match message.WhichOneof("change"):
        case "made":
            ref, parent_id = _place(message.made.object)
            return Made(key_of(ref), parent_id, _owner(message.made), _public_id(message.made))
        case "moved":
            ref, parent_id = _place(message.moved.object)
            if ref.kind not in _MOVES:
                raise invalid_field("object.kind", ref.kind.word, "a namespace or a tabular")
            return Moved(key_of(ref), parent_id)
        case "gone":
            return Gone(key_of(decode.tree_object(message.gone.object)))
        case _:
            raise invalid_field("changes.change", "", "something that was made, moved or is gone")


def _place(message: principals_pb2.ObjectRef) -> tuple[ObjectRef, UUID | None]:
    ref = decode.tree_object(message)
    if not ref.parent_id and ref.kind in decode.TABULARS:
        raise invalid_field("object.parent_id", "", f"the namespace of a {ref.kind.word}")
    if not ref.parent_id:
        return ref, None
    if ref.kind not in _MOVES or len(ref.parent_id) != len(UUID(int=0).bytes):
        raise invalid_field("object.parent_id", ref.parent_id.hex(), f"a namespace that may hold a {ref.kind.word}")
    return ref, UUID(bytes=ref.parent_id)


def _public_id(made: pb.ObjectMade) -> UUID | None:
    if not made.public_id:
        return None
    if len(made.public_id) != len(UUID(int=0).bytes):
        raise invalid_field("made.public_id", made.public_id.hex(), "16 bytes, or none")
    return UUID(bytes=made.public_id)


def _owner(made: pb.ObjectMade) -> Subject | None:
    if not made.HasField("owner"):
        return None
    principal = decode.principal(made.owner)
    if principal.kind not in {PrincipalKind.USER, PrincipalKind.ROLE}:
        return None
    try:
        return subject_of(principal)
    except ValueError as error:
        raise invalid_field("owner.role_id", principal.role_id, "a UUID") from error
