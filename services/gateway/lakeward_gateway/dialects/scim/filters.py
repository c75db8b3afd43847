"""Filters of SCIM's grammar as authz takes them. What can't be asked of its rows is refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from scim2_models import ScimFilter
from scim2_models.path import (
    AttrPath,
    CompareOperator,
    Comparison,
    FilterNode,
    LogicalExpr,
    LogicalOperator,
    Not,
    Present,
    ValuePath,
)

from lakeward_protocol.authz.v1 import provisioning_pb2 as pb
from lakeward_servicekit.errors import Reason, Refusal

_COMPARISONS: Final[Mapping[CompareOperator, pb.ProvisionedComparison.ValueType]] = {
    CompareOperator.eq: pb.PROVISIONED_COMPARISON_EQUAL,
    CompareOperator.ne: pb.PROVISIONED_COMPARISON_UNEQUAL,
    CompareOperator.co: pb.PROVISIONED_COMPARISON_CONTAINS,
    CompareOperator.sw: pb.PROVISIONED_COMPARISON_STARTS,
    CompareOperator.ew: pb.PROVISIONED_COMPARISON_ENDS,
    CompareOperator.gt: pb.PROVISIONED_COMPARISON_GREATER,
    CompareOperator.ge: pb.PROVISIONED_COMPARISON_AT_LEAST,
    CompareOperator.lt: pb.PROVISIONED_COMPARISON_LESS,
    CompareOperator.le: pb.PROVISIONED_COMPARISON_AT_MOST,
}
_BOTH: Final = {
    "id": pb.PROVISIONED_ATTRIBUTE_ID,
    "externalid": pb.PROVISIONED_ATTRIBUTE_EXTERNAL_ID,
    "displayname": pb.PROVISIONED_ATTRIBUTE_DISPLAY_NAME,
    "meta.created": pb.PROVISIONED_ATTRIBUTE_CREATED_AT,
    "meta.lastmodified": pb.PROVISIONED_ATTRIBUTE_UPDATED_AT,
}
OF_PEOPLE: Final[Mapping[str, pb.ProvisionedAttribute.ValueType]] = {
    **_BOTH,
    "username": pb.PROVISIONED_ATTRIBUTE_USER_NAME,
    "active": pb.PROVISIONED_ATTRIBUTE_ACTIVE,
    "emails": pb.PROVISIONED_ATTRIBUTE_EMAIL,
    "emails.value": pb.PROVISIONED_ATTRIBUTE_EMAIL,
}
OF_GROUPS: Final[Mapping[str, pb.ProvisionedAttribute.ValueType]] = {
    **_BOTH,
    "members": pb.PROVISIONED_ATTRIBUTE_MEMBER,
    "members.value": pb.PROVISIONED_ATTRIBUTE_MEMBER,
}


def filter_of(
    wanted: ScimFilter[Any], attributes: Mapping[str, pb.ProvisionedAttribute.ValueType]
) -> pb.ProvisionedFilter:
    """A filter as authz takes it.

    Args:
        wanted: as it was parsed, which bounds its depth.
        attributes: what can be asked about, by its name in lower case.

    Raises:
        Refusal: INVALID_FIELD.
    """
    return _worded(wanted.ast, attributes, within="")


def _worded(
    node: FilterNode, attributes: Mapping[str, pb.ProvisionedAttribute.ValueType], *, within: str
) -> pb.ProvisionedFilter:
    match node:
        case Comparison(path, operator, value):
            return _condition(_attribute(path, attributes, within), _COMPARISONS[operator], value)
        case Present(path):
            return _condition(_attribute(path, attributes, within), pb.PROVISIONED_COMPARISON_PRESENT, "")
        case Not(inner):
            return pb.ProvisionedFilter(**{"not": _worded(inner, attributes, within=within)})  # type: ignore[arg-type]
        case LogicalExpr(operator, terms):
            several = pb.ProvisionedFilters(filters=[_worded(each, attributes, within=within) for each in terms])
            return (
                pb.ProvisionedFilter(all=several)
                if operator is LogicalOperator.and_
                else pb.ProvisionedFilter(any=several)
            )
        case ValuePath(path, inner, None):
            return _worded(_of_values(inner), attributes, within=f"{_name(path)}.")
    raise _unusable(f"{str(node)[:64]!r} is no comparison")


def _of_values(node: FilterNode) -> FilterNode:
    """What a filter within brackets asks of the values: which of several kinds one is, is not kept apart here."""
    if isinstance(node, LogicalExpr) and node.op is LogicalOperator.and_:
        rest = tuple(each for each in node.terms if not _says_kind(each))
        if len(rest) == 1:
            return rest[0]
        if rest:
            return LogicalExpr(node.op, rest)
    return node


def _says_kind(node: FilterNode) -> bool:
    return (
        isinstance(node, Comparison) and node.op is CompareOperator.eq and _name(node.attr_path) in {"type", "primary"}
    )


def _condition(
    attribute: pb.ProvisionedAttribute.ValueType, comparison: pb.ProvisionedComparison.ValueType, value: object
) -> pb.ProvisionedFilter:
    if value is None:
        # the RFC: `eq null` is to have none
        present = pb.ProvisionedFilter(
            condition=pb.ProvisionedCondition(attribute=attribute, comparison=pb.PROVISIONED_COMPARISON_PRESENT)
        )
        if comparison == pb.PROVISIONED_COMPARISON_UNEQUAL:
            return present
        return pb.ProvisionedFilter(**{"not": present})  # type: ignore[arg-type]
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return pb.ProvisionedFilter(
        condition=pb.ProvisionedCondition(attribute=attribute, comparison=comparison, value=text)
    )


def _attribute(
    path: AttrPath, attributes: Mapping[str, pb.ProvisionedAttribute.ValueType], within: str
) -> pb.ProvisionedAttribute.ValueType:
    name = f"{within}{_name(path)}"
    found = attributes.get(name)
    if found is None:
        raise _unusable(f"{path} can't be asked about; what can is {', '.join(sorted(attributes))}")
    return found


def _name(path: AttrPath) -> str:
    return (f"{path.attr}.{path.sub_attr}" if path.sub_attr else path.attr).lower()


def _unusable(why: str) -> Refusal:
    return Refusal(Reason.REASON_INVALID_FIELD, f"the filter can't be used: {why}", field="invalidFilter", value="")
