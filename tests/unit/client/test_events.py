"""Events over a server that is a function: what is asked, what is kept, and what a mirror makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from lakeward import AsyncClient, Client, Events, Retries
from lakeward.cli import lake as cli_lake
from lakeward.cli.events import events as command
from lakeward.errors import AnswerError, ConfigurationError, EventsForgottenError, UnavailableError
from lakeward.events import Event, FilePosition, HeldPosition, Mirror
from lakeward.events.shapes import page_of

WAREHOUSE = "0198e000-0000-7000-8000-000000000001"
WHERE = {"project-id": "p", "warehouse-id": WAREHOUSE, "warehouse": "sales"}


def an_event(number: int, *, kind: str = "table", verb: str = "created", snapshot: bool = False, **data: Any) -> Any:
    """An event as the API shows it."""
    return {
        "position": f"snapshot.x.{number}" if snapshot else str(number),
        "sequence": 7 if snapshot else number,
        "snapshot": snapshot,
        "kind": kind,
        "verb": verb,
        "written-at": "2026-08-01T12:00:00Z",
        "event": {
            "specversion": "1.0",
            "id": f"id-{number}",
            "type": "createTable",
            "subject": "eu.orders",
            "time": "2026-08-01T12:00:00.5Z",
            "principal": "oidc~anna",
            "data": {"where": WHERE, **data},
        },
    }


def a_page(*events: Any, position: str) -> httpx.Response:
    return httpx.Response(200, json={"events": list(events), "position": position, "newest": 9})


def refusal(status: int, kind: str) -> httpx.Response:
    return httpx.Response(status, json={"error": {"type": kind, "message": "no", "code": status}})


class Server:
    def __init__(self, *answers: httpx.Response) -> None:
        self.answers = list(answers)
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        return self.answers.pop(0)

    @property
    def queries(self) -> list[str]:
        return [each.url.query.decode() for each in self.asked]


def events_of(server: Server) -> Events:
    client = Client("http://lake.test", transport=httpx.MockTransport(server), retries=Retries(attempts=1))
    return client.warehouse(WAREHOUSE).events


def test_a_page_says_where_the_next_begins() -> None:
    server = Server(a_page(an_event(3), position="3"))
    page = events_of(server).page("2", limit=10, wait_ms=50)
    assert (page.position, page.newest) == ("3", 9)
    (event,) = page.events
    assert (event.sequence, event.kind, event.verb, event.principal, event.subject) == (
        3,
        "table",
        "created",
        "oidc~anna",
        "eu.orders",
    )
    assert server.asked[0].url.path == f"/management/v1/warehouse/{WAREHOUSE}/events"
    assert server.queries == ["after=2&pageSize=10&waitMs=50"]


def test_a_subscription_goes_from_page_to_page_and_ends_with_the_newest() -> None:
    server = Server(
        a_page(an_event(1, snapshot=True), position="snapshot.x.1"),
        a_page(an_event(8), position="8"),
        a_page(position="8"),
    )
    kept = HeldPosition()
    assert [each.position for each in events_of(server).subscribe(kept, follow=False)] == ["snapshot.x.1", "8"]
    assert kept.load() == "8"
    assert [query.partition("&")[0] for query in server.queries] == ["after=beginning", "after=snapshot.x.1", "after=8"]


def test_what_was_processed_is_kept_and_what_failed_is_not() -> None:
    kept = HeldPosition("now")

    def process() -> None:
        for event in events_of(Server(a_page(an_event(1), an_event(2), an_event(3), position="3"))).subscribe(kept):
            if event.sequence == 3:
                raise RuntimeError("it failed")

    with pytest.raises(RuntimeError):
        process()
    assert kept.load() == "2"


def test_where_now_was_is_kept_before_anything_comes() -> None:
    kept = HeldPosition("now")
    assert not [*events_of(Server(a_page(position="41"))).subscribe(kept, follow=False)]
    assert kept.load() == "41"


async def test_a_twin_that_awaits_does_the_same() -> None:
    server = Server(a_page(an_event(1), position="1"), a_page(position="1"))
    async with AsyncClient("http://lake.test", transport=httpx.MockTransport(server)) as lake:
        found = [each.sequence async for each in lake.warehouse(WAREHOUSE).events.subscribe("0", follow=False)]
    assert found == [1]


@pytest.mark.parametrize(
    ("answer", "raised"),
    [
        (refusal(410, "EventsForgotten"), EventsForgottenError),
        (refusal(503, "EventsBehind"), UnavailableError),
        (httpx.Response(200, json={"events": [{}], "position": "1", "newest": 1}), AnswerError),
        (httpx.Response(200, json=[]), AnswerError),
    ],
)
def test_what_ends_a_reading_says_why(answer: httpx.Response, raised: type[Exception]) -> None:
    with pytest.raises(raised):
        list(events_of(Server(answer)).subscribe("1", follow=False))


def test_a_server_that_is_away_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakeward._sync.events._AWAY_SECONDS", 0.0)
    server = Server(refusal(503, "EventsBehind"), a_page(an_event(1), position="1"))
    assert next(iter(events_of(server).subscribe("0"))).sequence == 1


def test_a_position_in_a_file_outlives_its_reader(tmp_path: Path) -> None:
    path = tmp_path / "position"
    assert FilePosition(path, first="now").load() == "now"
    FilePosition(path).keep("120")
    assert FilePosition(path).load() == "120"
    assert [each.name for each in tmp_path.iterdir()] == ["position"]


@pytest.mark.parametrize("content", ["", "a b", "x" * 300, "a\x00b"])
def test_a_file_that_holds_no_position_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "position"
    path.write_text(content)
    with pytest.raises(ConfigurationError, match="position"):
        FilePosition(path).load()


def _events(*shown: Any) -> list[Event]:
    return list(page_of({"events": list(shown), "position": "9", "newest": 9}).events)


def _namespace(namespace_id: str, *path: str, parent: str | None = None) -> dict[str, Any]:
    return {"id": namespace_id, "path": list(path), "parent-id": parent, "location": "s3://lake/", "properties": {}}


def _table(incarnation: str, name: str, **members: Any) -> dict[str, Any]:
    return {
        "type": "table",
        "id": f"id-{incarnation}",
        "incarnation": incarnation,
        "name": name,
        "location": "s3://t",
        **members,
    }


def _in(namespace_id: str) -> dict[str, Any]:
    return {"where": {**WHERE, "namespace": ["a"], "namespace-id": namespace_id}}


def test_what_is_inside_of_a_namespace_moves_with_it_in_a_mirror() -> None:
    mirror = Mirror(sequence=0)
    for event in _events(
        an_event(1, kind="namespace", namespace=_namespace("n", "a")),
        an_event(2, kind="namespace", namespace=_namespace("m", "a", "b", parent="n")),
        an_event(3, tabular=_table("t", "orders"), **_in("m")),
        an_event(4, kind="namespace", verb="moved", namespace=_namespace("n", "z"), before=_namespace("n", "a")),
    ):
        mirror.apply(event)
    assert mirror.path(mirror.tabulars["t"]) == ("z", "b", "orders")


def test_an_event_changes_in_a_mirror_what_its_verb_says_and_nothing_else() -> None:
    mirror = Mirror()
    old = _table("t", "orders", **{"metadata-location": "s3://0"})
    for event in _events(
        an_event(1, tabular=old, **_in("n")),
        an_event(2, verb="renamed", tabular={**old, "name": "sold"}, **_in("m")),
        an_event(3, verb="committed", tabular={**old, "metadata-location": "s3://1"}, **_in("n")),
        an_event(4, verb="protection-updated", tabular={**old, "protected": True}, **_in("n")),
        an_event(5, verb="dropped", soft=True, tabular=old, **_in("n")),
        an_event(6, verb="undropped", tabular=old, **_in("n")),
        an_event(7, verb="measured", tabular=old, **_in("n")),
    ):
        mirror.apply(event)
    found = mirror.tabulars["t"]
    assert (found.tabular.name, found.namespace_id, found.dropped) == ("sold", "m", False)
    assert (found.tabular.metadata_location, found.tabular.protected) == ("s3://1", True)


def test_tags_go_with_what_they_are_on_in_a_mirror_and_stay_while_it_can_be_restored() -> None:
    mirror = Mirror()
    tag = {"target": {"type": "table", "id": "id-t"}, "definition": {"id": "d"}, "value": "low"}
    created, tagged, soft, gone = _events(
        an_event(1, tabular=_table("t", "orders"), **_in("n")),
        an_event(2, kind="tag", verb="applied", **tag),
        an_event(3, verb="dropped", soft=True, tabular=_table("t", "orders"), **_in("n")),
        an_event(4, verb="dropped", soft=False, expired=True, tabular=_table("t", "orders"), **_in("n")),
    )
    for event in (created, tagged, soft, tagged):  # one that came before changes nothing
        mirror.apply(event)
    assert mirror.tabulars["t"].dropped
    assert list(mirror.tags.values()) == ["low"]
    mirror.apply(gone)
    assert not mirror.tabulars
    assert not mirror.tags


def test_a_mirror_takes_no_gap_and_forgets_what_a_new_snapshot_does_not_name() -> None:
    mirror = Mirror()
    first, _, third = _events(*(an_event(number, tabular=_table("t", "orders"), **_in("n")) for number in (1, 2, 3)))
    mirror.apply(first)
    with pytest.raises(ValueError, match="missing"):
        mirror.apply(third)
    begins, ends = _events(
        an_event(1, kind="warehouse", verb="snapshot", snapshot=True, warehouse={"name": "sales"}),
        an_event(2, kind="warehouse", verb="snapshot-completed", snapshot=True, warehouse={"name": "sales"}),
    )
    mirror.apply(begins)
    assert not mirror.complete
    mirror.apply(ends)
    assert (mirror.complete, mirror.tabulars, mirror.sequence) == (True, {}, 7)


def test_the_command_shows_what_there_is_and_scripts_have_all_of_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server = Server(
        a_page(an_event(1), an_event(2, kind="namespace"), position="2"), a_page(position="2"), a_page(position="2")
    )
    client = Client("http://lake.test", transport=httpx.MockTransport(server))
    monkeypatch.setattr(cli_lake, "_client", lambda *_: client)
    kept = tmp_path / "position"
    asked = ["replay", WAREHOUSE, "--kind", "table", "--json", "--position-file", str(kept)]
    ran = CliRunner().invoke(command, asked)
    (line,) = ran.output.splitlines()
    assert (json.loads(line)["position"], json.loads(line)["event"]["id"]) == ("1", "id-1")
    assert kept.read_text() == "2\n"


def test_people_are_shown_a_line_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(a_page(an_event(12), position="12"), a_page(position="12"))
    client = Client("http://lake.test", transport=httpx.MockTransport(server))
    monkeypatch.setattr(cli_lake, "_client", lambda *_: client)
    ran = CliRunner().invoke(command, ["replay", WAREHOUSE, "--from", "11"])
    assert ran.output.split() == ["12", "2026-08-01", "12:00:00", "table.created", "eu.orders", "oidc~anna"]
    assert server.queries[0].startswith("after=11&")


@pytest.mark.parametrize(
    ("named", "path", "service", "project"),
    [
        (["--of-project", "--project", "p"], "/management/v1/project/events", "catalog", "p"),
        (["--of-project", "--service", "authz"], "/management/v1/project/events", "authz", None),
        (["--server", "--service", "vending"], "/management/v1/server/events", "vending", None),
    ],
)
def test_the_command_names_the_streams_of_a_project_and_of_the_server(
    monkeypatch: pytest.MonkeyPatch, named: list[str], path: str, service: str, project: str | None
) -> None:
    server = Server(a_page(an_event(1, kind="role"), position="1"), a_page(position="1"))
    transport = httpx.MockTransport(server)
    monkeypatch.setattr(
        cli_lake, "_client", lambda *given: Client("http://lake.test", project=given[3], transport=transport)
    )
    ran = CliRunner().invoke(command, ["replay", *named])
    assert "role.created" in ran.output
    (first, *_) = server.asked
    assert (first.url.path, first.url.params["service"]) == (path, service)
    assert first.headers.get("x-project-id") == project


@pytest.mark.parametrize(
    "named", [[], ["sales", "--server"], ["--of-project", "--server"], ["sales", "--service", "authz"]]
)
def test_the_command_takes_one_stream_alone(monkeypatch: pytest.MonkeyPatch, named: list[str]) -> None:
    monkeypatch.setattr(cli_lake, "_client", lambda *_: Client("http://lake.test"))
    ran = CliRunner().invoke(command, ["tail", *named])
    assert ran.exit_code == 2
    assert "Usage" in ran.output


async def test_a_client_names_a_projects_and_the_servers_streams() -> None:
    server = Server(a_page(an_event(1), position="1"), a_page(position="1"))
    async with AsyncClient("http://lake.test", project="mine", transport=httpx.MockTransport(server)) as lake:
        await lake.project_events("theirs", service="authz").page("now")
        await lake.server_events().page("now")
    of_project, of_server = server.asked
    assert of_project.headers["x-project-id"] == "theirs"
    assert (of_project.url.params["service"], of_project.url.params["after"]) == ("authz", "now")
    assert (of_server.url.path, of_server.url.params["service"]) == ("/management/v1/server/events", "catalog")
