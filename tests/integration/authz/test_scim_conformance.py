"""What `scim2-tester` checks of a SCIM server, over the public API with authz as it is started."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lakeward_components.oidc import OidcProvider
from tests.integration.authz.test_people import ADMINISTRATOR, serving
from tests.integration.authz.test_scim import SCIM

pytestmark = pytest.mark.integration


@pytest.fixture
def empty(make_database: Any) -> str:
    return str(make_database())


# Its checks of GET and PATCH go through every attribute there is, which takes minutes; test_scim.py has what clients send.
_CHECKED = {"discovery", "service-provider-config", "misc", "crud:create", "crud:delete"}


async def test_a_server_of_scim_is_what_its_tester_expects(empty: str, oidc: OidcProvider) -> None:
    # seconds, which every process that collects tests would spend
    from scim2_tester import CheckResult, Status, check_server

    from tests.support.scim_client import Client

    fine = {Status.SUCCESS, Status.COMPLIANT, Status.ACCEPTABLE, Status.SKIPPED}
    # a tester that fills in what is required has user names alone
    async with serving(empty, oidc, **SCIM, LAKEWARD__SCIM__USER_ID="userName") as people:
        client = Client(people, ADMINISTRATOR, asyncio.get_running_loop())
        results: list[CheckResult] = await asyncio.to_thread(check_server, client, include_tags=_CHECKED)
    wrong = [f"{each.title} {each.resource_type}: {each.reason}" for each in results if each.status not in fine]
    assert not wrong, "\n".join(wrong)
    done = {(each.title, each.resource_type) for each in results if each.status is Status.SUCCESS}
    for resource in ("User", "Group"):
        assert {(f"object_{verb}", resource) for verb in ("creation", "deletion")} <= done
