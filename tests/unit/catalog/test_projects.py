from __future__ import annotations

import dataclasses
from typing import Any
from uuid import UUID, uuid4

import pytest

from lakeward_catalog.domain.model import NIL_PROJECT, Project, ProjectId
from lakeward_catalog.domain.project_rules import MAX_NAME_BYTES, check_project_name
from lakeward_protocol.catalog.v1 import server_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import ANYTHING, RULES, House, a_house, context, refusal_of
from tests.support.deciding import Rule, TableAuthorizer


def a_house_with(**names: str) -> House:
    """Projects by id."""
    house = House()
    for project_id, name in names.items():
        house.catalog.rows.projects[ProjectId(project_id)] = Project(ProjectId(project_id), name)
    return house


async def listed(house: House) -> list[tuple[str, str]]:
    response = await house.server.ListProjects(server_pb2.ListProjectsRequest())
    return [(each.project_id, each.name) for each in response.projects]


def rename(house: House, name: str, project_id: str = "") -> Any:
    return house.server.RenameProject(
        server_pb2.RenameProjectRequest(context=context(project_id=project_id), name=name)
    )


def create(house: House, name: str, project_id: str | None = None, **said: Any) -> Any:
    return house.server.CreateProject(
        server_pb2.CreateProjectRequest(context=context(**said), name=name, project_id=project_id)
    )


async def test_a_project_is_made_with_a_uuid_or_the_given_id_and_it_is_told() -> None:
    house = House()
    made = (await create(house, "one")).project
    assert (UUID(made.project_id).version, made.name) == (7, "one")
    given = (await create(house, "one", "team-a")).project
    assert (given.project_id, given.name) == ("team-a", "one")
    assert {*house.catalog.rows.projects} == {made.project_id, "team-a"}
    assert house.events() == ["createProject", "createProject"]
    assert (house.event()["projectid"], house.event()["data"]) == (
        "team-a",
        {"project": {"id": "team-a", "name": "one"}},
    )


async def test_an_id_that_a_project_has_is_refused_and_the_project_stays() -> None:
    house = a_house_with(p="one")
    refusal = await refusal_of(create(house, "two", "p"))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_PROJECT_EXISTS, {"project": "p"})
    assert await listed(house) == [("p", "one")]
    assert house.events() == []


@pytest.mark.parametrize("project_id", ["", "a b", "a/b", "\u00e9", "p" * 129])
async def test_an_id_that_none_can_have_makes_no_project(project_id: str) -> None:
    house = House()
    assert (await refusal_of(create(house, "one", project_id))).reason == Reason.REASON_MALFORMED_PROJECT_ID
    assert not house.catalog.rows.projects


async def test_who_may_make_no_project_is_told_that_it_is_forbidden_before_the_name_is_looked_at() -> None:
    house = House()
    house.authorizer.replace(Rule(allows=True, kind=ObjectKind.PROJECT))
    refusal = await refusal_of(create(house, ""))
    assert (refusal.reason, refusal.metadata) == (
        Reason.REASON_FORBIDDEN,
        {"kind": "server", "action": "create_project"},
    )
    house.authorizer.replace(ANYTHING)
    assert (await refusal_of(create(house, ""))).reason == Reason.REASON_INVALID_PROJECT_NAME


async def test_a_creation_that_is_repeated_under_its_key_makes_one_project() -> None:
    house, key = House(), str(uuid4())
    first = await create(house, "one", idempotency_key=key)
    assert await create(house, "one", idempotency_key=key) == first
    assert len(house.catalog.rows.projects) == 1
    other = await refusal_of(create(house, "two", idempotency_key=key))
    assert other.reason == Reason.REASON_IDEMPOTENCY_KEY_REUSED


def delete(house: House, project_id: str = "", **said: Any) -> Any:
    return house.server.DeleteProject(server_pb2.DeleteProjectRequest(context=context(project_id=project_id, **said)))


async def test_the_named_project_goes_else_the_default_and_it_is_told() -> None:
    house = a_house_with(**{NIL_PROJECT: "first", "other": "second", "third": "third"})
    await delete(house, "other")
    assert {*house.catalog.rows.projects} == {NIL_PROJECT, "third"}
    await delete(house)
    assert {*house.catalog.rows.projects} == {"third"}
    assert house.events() == ["deleteProject", "deleteProject"]
    assert house.event(0)["projectid"] == "other"
    assert (await refusal_of(delete(house))).reason == Reason.REASON_NO_SUCH_PROJECT


