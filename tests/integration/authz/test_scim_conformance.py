"""What `scim2-tester` checks of a SCIM server, over the public API with authz as it is started."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlencode
from wsgiref.headers import Headers

import pytest
from scim2_client import BaseSyncSCIMClient
from scim2_client.engines.inprocess import InProcessResponse
from scim2_tester import CheckResult, Status, check_server

from lakeward_components.oidc import OidcProvider
from tests.integration.authz.test_people import ADMINISTRATOR, People, serving
from tests.integration.authz.test_scim import SCIM

pytestmark = pytest.mark.integration


class Client(BaseSyncSCIMClient):
    """Asks in a thread of its own, while the loop serves."""

    def __init__(self, people: People, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._people = people
        self._loop = loop

    def request(self, method: str, url: str, **given: Any) -> InProcessResponse:
        query = f"?{urlencode(given['params'], doseq=True)}" if given.get("params") else ""
        asked = self._people.scim(ADMINISTRATOR, method, f"{url}{query}", given.get("json"))
        reply = asyncio.run_coroutine_threadsafe(asked, self._loop).result()
        made = InProcessResponse(status_code=reply.status_code, headers=Headers([*reply.headers.items()]))
        made.content = reply.content
        return made

    def _parse_json(self, response: Any) -> Any:
        return response.json()


@pytest.fixture
def empty(make_database: Any) -> str:
    return str(make_database())


# Its checks of GET and PATCH go through every attribute there is, which takes minutes; test_scim.py has what clients send.
_CHECKED = {"discovery", "service-provider-config", "misc", "crud:create", "crud:delete"}
_FINE = {Status.SUCCESS, Status.COMPLIANT, Status.ACCEPTABLE, Status.SKIPPED}


async def test_a_server_of_scim_is_what_its_tester_expects(empty: str, oidc: OidcProvider) -> None:
    # a tester that fills in what is required has user names alone
    async with serving(empty, oidc, **SCIM, LAKEWARD__SCIM__USER_ID="userName") as people:
        client = Client(people, asyncio.get_running_loop())
        results: list[CheckResult] = await asyncio.to_thread(check_server, client, include_tags=_CHECKED)
    wrong = [f"{each.title} {each.resource_type}: {each.reason}" for each in results if each.status not in _FINE]
    assert not wrong, "\n".join(wrong)
    done = {(each.title, each.resource_type) for each in results if each.status is Status.SUCCESS}
    for resource in ("User", "Group"):
        assert {(f"object_{verb}", resource) for verb in ("creation", "deletion")} <= done
