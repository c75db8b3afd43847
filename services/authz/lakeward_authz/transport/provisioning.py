"""ProvisioningService: people and groups that identity providers send."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from lakeward_authz.application.caller import Caller
from lakeward_authz.application.members import MemberKind
from lakeward_authz.application.provisioned_groups import (
    ChangeGroup,
    CreateGroup,
    GroupChanges,
    GroupCreations,
    GroupDeletions,
    GroupListings,
    GroupLookup,
    GroupLookups,
    MembersChange,
    ProvisionedGroup,
)
from lakeward_authz.application.provisioned_users import (
    DeleteProvisioned,
    ListProvisioned,
    ProvisionedUserDeletions,
    ProvisionedUserListings,
    ProvisionedUserLookups,
    ProvisionedUserReplacements,
    ReplaceProvisionedUser,
    UserProvisionings,
    id_of,
)
from lakeward_authz.domain.provisioning import (
    DEEPEST,
    TIMES,
    All,
    AnyOf,
    Attribute,
    Comparison,
    Condition,
    Filter,
    Not,
    ProvisionedProfile,
    ProvisionedUser,
)
from lakeward_authz.domain.roles import no_such_role
from lakeward_protocol.authz.v1 import provisioning_pb2 as pb
from lakeward_protocol.authz.v1 import provisioning_pb2_grpc
from lakeward_servicekit.errors import invalid_field

_ATTRIBUTES: Final = {
    value.number: Attribute[value.name.removeprefix("PROVISIONED_ATTRIBUTE_")]
    for value in pb.ProvisionedAttribute.DESCRIPTOR.values
    if value.number
}
_COMPARISONS: Final = {
    value.number: Comparison[value.name.removeprefix("PROVISIONED_COMPARISON_")]
    for value in pb.ProvisionedComparison.DESCRIPTOR.values
    if value.number
}
_TRUTHS: Final = {"true": True, "false": False}
_MEMBER_KINDS: Final = {
    MemberKind.USER: pb.PROVISIONED_MEMBER_KIND_USER,
    MemberKind.ROLE: pb.PROVISIONED_MEMBER_KIND_GROUP,
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ProvisioningServicer(provisioning_pb2_grpc.ProvisioningServiceServicer):
    """Keeps people and groups."""

    create_user: UserProvisionings
    get_user: ProvisionedUserLookups
    list_users: ProvisionedUserListings
    replace_user: ProvisionedUserReplacements
    delete_user: ProvisionedUserDeletions
    create_group: GroupCreations
    get_group: GroupLookups
    list_groups: GroupListings
    change_group: GroupChanges
    delete_group: GroupDeletions

    async def CreateProvisionedUser(
        self, request: pb.CreateProvisionedUserRequest, caller: Caller
    ) -> pb.CreateProvisionedUserResponse:
        """See the contract."""
        made = await self.create_user(_profile(request.profile), caller=caller)
        return pb.CreateProvisionedUserResponse(user=_user(made))

    async def GetProvisionedUser(
        self, request: pb.GetProvisionedUserRequest, caller: Caller
    ) -> pb.GetProvisionedUserResponse:
        """See the contract."""
        return pb.GetProvisionedUserResponse(
            user=_user(await self.get_user(request.id, with_groups=not request.without_groups, caller=caller))
        )

    async def ListProvisionedUsers(
        self, request: pb.ListProvisionedUsersRequest, caller: Caller
    ) -> pb.ListProvisionedUsersResponse:
        """See the contract."""
        found = await self.list_users(_listing(request), with_groups=not request.without_groups, caller=caller)
        return pb.ListProvisionedUsersResponse(users=map(_user, found.users), total=found.total)

    async def ReplaceProvisionedUser(
        self, request: pb.ReplaceProvisionedUserRequest, caller: Caller
    ) -> pb.ReplaceProvisionedUserResponse:
        """See the contract."""
        command = ReplaceProvisionedUser(
            request.id, _profile(request.profile), request.expected_version, with_groups=not request.without_groups
        )
        return pb.ReplaceProvisionedUserResponse(user=_user(await self.replace_user(command, caller=caller)))

    async def DeleteProvisionedUser(
        self, request: pb.DeleteProvisionedUserRequest, caller: Caller
    ) -> pb.DeleteProvisionedUserResponse:
        """See the contract."""
        await self.delete_user(DeleteProvisioned(request.id, request.expected_version), caller=caller)
        return pb.DeleteProvisionedUserResponse()

    async def CreateProvisionedGroup(
        self, request: pb.CreateProvisionedGroupRequest, caller: Caller
    ) -> pb.CreateProvisionedGroupResponse:
        """See the contract."""
        external_id = request.external_id if request.HasField("external_id") else None
        command = CreateGroup(request.display_name, external_id, frozenset(request.members))
        return pb.CreateProvisionedGroupResponse(group=_group(await self.create_group(command, caller=caller)))

    async def GetProvisionedGroup(
        self, request: pb.GetProvisionedGroupRequest, caller: Caller
    ) -> pb.GetProvisionedGroupResponse:
        """See the contract."""
        wanted = GroupLookup(_group_id(request.id), with_members=not request.without_members)
        return pb.GetProvisionedGroupResponse(group=_group(await self.get_group(wanted, caller=caller)))

    async def ListProvisionedGroups(
        self, request: pb.ListProvisionedGroupsRequest, caller: Caller
    ) -> pb.ListProvisionedGroupsResponse:
        """See the contract."""
        found = await self.list_groups(_listing(request), with_members=not request.without_members, caller=caller)
        return pb.ListProvisionedGroupsResponse(groups=map(_group, found.groups), total=found.total)

    async def ChangeProvisionedGroup(
        self, request: pb.ChangeProvisionedGroupRequest, caller: Caller
    ) -> pb.ChangeProvisionedGroupResponse:
        """See the contract."""
        command = ChangeGroup(
            _group_id(request.id),
            request.display_name if request.HasField("display_name") else None,
            request.external_id if request.HasField("external_id") else None,
            tuple(MembersChange(each.clear, frozenset(each.remove), frozenset(each.add)) for each in request.members),
            request.expected_version,
            with_members=not request.without_members,
        )
        return pb.ChangeProvisionedGroupResponse(group=_group(await self.change_group(command, caller=caller)))

    async def DeleteProvisionedGroup(
        self, request: pb.DeleteProvisionedGroupRequest, caller: Caller
    ) -> pb.DeleteProvisionedGroupResponse:
        """See the contract."""
        command = DeleteProvisioned(request.id, request.expected_version)
        await self.delete_group(command, group_id=_group_id(request.id), caller=caller)
        return pb.DeleteProvisionedGroupResponse()


def _group_id(text: str) -> UUID:
    group_id = id_of(text)
    if group_id is None:
        raise no_such_role(repr(text[:64]))
    return group_id


def _profile(message: pb.ProvisionedProfile) -> ProvisionedProfile:
    texts = {"user_name": message.user_name, "external_id": message.external_id}
    for field, text in {**texts, "display_name": message.display_name, "email": message.email}.items():
        if "\0" in text:
            raise invalid_field(field, text.replace("\0", "␀")[:64], "text without a NUL")
    return ProvisionedProfile(
        message.user_name,
        message.external_id if message.HasField("external_id") else None,
        message.display_name if message.HasField("display_name") else None,
        message.email if message.HasField("email") else None,
        message.active,
        message.document,
    )


def _user(user: ProvisionedUser) -> pb.ProvisionedUser:
    profile = user.profile
    made = pb.ProvisionedUser(
        id=str(user.id),
        user_id=user.user_id,
        profile=pb.ProvisionedProfile(
            user_name=profile.user_name,
            external_id=profile.external_id,
            display_name=profile.display_name,
            email=profile.email,
            active=profile.active,
            document=profile.document,
        ),
        version=str(user.version),
        groups=[
            pb.ProvisionedMembership(group_id=str(each.group_id), display=each.display, direct=each.direct)
            for each in user.groups
        ],
    )
    made.created_at.FromDatetime(user.created_at)
    made.updated_at.FromDatetime(user.updated_at)
    return made


def _group(group: ProvisionedGroup) -> pb.ProvisionedGroup:
    role = group.role
    made = pb.ProvisionedGroup(
        id=str(role.role_id),
        display_name=role.name,
        external_id=group.external_id,
        members=[
            pb.ProvisionedMember(id=str(each.id), kind=_MEMBER_KINDS[each.kind], display=each.display)
            for each in group.members or ()
        ],
        version=group.version,
    )
    made.created_at.FromDatetime(role.created_at)
    made.updated_at.FromDatetime(role.updated_at or role.created_at)
    return made


def _listing(request: pb.ListProvisionedUsersRequest | pb.ListProvisionedGroupsRequest) -> ListProvisioned:
    wanted = _filter(request.filter, 1) if request.HasField("filter") else None
    return ListProvisioned(wanted, request.skip, request.count)


def _filter(message: pb.ProvisionedFilter, depth: int) -> Filter:
    if depth > DEEPEST:
        raise invalid_field("filter", f"nested {depth} deep", f"at most {DEEPEST} deep")
    match message.WhichOneof("filter"):
        case "condition":
            return _condition(message.condition)
        case "not":
            return Not(_filter(getattr(message, "not"), depth + 1))
        case "all":
            return All(_several(message.all.filters, depth))
        case "any":
            return AnyOf(_several(message.any.filters, depth))
    raise invalid_field("filter", "nothing", "a condition, or filters that belong together")


def _several(messages: Sequence[pb.ProvisionedFilter], depth: int) -> tuple[Filter, ...]:
    if not messages:
        raise invalid_field("filter", "none", "at least one filter")
    return tuple(_filter(each, depth + 1) for each in messages)


def _condition(message: pb.ProvisionedCondition) -> Condition:
    attribute, comparison = _ATTRIBUTES.get(message.attribute), _COMPARISONS.get(message.comparison)
    if attribute is None or comparison is None:
        raise invalid_field("filter", f"{message.attribute} {message.comparison}", "an attribute and a comparison")
    if comparison is Comparison.PRESENT:
        return Condition(attribute, comparison)
    return Condition(attribute, comparison, _value(attribute, message.value))


def _value(attribute: Attribute, text: str) -> str | bool | datetime:
    if attribute is Attribute.ACTIVE:
        truth = _TRUTHS.get(text.lower())
        if truth is None:
            raise invalid_field("filter", text[:64], "true or false")
        return truth
    if attribute in TIMES:
        with suppress(ValueError, OverflowError):
            moment = datetime.fromisoformat(text)
            return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        raise invalid_field("filter", text[:64], "a moment, as 2026-08-01T12:00:00Z")
    return text