@pytest.mark.parametrize("active", [True, False])
async def test_a_project_with_a_warehouse_stays_whether_it_serves_or_not(active: bool) -> None:
    house = await a_house()
    house.change_warehouse(active=active)
    before = house.catalog.rows.copy()
    refusal = await refusal_of(delete(house))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_PROJECT_NOT_EMPTY, {"project": NIL_PROJECT})
    assert house.catalog.rows == before


async def test_a_deletion_that_is_repeated_under_its_key_does_not_delete_the_next_of_its_id() -> None:
    house, key = a_house_with(p="one"), str(uuid4())
    await delete(house, "p", idempotency_key=key)
    await create(house, "two", "p")
    await delete(house, "p", idempotency_key=key)
    assert await listed(house) == [("p", "two")]


async def test_projects_are_listed_by_name_without_case_and_those_of_one_name_by_id() -> None:
    house = a_house_with(p4="b", p3="C", p2="a", p1="B")
    assert await listed(house) == [("p2", "a"), ("p1", "B"), ("p4", "b"), ("p3", "C")]


async def test_a_list_shows_the_projects_that_its_caller_sees_alone() -> None:
    house = a_house_with(p1="one", p2="two", p3="three")
    house.authorizer.replace(Rule(allows=True, kind=ObjectKind.PROJECT, id="p2", action=Action.PROJECT_GET_METADATA))
    assert await listed(house) == [("p2", "two")]
    house.authorizer.replace()
    assert await listed(house) == []


async def test_a_list_asks_for_one_set_and_about_no_project_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*questions: object) -> None:
        raise AssertionError(questions)

    house = a_house_with(**{f"p{number}": f"n{number}" for number in range(5)})
    house.authorizer.replace(*(Rule(allows=True, kind=ObjectKind.PROJECT, id=each) for each in ("p0", "p4", "gone")))
    monkeypatch.setattr(TableAuthorizer, "decide", asked)
    assert [project_id for project_id, _ in await listed(house)] == ["p0", "p4"]


async def test_a_list_needs_no_project_to_be_named() -> None:
    house = House(rules=dataclasses.replace(RULES, default_project=None))
    house.make_project("other")
    assert await listed(house) == [("other", "a project")]


async def test_the_named_project_is_renamed_else_the_default_and_it_is_told() -> None:
    house = a_house_with(**{NIL_PROJECT: "first", "other": "second"})
    assert (await rename(house, "1st")).project.name == "1st"
    assert (await rename(house, "2nd", "other")).project.project_id == "other"
    assert {each.project_id: each.name for each in house.catalog.rows.projects.values()} == {
        NIL_PROJECT: "1st",
        "other": "2nd",
    }
    assert house.events() == ["renameProject", "renameProject"]
    event = house.event()
    assert (event["subject"], event["projectid"]) == ("2nd", "other")
    assert event["data"] == {"project": {"id": "other", "name": "2nd"}, "before": {"id": "other", "name": "second"}}


async def test_a_name_that_a_project_has_already_is_no_change() -> None:
    house = a_house_with(other="second")
    assert (await rename(house, "second", "other")).project.name == "second"
    assert house.events() == []


async def test_two_projects_may_have_one_name() -> None:
    house = a_house_with(p="one", q="two")
    await rename(house, "one", "q")
    assert await listed(house) == [("p", "one"), ("q", "one")]


async def test_a_name_is_looked_at_after_the_caller_was_let_in() -> None:
    house = a_house_with(p="one")
    assert (await refusal_of(rename(house, "", "p"))).reason == Reason.REASON_INVALID_PROJECT_NAME
    house.authorizer.replace()
    assert (await refusal_of(rename(house, "", "p"))).reason == Reason.REASON_NO_SUCH_PROJECT
    assert house.catalog.rows.projects[ProjectId("p")].name == "one"


@pytest.mark.parametrize("name", ["", "  ", "n" * (MAX_NAME_BYTES + 1), "\u00e9" * 65, "a\nb", "a\0b", "a\ud800"])
def test_a_name_that_is_empty_too_long_or_not_printable_is_refused(name: str) -> None:
    with pytest.raises(Refusal) as refused:
        check_project_name(name)
    assert refused.value.reason == Reason.REASON_INVALID_PROJECT_NAME


@pytest.mark.parametrize("name", ["n" * MAX_NAME_BYTES, "\u00e9" * 64, "a/b", "Default Project"])
def test_other_names_are_taken(name: str) -> None:
    check_project_name(name)
