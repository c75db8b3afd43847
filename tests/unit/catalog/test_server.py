from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

from lakeward_catalog.application.server import DEFAULT_PROJECT_NAME
from lakeward_catalog.domain.model import NIL_PROJECT
from lakeward_protocol.catalog.v1 import server_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import RULES, House, context, refusal_of
from tests.support.catalog.memory_rows import Fate


def bootstrap(house: House, user: str = "oidc~anna", *, accept: bool = True) -> Any:
    return house.server.Bootstrap(
        server_pb2.BootstrapRequest(context=context(authorization=user), accept_terms_of_use=accept)
    )


async def test_bootstrap_makes_the_caller_administrator_and_the_default_project_with_their_events() -> None:
    house = House()
    await bootstrap(house)
    assert house.identity.administrator == "oidc~anna"
    assert house.catalog.rows.server.bootstrapped
    assert house.catalog.rows.projects[NIL_PROJECT].name == DEFAULT_PROJECT_NAME
    assert house.events() == ["bootstrapServer", "createProject"]


async def test_bootstrap_without_the_terms_of_use_changes_nothing() -> None:
    house = House()
    assert (await refusal_of(bootstrap(house, accept=False))).reason == Reason.REASON_TERMS_NOT_ACCEPTED
    assert house.identity.administrator is None


async def test_bootstrap_works_once() -> None:
    house = House()
    await bootstrap(house)
    for user in ("oidc~anna", "oidc~ben"):
        assert (await refusal_of(bootstrap(house, user))).reason == Reason.REASON_ALREADY_BOOTSTRAPPED
    assert house.identity.administrator == "oidc~anna"


async def test_of_two_bootstraps_at_once_one_wins() -> None:
    house = House()
    results = await asyncio.gather(bootstrap(house), bootstrap(house), return_exceptions=True)
    refused = [each for each in results if isinstance(each, Refusal)]
    assert [each.reason for each in refused] == [Reason.REASON_ALREADY_BOOTSTRAPPED]
    assert house.events() == ["bootstrapServer", "createProject"]


async def test_a_bootstrap_that_stopped_halfway_is_finished_by_its_own_caller_alone() -> None:
    house = House()
    house.catalog.next_commit = Fate.AWAY
    assert (await refusal_of(bootstrap(house))).reason == Reason.REASON_DATABASE_UNAVAILABLE
    assert not house.catalog.rows.projects
    assert (await refusal_of(bootstrap(house, "oidc~ben"))).reason == Reason.REASON_ALREADY_BOOTSTRAPPED
    await bootstrap(house)
    assert house.catalog.rows.server.bootstrapped


async def test_without_a_default_project_none_is_made() -> None:
    house = House(rules=dataclasses.replace(RULES, default_project=None))
    await bootstrap(house)
    assert house.events() == ["bootstrapServer"]
    call = house.server.GetProject(server_pb2.GetProjectRequest())
    assert (await refusal_of(call)).reason == Reason.REASON_PROJECT_MISSING


async def test_a_server_says_what_it_is() -> None:
    house = House()
    info = await house.server.GetServerInfo(server_pb2.GetServerInfoRequest())
    assert (info.bootstrapped, info.default_project_id) == (False, NIL_PROJECT)
    assert list(info.queues) == ["soft_deletion", "tabular_purge"]
    assert info.server_id == str(house.catalog.rows.server.server_id)


async def test_a_project_is_found_by_the_calls_own_word_else_the_default() -> None:
    house = House()
    house.make_project()
    house.make_project("other")
    for named, found in (("", NIL_PROJECT), ("other", "other")):
        reply = await house.server.GetProject(server_pb2.GetProjectRequest(context=context(project_id=named)))
        assert reply.project_id == found
