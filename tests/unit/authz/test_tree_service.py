"""What TreeService refuses, and what it makes of a message."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import pytest

from lakeward_authz.application.permissions import Gone, Made, Moved, Switched, TreeChange
from lakeward_authz.application.tree import ApplyTreeChanges, Place, Standing
from lakeward_authz.domain.permissions.objects import ObjectKey
from lakeward_authz.transport.tree import TreeServicer
from lakeward_protocol.authz.v1 import principals_pb2
from lakeward_protocol.authz.v1 import tree_pb2 as pb
from lakeward_servicekit.authorization.objects import SERVER, ObjectRef
from lakeward_servicekit.authorization.principals import ANONYMOUS, Principal, PrincipalKind, RoleId, UserId, user
from lakeward_servicekit.authorization.wire import object_message, principal_message
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import Caller
from lakeward_servicekit.rpc.call import Call

W, N, T = (UUID(int=number) for number in (1, 2, 3))
PROJECT, WAREHOUSE = ObjectRef.project("p"), ObjectRef.warehouse("p", W)
NAMESPACE = ObjectRef.namespace("p", W, N, parent_id=None)
TABLE = ObjectRef.table("p", W, T, namespace_id=N)


class Told:
    """A tree that remembers what it was told."""

    def __init__(self) -> None:
        self.changes: list[tuple[int, TreeChange]] = []

    async def apply(self, stream: str, changes: Sequence[tuple[int, TreeChange]]) -> int:
        assert stream == "s"
        self.changes += changes
        return changes[-1][0]

    async def manage(self, key: ObjectKey, *, managed: bool) -> bool:
        raise AssertionError((key, managed))


class Listed:
    """A tree that remembers what it was asked for."""

    def __init__(self, *standings: Standing) -> None:
        self.standings = standings
        self.asked: list[object] = []

    async def places(self, *, after: Place | None, limit: int) -> Sequence[Place]:
        self.asked.append((after, limit))
        return [Place("p"), Place("p", W)]

    async def objects(
        self, place: Place, *, after: ObjectKey | None, limit: int, ids: Sequence[UUID] = ()
    ) -> Sequence[Standing]:
        self.asked.append((place, after, limit, list(ids)))
        return self.standings


def made(ref: ObjectRef, owner: Principal | None = None, *, sequence: int = 1) -> pb.TreeChange:
    message = pb.TreeChange(sequence=sequence, made=pb.ObjectMade(object=object_message(ref)))
    if owner is not None:
        message.made.owner.CopyFrom(principal_message(owner))
    return message


def moved(ref: ObjectRef, *, sequence: int = 1) -> pb.TreeChange:
    return pb.TreeChange(sequence=sequence, moved=pb.ObjectMoved(object=object_message(ref)))


def gone(ref: ObjectRef, *, sequence: int = 1) -> pb.TreeChange:
    return pb.TreeChange(sequence=sequence, gone=pb.ObjectGone(object=object_message(ref)))


def switched(ref: ObjectRef, *, active: bool, sequence: int = 1) -> pb.TreeChange:
    return pb.TreeChange(sequence=sequence, switched=pb.ObjectSwitched(object=object_message(ref), active=active))


async def apply(tree: Told, *changes: pb.TreeChange, stream: str = "s") -> int:
    request = pb.ApplyTreeChangesRequest(stream=stream, changes=changes)
    return (
        await TreeServicer(ApplyTreeChanges(tree), Listed()).ApplyTreeChanges(request, Call(Caller.CALLER_CATALOG))
    ).applied


async def test_changes_are_told_as_they_stand() -> None:
    tree, role = Told(), Principal(PrincipalKind.ROLE, UserId("oidc~a"), RoleId(str(UUID(int=9))))
    applied = await apply(
        tree,
        made(PROJECT, user("oidc~ann")),
        made(WAREHOUSE, role, sequence=2),
        made(NAMESPACE, ANONYMOUS, sequence=3),
        made(TABLE, sequence=4),
        moved(TABLE, sequence=5),
        moved(NAMESPACE, sequence=6),
        switched(WAREHOUSE, active=False, sequence=7),
        gone(WAREHOUSE, sequence=8),
    )
    table, namespace = ObjectKey("table", "p", W, T), ObjectKey("namespace", "p", W, N)
    assert applied == 8
    assert tree.changes == [
        (1, Made(ObjectKey("project", "p"), None, "user:oidc~ann")),
        (2, Made(ObjectKey("warehouse", "p", W), None, f"role:{UUID(int=9)}")),
        (3, Made(namespace, None, None)),
        (4, Made(table, N, None)),
        (5, Moved(table, N)),
        (6, Moved(namespace, None)),
        (7, Switched(ObjectKey("warehouse", "p", W), active=False)),
        (8, Gone(ObjectKey("warehouse", "p", W))),
    ]


BAD_ID = principals_pb2.ObjectRef(kind=4, project_id="p", warehouse_id="no uuid", id=N.bytes)
SHORT_PARENT = principals_pb2.ObjectRef(kind=4, project_id="p", warehouse_id=str(W), id=N.bytes, parent_id=b"x")
TOP_TABLE = principals_pb2.ObjectRef(kind=5, project_id="p", warehouse_id=str(W), id=T.bytes)
HELD_WAREHOUSE = principals_pb2.ObjectRef(kind=3, project_id="p", warehouse_id=str(W), parent_id=N.bytes)
NO_ROLE = principals_pb2.Principal(kind=3, role_id="no uuid")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ([], "changes"),
        ([made(PROJECT)] * 1001, "changes"),
        ([made(PROJECT, sequence=0)], "changes.sequence"),
        ([made(PROJECT), made(WAREHOUSE)], "changes.sequence"),
        ([made(PROJECT, sequence=2), made(WAREHOUSE)], "changes.sequence"),
        ([pb.TreeChange(sequence=1)], "changes.change"),
        ([made(SERVER)], "object.kind"),
        ([gone(SERVER)], "object.kind"),
        ([moved(WAREHOUSE)], "object.kind"),
        ([switched(NAMESPACE, active=False)], "object.kind"),
        ([pb.TreeChange(sequence=1, made=pb.ObjectMade(object=BAD_ID))], "object.warehouse_id"),
        ([pb.TreeChange(sequence=1, made=pb.ObjectMade(object=SHORT_PARENT))], "object.parent_id"),
        ([pb.TreeChange(sequence=1, made=pb.ObjectMade(object=TOP_TABLE))], "object.parent_id"),
        ([pb.TreeChange(sequence=1, made=pb.ObjectMade(object=HELD_WAREHOUSE))], "object.parent_id"),
        (
            [pb.TreeChange(sequence=1, made=pb.ObjectMade(object=object_message(PROJECT), owner=NO_ROLE))],
            "owner.role_id",
        ),
    ],
)
async def test_a_message_that_tells_of_nothing_is_refused_and_nothing_is_told(
    changes: list[pb.TreeChange], field: str
) -> None:
    tree = Told()
    with pytest.raises(Refusal) as caught:
        await apply(tree, *changes)
    assert (caught.value.reason, caught.value.metadata["field"]) == (Reason.REASON_INVALID_FIELD, field)
    assert tree.changes == []


@pytest.mark.parametrize("stream", ["", "x" * 129])
async def test_a_stream_has_a_short_name(stream: str) -> None:
    with pytest.raises(Refusal, match="1 to 128 characters"):
        await apply(Told(), made(PROJECT), stream=stream)


async def listed(listing: Listed, request: pb.ListTreeRequest) -> pb.ListTreeResponse:
    return await TreeServicer(ApplyTreeChanges(Told()), listing).ListTree(request, Call(Caller.CALLER_CATALOG))


async def test_objects_are_listed_as_they_were_told_of() -> None:
    listing = Listed(
        Standing(ObjectKey("table", "p", W, T), N),
        Standing(ObjectKey("warehouse", "p", W), None, inactive=True),
        Standing(ObjectKey("role", "p", id=T), None),
    )
    place = pb.TreePlace(project_id="p", warehouse_id=str(W))
    request = pb.ListTreeRequest(place=place, after=object_message(NAMESPACE), limit=7, ids=[T.bytes, bytes(16)])
    reply = await listed(listing, request)
    assert list(reply.objects) == [
        object_message(TABLE),
        object_message(WAREHOUSE),
        object_message(ObjectRef.role("p", T)),
    ]
    assert reply.inactive
    after = ObjectKey("namespace", "p", W, N)
    assert listing.asked == [(Place("p", W), after, 7, [T, UUID(int=0)])]


async def test_places_are_listed_and_a_projects_own_has_no_warehouse() -> None:
    listing, servicer_call = Listed(), Call(Caller.CALLER_CATALOG)
    servicer = TreeServicer(ApplyTreeChanges(Told()), listing)
    first = await servicer.ListTreePlaces(pb.ListTreePlacesRequest(limit=1000), servicer_call)
    assert [(each.project_id, each.warehouse_id) for each in first.places] == [("p", ""), ("p", str(W))]
    await servicer.ListTreePlaces(pb.ListTreePlacesRequest(after=first.places[1], limit=1), servicer_call)
    assert listing.asked == [(None, 1000), (Place("p", W), 1)]


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.ListTreeRequest(limit=1), "place.project_id"),
        (pb.ListTreeRequest(place=pb.TreePlace(project_id="p", warehouse_id="x"), limit=1), "place.warehouse_id"),
        (pb.ListTreeRequest(place=pb.TreePlace(project_id="p")), "limit"),
        (pb.ListTreeRequest(place=pb.TreePlace(project_id="p"), limit=1001), "limit"),
        (pb.ListTreeRequest(place=pb.TreePlace(project_id="p"), limit=1, ids=[b"x"]), "ids"),
        (pb.ListTreeRequest(place=pb.TreePlace(project_id="p"), limit=1, ids=[T.bytes] * 1001), "ids"),
        (
            pb.ListTreeRequest(place=pb.TreePlace(project_id="p"), limit=1, after=principals_pb2.ObjectRef()),
            "after.kind",
        ),
        (
            pb.ListTreeRequest(
                place=pb.TreePlace(project_id="p"), limit=1, after=principals_pb2.ObjectRef(kind=4, id=b"x")
            ),
            "after.id",
        ),
    ],
)
async def test_a_page_that_can_not_be_is_refused(request_: pb.ListTreeRequest, field: str) -> None:
    listing = Listed()
    with pytest.raises(Refusal) as caught:
        await listed(listing, request_)
    assert (caught.value.reason, caught.value.metadata["field"]) == (Reason.REASON_INVALID_FIELD, field)
    assert listing.asked == []
