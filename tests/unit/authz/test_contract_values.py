"""The values that services ask with are the contract's, in both directions."""

from __future__ import annotations

import enum

import pytest
from google.protobuf.descriptor import EnumDescriptor

from lakeward_protocol.authz.v1 import decisions_pb2, principals_pb2
from lakeward_servicekit.authorization.actions import DATA, SEEING, Action
from lakeward_servicekit.authorization.authorizer import Demand, Need, Outcome, refuse
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import (
    ANONYMOUS,
    SERVICE,
    Principal,
    PrincipalKind,
    RoleId,
    UserId,
    user,
)
from lakeward_servicekit.authorization.wire import decide_request, principal_message, principal_of
from lakeward_servicekit.errors import Reason, Refusal, rule_of

PROJECT = ObjectRef.project("p")


@pytest.mark.parametrize(
    ("ours", "contract", "prefix"),
    [
        (Action, principals_pb2.Action.DESCRIPTOR, "ACTION_"),
        (ObjectKind, principals_pb2.ObjectKind.DESCRIPTOR, "OBJECT_KIND_"),
        (PrincipalKind, principals_pb2.PrincipalKind.DESCRIPTOR, "PRINCIPAL_KIND_"),
        (Outcome, decisions_pb2.Outcome.DESCRIPTOR, "OUTCOME_"),
    ],
)
def test_every_value_of_the_contract_has_ours_and_nothing_more(
    ours: type[enum.IntEnum], contract: EnumDescriptor, prefix: str
) -> None:
    expected = {value.name.removeprefix(prefix): value.number for value in contract.values if value.number}
    assert {member.name: member.value for member in ours} == expected


def test_seeing_a_kind_is_an_action_of_that_kind() -> None:
    assert all(action.kind is kind for kind, action in SEEING.items())
    assert set(SEEING) == {action.kind for action in Action} - {ObjectKind.SERVER}
    assert all(action.sight == SEEING.get(action.kind, action) for action in Action)
    assert {action for action in Action if action.word in {"read_data", "write_data", "select"}} == DATA


def test_no_two_principals_share_a_key() -> None:
    principals = [ANONYMOUS, SERVICE, user("oidc~anonymous"), user("oidc~service")]
    principals += [Principal(PrincipalKind.ROLE, UserId("oidc~a"), RoleId(role)) for role in "xy"]
    named = [(), ("oidc~r",), ("oidc~r", "oidc~s"), ("oidc~r', 'oidc~s",)]
    principals += [Principal(PrincipalKind.USER, UserId("oidc~a"), token_roles=roles) for roles in named]
    assert len({principal.key for principal in principals}) == len(principals)


def test_a_principal_survives_the_trip() -> None:
    principal = Principal(PrincipalKind.ROLE, UserId("oidc~a@b"), RoleId("r"), ("trino",))
    assert principal_of(principal_message(principal)) == principal
    named = Principal(PrincipalKind.USER, UserId("oidc~a"), token_roles=("oidc~r", "oidc~s"))
    assert principal_of(principal_message(named)) == named
    with pytest.raises(ValueError, match="kind 0"):
        principal_of(principals_pb2.Principal())


def test_a_question_keeps_the_order_of_its_demands() -> None:
    demands = [
        Demand(PROJECT, Action.PROJECT_GET_METADATA),
        Demand(ObjectRef.project("q"), Action.PROJECT_GET_METADATA),
        Demand(PROJECT, Action.PROJECT_CREATE_WAREHOUSE),
    ]
    asked = decide_request(ANONYMOUS, demands).demands
    assert [(demand.object.project_id, demand.action) for demand in asked] == [("p", 12), ("q", 12), ("p", 10)]


def absent() -> Refusal:
    keys = rule_of(Reason.REASON_NO_SUCH_TABLE).metadata_keys
    return Refusal(Reason.REASON_NO_SUCH_TABLE, "there is no such thing", **dict.fromkeys(keys, "t"))


NEED = Need(Demand(PROJECT, Action.PROJECT_CREATE_WAREHOUSE), absent)


def test_what_is_allowed_is_not_refused() -> None:
    refuse(NEED, Outcome.ALLOWED)


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [(Outcome.DENIED, Reason.REASON_FORBIDDEN), (Outcome.HIDDEN, Reason.REASON_NO_SUCH_TABLE)],
)
def test_what_is_denied_is_forbidden_and_what_is_hidden_is_not_there(
    outcome: Outcome, reason: Reason.ValueType
) -> None:
    with pytest.raises(Refusal) as refused:
        refuse(NEED, outcome)
    assert refused.value.reason == reason


def test_a_denial_names_the_kind_and_the_action() -> None:
    with pytest.raises(Refusal) as refused:
        refuse(NEED, Outcome.DENIED)
    assert refused.value.metadata == {"kind": "project", "action": "create_warehouse"}
