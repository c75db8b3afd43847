"""Patches of groups, as changes: a group may have more members than one would read to change one of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

from scim2_models import Context, Group, PatchOp, PatchOperation
from scim2_models.path import (
    AttrPath,
    CompareOperator,
    Comparison,
    FilterNode,
    LogicalExpr,
    LogicalOperator,
    PathNode,
    ValuePath,
)

from lakeward_gateway.dialects.scim.resources import POLICY, Document, translated
from lakeward_protocol.authz.v1 import provisioning_pb2 as pb
from lakeward_servicekit.errors import Reason, Refusal

# What a client may repeat of a group in a patch without a path, though it does not change.
_REPEATED: Final = frozenset({"id", "schemas", "meta"})
_OP: Final = PatchOperation.Op


@dataclasses.dataclass(slots=True)
class GroupPatch:
    """What a patch changes; None: nothing.

    Attributes:
        external_id: "" for none any more.
    """

    display_name: str | None = None
    external_id: str | None = None
    members: list[pb.ProvisionedMembersChange] = dataclasses.field(default_factory=list)


def group_patch(document: Document) -> GroupPatch:
    """A patch of a group.

    Raises:
        Refusal: INVALID_FIELD.
    """
    with translated():
        patch = PatchOp[Group].model_validate(document, scim_ctx=Context.RESOURCE_PATCH_REQUEST, scim_policy=POLICY)
    made = GroupPatch()
    for operation in patch.operations or ():
        path = operation.path
        if path is None or not str(path):
            _whole(made, operation.op, operation.value)
        else:
            _at(made, operation.op, path.ast, operation.value)
    return made


def _whole(made: GroupPatch, op: PatchOperation.Op, value: Any) -> None:  # noqa: ANN401 - of whatever the client sent
    if not isinstance(value, dict):
        raise _refused("invalidValue", "an operation without a path has an object of attributes as its value")
    for name, each in value.items():
        if name.lower() not in _REPEATED:
            _attribute(made, op, name.rpartition(":")[2].lower(), each)


def _at(made: GroupPatch, op: PatchOperation.Op, path: PathNode | None, value: object) -> None:
    match path:
        case AttrPath(name, None):
            _attribute(made, op, name.lower(), value)
        case ValuePath(AttrPath(name, None), chosen, None) if name.lower() == "members" and op is _OP.remove:
            made.members.append(pb.ProvisionedMembersChange(remove=_chosen(chosen)))
        case _:
            raise _refused(
                "invalidPath", f"{path} of a group can't be changed; name members, displayName or externalId"
            )


def _attribute(made: GroupPatch, op: PatchOperation.Op, name: str, value: object) -> None:
    match name:
        case "displayname":
            if op is _OP.remove or not isinstance(value, str) or not value:
                raise _refused("invalidValue", "a group has a displayName, which is text")
            made.display_name = value
        case "externalid":
            if op is not _OP.remove and value is not None and not isinstance(value, str):
                raise _refused("invalidValue", "externalId is text")
            made.external_id = "" if op is _OP.remove or value is None else str(value)
        case "members":
            made.members.append(_members(op, value))
        case _:
            # the RFC's models have read it, so it is of nobody, or nothing that is kept of a group
            return


def _members(op: PatchOperation.Op, value: object) -> pb.ProvisionedMembersChange:
    if op is _OP.remove:
        named = member_ids(value)
        return pb.ProvisionedMembersChange(remove=named) if named else pb.ProvisionedMembersChange(clear=True)
    return pb.ProvisionedMembersChange(clear=op is _OP.replace_, add=member_ids(value))


def member_ids(value: object) -> Sequence[str]:
    """The ids of members that are sent as objects, one or several, or as texts.

    Raises:
        Refusal: INVALID_FIELD.
    """
    if value is None:
        return []
    entries = value if isinstance(value, list) else [value]
    ids = [entry.get("value") if isinstance(entry, dict) else entry for entry in entries]
    if not all(isinstance(each, str) and each for each in ids):
        raise _refused("invalidValue", "a member is an object whose value is the id of a user or group")
    return [str(each) for each in ids]


def _chosen(node: FilterNode) -> Sequence[str]:
    """The ids that a filter names: `value eq "..."`, one or several joined by `or`."""
    match node:
        case Comparison(AttrPath(name, None), CompareOperator.eq, str() as value) if name.lower() == "value":
            return [value]
        case LogicalExpr(LogicalOperator.or_, terms):
            return [each for term in terms for each in _chosen(term)]
    raise _refused("invalidPath", f'members are chosen by [value eq "..."], and not by [{str(node)[:64]}]')


def _refused(scim_type: str, message: str) -> Refusal:
    return Refusal(Reason.REASON_INVALID_FIELD, message, field=scim_type, value="")
