"""Explanations over HTTP: what is asked of catalog and authz, and how the answer looks."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward_protocol.authz.v1 import grants_pb2, principals_pb2
from lakeward_protocol.catalog.v1 import names_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.unit.gateway.fakes import WAREHOUSE, World, error_of

ID = "0198e000-0000-7000-8000-0000000000aa"
ROLE = "0198e000-0000-7000-8000-0000000000bb"
EXPLAIN = "/management/v1/permissions/explain"
IN_WAREHOUSE = grants_pb2.ObjectName(kind=principals_pb2.OBJECT_KIND_WAREHOUSE, warehouse_id=WAREHOUSE)
SHOWN = {"type": "warehouse", "warehouse-id": WAREHOUSE}
BY_PATH: dict[str, Any] = {"warehouse-id": WAREHOUSE, "namespace": ["a"], "table": "t"}


async def test_grants_that_an_answer_follows_from_are_shown_with_roles_and_places(served: World) -> None:
    named = grants_pb2.GrantSource(
        object=IN_WAREHOUSE,
        grant=grants_pb2.GrantEntry(grantee=grants_pb2.Grantee(role_id=ROLE), privilege="modify"),
        roles=[ID, ROLE],
    )
    served.authz.answers["ExplainAccess"] = grants_pb2.ExplainAccessResponse(
        allowed=True,
        ground=grants_pb2.GROUND_GRANTS,
        because=[grants_pb2.GrantSources(sources=[named, grants_pb2.GrantSource(object=IN_WAREHOUSE)])],
    )
    served.catalog.answers["FindByName"] = names_pb2.FindByNameResponse(ids=[ID])
    response = await served.client.post(
        EXPLAIN, json={"operation": {"table": {"action": "write_data", **BY_PATH}}, "identity": {"user": "oidc~a"}}
    )
    hidden = {"resource": SHOWN, "principal": None, "privilege": None, "through-roles": []}
    assert response.json() == {
        "allowed": True,
        "ground": "grants",
        "because": [
            [
                {
                    "resource": SHOWN,
                    "principal": {"role": ROLE},
                    "privilege": "modify",
                    "through-roles": [ID, ROLE],
                },
                hidden,
            ]
        ],
        "shown-by": [],
        "managed-by": [],
        "remedies": [],
    }
    (asked,) = served.authz.asked
    assert (asked.check.object.id, asked.check.called, asked.check.action) == (ID, "a.t", "write_data")
    assert asked.check.grantee == grants_pb2.Grantee(user_id="oidc~a")


async def test_what_would_do_is_shown_with_who_could_give_it(served: World) -> None:
    served.authz.answers["ExplainAccess"] = grants_pb2.ExplainAccessResponse(
        ground=grants_pb2.GROUND_GRANTS,
        managed_by=[IN_WAREHOUSE],
        remedies=[
            grants_pb2.GrantRemedy(
                object=IN_WAREHOUSE,
                privilege="modify",
                giving="grant_modify",
                givers=[grants_pb2.Grantee(user_id="oidc~b"), grants_pb2.Grantee(role_id=ROLE)],
            )
        ],
    )
    operation = {"warehouse": {"action": {"action": "delete"}, "warehouse-id": WAREHOUSE}}
    found = (await served.client.post(EXPLAIN, json={"operation": operation})).json()
    assert (found["allowed"], found["managed-by"]) == (False, [SHOWN])
    assert found["remedies"] == [
        {
            "resource": SHOWN,
            "privilege": "modify",
            "right-to-give": "grant_modify",
            "givers": [{"user": "oidc~b"}, {"role": ROLE}],
        }
    ]


@pytest.mark.parametrize(
    ("ground", "word"),
    [(grants_pb2.GROUND_OPEN, "everything-is-allowed"), (grants_pb2.GROUND_INSTANCE, "instance-admin")],
)
async def test_an_answer_that_rests_on_no_grant_says_on_what(served: World, ground: Any, word: str) -> None:
    served.authz.answers["ExplainAccess"] = grants_pb2.ExplainAccessResponse(allowed=True, ground=ground)
    found = (await served.client.post(EXPLAIN, json={"operation": {"server": {"action": "grant_admin"}}})).json()
    assert (found["allowed"], found["ground"], found["because"]) == (True, word, [])


async def test_about_another_it_is_for_who_reads_grants_and_no_word_is_made_up(served: World) -> None:
    served.authz.answers["ExplainAccess"] = Refusal(Reason.REASON_FORBIDDEN, "x", kind="server", action="a")
    response = await served.client.post(EXPLAIN, json={"operation": {"server": {"action": "list_users"}}})
    assert (error_of(response)["code"], error_of(response)["type"]) == (403, "CannotInspectPermissions")
    response = await served.client.post(EXPLAIN, json={"operation": {"server": {"action": "shout"}}})
    assert error_of(response)["code"] == 400
    assert len(served.authz.asked) == 1
