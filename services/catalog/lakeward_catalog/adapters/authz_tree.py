"""Authz's tree of objects, over a channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from lakeward_catalog.application.tree import PROJECTS, Gone, Made, Moved, Nothing, Numbered, StreamId
from lakeward_protocol.authz.v1 import tree_pb2 as pb
from lakeward_protocol.authz.v1 import tree_pb2_grpc
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.wire import object_message, principal_message
from lakeward_servicekit.rpc import Channel, stub

# Whole namespaces may go in one change; nobody waits this long for it.
_SECONDS: Final = 60.0
_NIL: Final = bytes(16)
# No object is called so: that it is gone changes nothing, and takes a number.
_NOWHERE: Final = ObjectRef(ObjectKind.NAMESPACE, "-", "00000000-0000-0000-0000-000000000000", _NIL)


class RemoteTree:
    """`Tree` over a channel to authz."""

    def __init__(self, channel: Channel) -> None:
        """Tell over `channel`."""
        self._stub: tree_pb2_grpc.TreeServiceAsyncStub = stub(tree_pb2_grpc.TreeServiceStub, channel)

    async def apply(self, stream: StreamId, changes: Sequence[Numbered]) -> int:
        """See `Tree`."""
        request = pb.ApplyTreeChangesRequest(stream=stream_name(stream), changes=map(_message, changes))
        return (await self._stub.ApplyTreeChanges(request, timeout=_SECONDS)).applied


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
        case Gone():
            message.gone.object.CopyFrom(object_message(change.object))
        case Nothing():
            message.gone.object.CopyFrom(object_message(_NOWHERE))
        case _:
            assert_never(change)
    return message
