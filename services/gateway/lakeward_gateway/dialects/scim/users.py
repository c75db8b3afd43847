"""People: what is asked of authz for a request, and what is answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scim2_models import Context

from lakeward_gateway.dialects.scim.answers import Listing, one
from lakeward_gateway.dialects.scim.filters import OF_PEOPLE
from lakeward_gateway.dialects.scim.resources import (
    Person,
    Shape,
    body_of,
    described,
    etag,
    expected_version,
    kept_person,
    patched,
    person_of,
    profile_of,
    shown_version,
    unchanged,
)
from lakeward_gateway.dialects.scim.searching import Window, base_of, parameters_of
from lakeward_gateway.http import NO_CONTENT, Request, Response
from lakeward_protocol.authz.v1 import provisioning_pb2 as pb
from lakeward_protocol.authz.v1 import provisioning_pb2_grpc
from lakeward_servicekit.errors import Reason, Refusal

# Patches of one person that meet are few; a client that sends them at once for ever is told.
_ATTEMPTS: Final = 5


async def create_user(
    request: Request, *, provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub
) -> Response:
    """Record a person."""
    shape = Shape(Person, parameters_of(request))
    profile = profile_of(person_of(await body_of(request)))
    asked = pb.CreateProvisionedUserRequest(context=request.context, profile=profile)
    made = (await provisioning.CreateProvisionedUser(asked)).user
    return one(shape, described(made, base_of(request)), Context.RESOURCE_CREATION_RESPONSE, status=201)


async def get_user(request: Request, *, provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub) -> Response:
    """One person."""
    (wanted,) = request.arguments
    shape = Shape(Person, parameters_of(request))
    asked = pb.GetProvisionedUserRequest(context=request.context, id=wanted, without_groups=not shape.wants("groups"))
    found = (await provisioning.GetProvisionedUser(asked)).user
    version = shown_version(found)
    if unchanged(request, version):
        return Response(304, headers=((b"etag", etag(version).encode()),), body=b"")
    return one(shape, described(found, base_of(request)), Context.RESOURCE_QUERY_RESPONSE)


async def list_users(request: Request, *, provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub) -> Response:
    """People, by a filter in the query."""
    return await _listing(request, provisioning).answer(request, parameters_of(request))


async def search_users(
    request: Request, *, provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub
) -> Response:
    """People, by a filter in the body."""
    return await _listing(request, provisioning).answer(request, await body_of(request))


def _listing(
    request: Request, provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub
) -> Listing[pb.ProvisionedUser]:
    async def page(
        shape: Shape, window: Window, wanted: pb.ProvisionedFilter | None
    ) -> tuple[Sequence[pb.ProvisionedUser], int]:
        asked = pb.ListProvisionedUsersRequest(
            context=request.context,
            skip=window.start - 1,
            count=window.count,
            filter=wanted,
            without_groups=not shape.wants("groups"),
        )
        found = await provisioning.ListProvisionedUsers(asked)
        return found.users, found.total

    return Listing(Person, OF_PEOPLE, described, page)


async def replace_user(
    request: Request, *, provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub
) -> Response:
    """Replace what is known of a person."""
    (wanted,) = request.arguments
    shape = Shape(Person, parameters_of(request))
    asked = pb.ReplaceProvisionedUserRequest(
        context=request.context,
        id=wanted,
        profile=profile_of(person_of(await body_of(request), replaces=True)),
        expected_version=expected_version(request),
        without_groups=not shape.wants("groups"),
    )
    user = (await provisioning.ReplaceProvisionedUser(asked)).user
    return one(shape, described(user, base_of(request)), Context.RESOURCE_REPLACEMENT_RESPONSE)


async def patch_user(request: Request, *, provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub) -> Response:
    """Change a person. One that changed meanwhile is read and patched again, unless the client says which version it means."""
    (wanted,) = request.arguments
    shape, document = Shape(Person, parameters_of(request)), await body_of(request)
    expected = expected_version(request)
    for attempt in range(_ATTEMPTS):
        look = pb.GetProvisionedUserRequest(context=request.context, id=wanted, without_groups=True)
        before = (await provisioning.GetProvisionedUser(look)).user
        asked = pb.ReplaceProvisionedUserRequest(
            context=request.context,
            id=wanted,
            profile=profile_of(patched(kept_person(before), document)),
            expected_version=expected or before.version,
            without_groups=not shape.wants("groups"),
        )
        try:
            user = (await provisioning.ReplaceProvisionedUser(asked)).user
            return one(shape, described(user, base_of(request)), Context.RESOURCE_PATCH_RESPONSE)
        except Refusal as refusal:
            last = expected or attempt == _ATTEMPTS - 1
            if refusal.reason != Reason.REASON_PROVISIONED_CONCURRENTLY or last:
                raise
    raise AssertionError("the last attempt answers or raises")


async def delete_user(
    request: Request, *, provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub
) -> Response:
    """Forget a person."""
    (wanted,) = request.arguments
    asked = pb.DeleteProvisionedUserRequest(
        context=request.context, id=wanted, expected_version=expected_version(request)
    )
    await provisioning.DeleteProvisionedUser(asked)
    return NO_CONTENT
