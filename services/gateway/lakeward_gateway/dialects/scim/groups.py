"""Groups: what is asked of authz for a request, and what is answered."""

from __future__ import annotations

from collections.abc import Sequence

from scim2_models import Context, Group

from lakeward_gateway.dialects.scim.answers import Listing, one
from lakeward_gateway.dialects.scim.filters import OF_GROUPS
from lakeward_gateway.dialects.scim.group_patches import group_patch, member_ids
from lakeward_gateway.dialects.scim.resources import (
    Shape,
    body_of,
    described_group,
    etag,
    expected_version,
    group_of,
    unchanged,
)
from lakeward_gateway.dialects.scim.searching import Window, base_of, parameters_of
from lakeward_gateway.http import NO_CONTENT, Request, Response
from lakeward_protocol.authz.v1 import provisioning_pb2 as pb
from lakeward_protocol.authz.v1 import provisioning_pb2_grpc


async def create_group(
    request: Request, *, provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub
) -> Response:
    """Make a group."""
    shape, group = Shape(Group, parameters_of(request)), group_of(await body_of(request))
    asked = pb.CreateProvisionedGroupRequest(
        context=request.context, display_name=group.display_name or "", members=_members(group)
    )
    if group.external_id:
        asked.external_id = group.external_id
    made = (await provisioning.CreateProvisionedGroup(asked)).group
    return one(shape, described_group(made, base_of(request)), Context.RESOURCE_CREATION_RESPONSE, status=201)


async def get_group(request: Request, *, provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub) -> Response:
    """One group."""
    (wanted,) = request.arguments
    shape = Shape(Group, parameters_of(request))
    asked = pb.GetProvisionedGroupRequest(
        context=request.context, id=wanted, without_members=not shape.wants("members")
    )
    found = (await provisioning.GetProvisionedGroup(asked)).group
    if unchanged(request, found.version):
        return Response(304, headers=((b"etag", etag(found.version).encode()),), body=b"")
    return one(shape, described_group(found, base_of(request)), Context.RESOURCE_QUERY_RESPONSE)


async def list_groups(
    request: Request, *, provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub
) -> Response:
    """Groups, by a filter in the query."""
    return await _listing(request, provisioning).answer(request, parameters_of(request))


async def search_groups(
    request: Request, *, provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub
) -> Response:
    """Groups, by a filter in the body."""
    return await _listing(request, provisioning).answer(request, await body_of(request))


def _listing(
    request: Request, provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub
) -> Listing[pb.ProvisionedGroup]:
    async def page(
        shape: Shape, window: Window, wanted: pb.ProvisionedFilter | None
    ) -> tuple[Sequence[pb.ProvisionedGroup], int]:
        asked = pb.ListProvisionedGroupsRequest(
            context=request.context,
            skip=window.start - 1,
            count=window.count,
            filter=wanted,
            without_members=not shape.wants("members"),
        )
        found = await provisioning.ListProvisionedGroups(asked)
        return found.groups, found.total

    return Listing(Group, OF_GROUPS, described_group, page)


async def replace_group(
    request: Request, *, provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub
) -> Response:
    """Replace a group and who is in it."""
    (wanted,) = request.arguments
    shape, group = Shape(Group, parameters_of(request)), group_of(await body_of(request), replaces=True)
    asked = pb.ChangeProvisionedGroupRequest(
        context=request.context,
        id=wanted,
        display_name=group.display_name or "",
        external_id=group.external_id or "",
        members=[pb.ProvisionedMembersChange(clear=True, add=_members(group))],
        expected_version=expected_version(request),
        without_members=not shape.wants("members"),
    )
    changed = (await provisioning.ChangeProvisionedGroup(asked)).group
    return one(shape, described_group(changed, base_of(request)), Context.RESOURCE_REPLACEMENT_RESPONSE)


async def patch_group(
    request: Request, *, provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub
) -> Response:
    """Change a group."""
    (wanted,) = request.arguments
    shape, patch = Shape(Group, parameters_of(request)), group_patch(await body_of(request))
    asked = pb.ChangeProvisionedGroupRequest(
        context=request.context,
        id=wanted,
        display_name=patch.display_name,
        external_id=patch.external_id,
        members=patch.members,
        expected_version=expected_version(request),
        without_members=not shape.wants("members"),
    )
    changed = (await provisioning.ChangeProvisionedGroup(asked)).group
    return one(shape, described_group(changed, base_of(request)), Context.RESOURCE_PATCH_RESPONSE)


async def delete_group(
    request: Request, *, provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub
) -> Response:
    """Delete a group."""
    (wanted,) = request.arguments
    asked = pb.DeleteProvisionedGroupRequest(
        context=request.context, id=wanted, expected_version=expected_version(request)
    )
    await provisioning.DeleteProvisionedGroup(asked)
    return NO_CONTENT


def _members(group: Group) -> list[str]:
    return list(member_ids([{"value": member.value} for member in group.members or ()]))
