"""TreeService: hears of objects."""

from __future__ import annotations

import dataclasses
from typing import Final
from uuid import UUID

from lakeward_authz.application.permissions import Gone, Made, Moved, Switched, TreeChange, key_of, subject_of
from lakeward_authz.application.tree import ApplyTreeChanges, Place, Standing, TreeChanges, TreeListing
from lakeward_authz.domain.permissions.objects import NIL, ObjectKey, Subject
from lakeward_authz.transport import decode
from lakeward_protocol.authz.v1 import principals_pb2, tree_pb2_grpc
from lakeward_protocol.authz.v1 import tree_pb2 as pb
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import PrincipalKind
from lakeward_servicekit.authorization.wire import object_message
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.rpc.call import Call

_LONGEST_STREAM: Final = 128
_MOST: Final = 1000
_MOVES: Final = frozenset({ObjectKind.NAMESPACE, *decode.TABULARS})


@dataclasses.dataclass(frozen=True, slots=True)
class TreeServicer(tree_pb2_grpc.TreeServiceServicer):
    """Tells the tree what changed, and of what there is."""

    apply: ApplyTreeChanges
    listing: TreeListing

    async def ApplyTreeChanges(self, request: pb.ApplyTreeChangesRequest, context: Call) -> pb.ApplyTreeChangesResponse:
        """Apply changes of one stream."""
        del context
        return pb.ApplyTreeChangesResponse(applied=await self.apply(_changes(request)))

    async def ListTreePlaces(self, request: pb.ListTreePlacesRequest, context: Call) -> pb.ListTreePlacesResponse:
        """Where there is anything."""
        del context
        after = _place_of(request.after, "after") if request.HasField("after") else None
        places = await self.listing.places(after=after, limit=_limit(request.limit))
        return pb.ListTreePlacesResponse(
            places=[
                pb.TreePlace(project_id=each.project_id, warehouse_id=_uuid_text(each.warehouse_id)) for each in places
            ]
        )

    async def ListTree(self, request: pb.ListTreeRequest, context: Call) -> pb.ListTreeResponse:
        """What a place holds."""
        del context
        place = _place_of(request.place, "place")
        after = _after(request.after, place) if request.HasField("after") else None
        if len(request.ids) > _MOST:
            raise invalid_field("ids", f"{len(request.ids)} ids", f"at most {_MOST}")
        ids = [_id("ids", each) for each in request.ids]
        found = await self.listing.objects(place, after=after, limit=_limit(request.limit), ids=ids)
        return pb.ListTreeResponse(objects=map(_object, found), inactive=any(each.inactive for each in found))


def _limit(limit: int) -> int:
    if not 1 <= limit <= _MOST:
        raise invalid_field("limit", limit, f"1 to {_MOST}")
    return limit


def _place_of(message: pb.TreePlace, field: str) -> Place:
    if not message.project_id:
        raise invalid_field(f"{field}.project_id", "", "a project's id")
    if not message.warehouse_id:
        return Place(message.project_id)
    try:
        return Place(message.project_id, UUID(message.warehouse_id))
    except ValueError as error:
        raise invalid_field(f"{field}.warehouse_id", message.warehouse_id, "a UUID, or empty") from error


def _after(message: principals_pb2.ObjectRef, place: Place) -> ObjectKey:
    try:
        kind = ObjectKind(message.kind)
    except ValueError as error:
        raise invalid_field("after.kind", message.kind, "a kind of object") from error
    return ObjectKey(
        kind.word, place.project_id, place.warehouse_id, _id("after.id", message.id) if message.id else NIL
    )


def _id(field: str, value: bytes) -> UUID:
    if len(value) != len(NIL.bytes):
        raise invalid_field(field, value.hex(), "16 bytes")
    return UUID(bytes=value)


def _object(standing: Standing) -> principals_pb2.ObjectRef:
    key = standing.key
    return object_message(
        ObjectRef(
            ObjectKind[key.type.upper()],
            key.project_id,
            _uuid_text(key.warehouse_id),
            b"" if key.id == NIL else key.id.bytes,
            b"" if standing.parent_id is None else standing.parent_id.bytes,
        )
    )


def _uuid_text(uuid: UUID) -> str:
    return "" if uuid == NIL else str(uuid)


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
        case "switched":
            ref = decode.tree_object(message.switched.object)
            if ref.kind is not ObjectKind.WAREHOUSE:
                raise invalid_field("object.kind", ref.kind.word, "a warehouse")
            return Switched(key_of(ref), message.switched.active)
        case "gone":
            return Gone(key_of(decode.tree_object(message.gone.object)))
        case _:
            raise invalid_field("changes.change", "", "something that was made, moved, switched or is gone")


def _place(message: principals_pb2.ObjectRef) -> tuple[ObjectRef, UUID | None]:
    ref = decode.tree_object(message)
    if not ref.parent_id and ref.kind in decode.TABULARS:
        raise invalid_field("object.parent_id", "", f"the namespace of a {ref.kind.word}")
    if not ref.parent_id:
        return ref, None
    if ref.kind not in _MOVES or len(ref.parent_id) != len(NIL.bytes):
        raise invalid_field("object.parent_id", ref.parent_id.hex(), f"a namespace that may hold a {ref.kind.word}")
    return ref, UUID(bytes=ref.parent_id)


def _public_id(made: pb.ObjectMade) -> UUID | None:
    if not made.public_id:
        return None
    if len(made.public_id) != len(NIL.bytes):
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
