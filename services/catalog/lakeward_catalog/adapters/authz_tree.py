"""Authz's tree of objects, over a channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never
from uuid import UUID

from lakeward_catalog.application.refs import OBJECT_KINDS
from lakeward_catalog.application.tree import PROJECTS, Gone, Made, Moved, Nothing, Numbered, StreamId, Switched
from lakeward_catalog.application.verifying import NIL, Key, Place, Standing
from lakeward_catalog.domain.model import ProjectId, WarehouseId
from lakeward_protocol.authz.v1 import principals_pb2, tree_pb2_grpc
from lakeward_protocol.authz.v1 import tree_pb2 as pb
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.wire import object_message, principal_message
from lakeward_servicekit.rpc import Channel, stub

# Whole namespaces may go in one change; nobody waits this long for it.
_SECONDS: Final = 60.0
# No object is called so: that it is gone changes nothing, and takes a number.
_NOWHERE: Final = ObjectRef(ObjectKind.NAMESPACE, "-", str(NIL), NIL.bytes)


class RemoteTree:
    """`Tree` and `AuthzTree` over a channel to authz."""

    def __init__(self, channel: Channel) -> None:
        """Tell over `channel`."""
        self._stub: tree_pb2_grpc.TreeServiceAsyncStub = stub(tree_pb2_grpc.TreeServiceStub, channel)

    async def apply(self, stream: StreamId, changes: Sequence[Numbered]) -> int:
        """See `Tree`."""
        request = pb.ApplyTreeChangesRequest(stream=stream_name(stream), changes=map(_message, changes))
        return (await self._stub.ApplyTreeChanges(request, timeout=_SECONDS)).applied

    async def places(self, *, after: Place | None, limit: int) -> Sequence[Place]:
        """See `AuthzTree`."""
        request = pb.ListTreePlacesRequest(after=None if after is None else _place(after), limit=limit)
        reply = await self._stub.ListTreePlaces(request, timeout=_SECONDS)
        return [
            Place(ProjectId(each.project_id), WarehouseId(UUID(each.warehouse_id)) if each.warehouse_id else None)
            for each in reply.places
        ]

    async def objects(
        self, place: Place, *, after: Key | None, limit: int, ids: Sequence[UUID] = ()
    ) -> Sequence[Standing]:
        """See `AuthzTree`."""
        found: list[Standing] = []
        request = pb.ListTreeRequest(place=_place(place), limit=limit, ids=[each.bytes for each in ids])
        if after is not None:
            request.after.kind, request.after.id = ObjectKind[after.kind.upper()].value, after.id.bytes
        while len(found) < limit:
            reply = await self._stub.ListTree(request, timeout=_SECONDS)
            objects = reply.objects
            found += [_standing(each, inactive=reply.inactive) for each in objects if each.kind in _OURS]
            if len(objects) < limit:
                break
            request.after.CopyFrom(objects[-1])
        return found[:limit]


_OURS: Final = frozenset(
    kind.value
    for kind in (
        ObjectKind.PROJECT,
        ObjectKind.TAG,
        ObjectKind.WAREHOUSE,
        ObjectKind.NAMESPACE,
        *OBJECT_KINDS.values(),
    )
)
"""Kinds that the catalog tells of."""


def _place(place: Place) -> pb.TreePlace:
    warehouse_id = "" if place.warehouse_id is None else str(place.warehouse_id)
    return pb.TreePlace(project_id=place.project_id, warehouse_id=warehouse_id)


def _standing(message: principals_pb2.ObjectRef, *, inactive: bool) -> Standing:
    key = Key(ObjectKind(message.kind).word, UUID(bytes=message.id) if message.id else NIL)
    parent_id = UUID(bytes=message.parent_id) if message.parent_id else None
    return Standing(key, parent_id, inactive=inactive and message.kind == ObjectKind.WAREHOUSE.value)


def stream_name(stream: StreamId) -> str:
    """What authz calls a stream."""
    return "projects" if stream == PROJECTS else f"warehouse/{stream}"


def _message(numbered: Numbered) -> pb.TreeChange:
    message, change = pb.TreeChange(sequence=numbered.sequence), numbered.change
    match change:
        case Made():
            message.made.object.CopyFrom(object_message(change.object))
            if change.owner is not None:
                message.made.owner.CopyFrom(principal_message(change.owner))
            if change.public_id is not None:
                message.made.public_id = change.public_id.bytes
        case Moved():
            message.moved.object.CopyFrom(object_message(change.object))
        case Switched():
            message.switched.object.CopyFrom(object_message(change.object))
            message.switched.active = change.active
        case Gone():
            message.gone.object.CopyFrom(object_message(change.object))
        case Nothing():
            message.gone.object.CopyFrom(object_message(_NOWHERE))
        case _:
            assert_never(change)
    return message
