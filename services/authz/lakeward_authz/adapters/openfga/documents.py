"""The model as OpenFGA's API takes it."""

from __future__ import annotations

from typing import Any, Final

from lakeward_authz.domain.permissions.language import (
    AllOf,
    AnyOf,
    Computed,
    Direct,
    Except,
    Restriction,
    Rule,
    Through,
    Types,
    direct,
)

_SCHEMA: Final = "1.1"


def authorization_model(types: Types) -> dict[str, Any]:
    """The body of WriteAuthorizationModel."""
    return {
        "schema_version": _SCHEMA,
        "type_definitions": [
            {
                "type": name,
                "relations": {relation: _userset(rule) for relation, rule in relations.items()},
                "metadata": {
                    "relations": {
                        relation: {"directly_related_user_types": [_restriction(one) for one in direct(rule)]}
                        for relation, rule in relations.items()
                    }
                },
            }
            for name, relations in types.items()
        ],
    }


def _userset(rule: Rule) -> dict[str, Any]:
    match rule:
        case Direct():
            return {"this": {}}
        case Computed(relation):
            return {"computedUserset": {"relation": relation}}
        case Through(relation, link):
            return {"tupleToUserset": {"tupleset": {"relation": link}, "computedUserset": {"relation": relation}}}
        case AnyOf(operands):
            return {"union": {"child": [_userset(operand) for operand in operands]}}
        case AllOf(operands):
            return {"intersection": {"child": [_userset(operand) for operand in operands]}}
        case Except(base, without):
            return {"difference": {"base": _userset(base), "subtract": _userset(without)}}


def _restriction(one: Restriction) -> dict[str, Any]:
    if one.wildcard:
        return {"type": one.type, "wildcard": {}}
    return {"type": one.type, "relation": one.relation} if one.relation else {"type": one.type}
