"""`lakeward up --secure`: three people, with the rights and the snippets that it prints."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from lakeward_components.openfga import OpenFgaServer
from lakeward_pipelines import java
from tests.support import ivy
from tests.support.engines import SHORT
from tests.support.http import NOBODY
from tests.support.up import SECONDS, Start, Up, starting, wait

pytestmark = pytest.mark.integration

PEOPLE = ("admin", "writer", "reader")
SECURE = ("--secure",)
OPENFGA = {"LAKEKEEPER__AUTHZ_BACKEND": "openfga"}
_SHELL_SECONDS = 600


def printed(up: Up) -> dict[str, str]:
    """What is printed, by what stands above it: people by their names, and engines."""
    found = re.findall(r"^(\w+)(?:, who [^\n]+)?:\n\n(.+?)\n(?=\n|\Z|\{)", up.said(), re.MULTILINE | re.DOTALL)
    return dict(found)


def shell(command: str, token: str, *, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run what was printed as it stands."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "LAKEWARD_TOKEN": token,
        "JAVA_HOME": str(java.home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SUBMIT_OPTS": SHORT,
    }
    return subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        timeout=_SHELL_SECONDS,
        env=environment,
        cwd=cwd,
    )


def fresh_token(name: str, home: Path) -> subprocess.CompletedProcess[str]:
    """`lakeward token`."""
    command = [sys.executable, "-m", "lakeward_cli", "token", name]
    environment = {**os.environ, "LAKEWARD_HOME": str(home)}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)


def client(up: Up, token: str) -> httpx.Client:
    return httpx.Client(verify=NOBODY, base_url=up.url, headers={"authorization": f"Bearer {token}"}, timeout=60)


def prefix(http: httpx.Client) -> str:
    config = http.get("/catalog/v1/config", params={"warehouse": "demo"}).raise_for_status().json()
    return str({**config["defaults"], **config["overrides"]}["prefix"])


@dataclass(frozen=True, slots=True)
class Secured(Up):
    """One that runs, and where."""

    home: Path


class House:
    """A home for all tests that leave it as it is; whoever ends what runs there is not missed by the next one."""

    def __init__(self, start: Start, home: Path) -> None:
        self._start = start
        self._home = home
        self._up: Up | None = None

    def secured(self) -> Secured:
        """What runs there."""
        if self._up is None or self._up.process.poll() is not None:
            self._up = begun(self._start)
        return Secured(self._up.process, self._up.url, self._up.output, self._home)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("secured")
    with starting(folder) as start:
        yield House(start, folder / "home")


@pytest.fixture
def secured(house: House) -> Secured:
    return house.secured()


def begun(start: Start, **variables: str) -> Up:
    """A secure one that has said all that it says at its start."""
    up: Up = start(arguments=SECURE, variables=variables)
    up.ready()
    wait(lambda: "\ncurl:\n" in up.said())
    return up


def test_each_persons_printed_curl_works_and_nobody_else_is_let_in(secured: Secured) -> None:
    shown = printed(secured)
    for name in PEOPLE:
        answered = shell(shown[name], "")
        assert '"prefix"' in answered.stdout, (name, answered.stdout, answered.stderr)
    assert httpx.get(f"{secured.url}/catalog/v1/config", params={"warehouse": "demo"}).status_code == 401


def test_the_reader_is_refused_a_write_by_an_error_that_says_so_and_the_writer_is_not(
    secured: Secured, tmp_path: Path
) -> None:
    tokens = {name: fresh_token(name, secured.home).stdout.strip() for name in PEOPLE}
    schema = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "n", "type": "long", "required": False}]}
    with client(secured, tokens["writer"]) as http:
        tables = f"/catalog/v1/{prefix(http)}/namespaces/default/tables"
        http.post(tables, json={"name": "theirs", "schema": schema}).raise_for_status()
    with client(secured, tokens["reader"]) as http:
        http.get(f"{tables}/theirs", headers={"x-iceberg-access-delegation": "vended-credentials"}).raise_for_status()
        refused = http.delete(f"{tables}/theirs")
        assert (refused.status_code, refused.json()["error"]["type"]) == (403, "TableActionForbidden")
        assert refused.json()["error"]["message"] == "you see this table and may not drop; ask who manages its grants"
    with client(secured, tokens["admin"]) as http:
        http.delete(f"{tables}/theirs").raise_for_status()
    for name in PEOPLE:
        script = tmp_path / "printed.py"
        script.write_text(printed(secured)["PyIceberg"])
        answered = shell(f"{sys.executable} {script}", tokens[name])
        assert "('default',)" in answered.stdout, answered.stderr


def asked_why(up: Secured, token: str, *question: str) -> subprocess.CompletedProcess[str]:
    """`lakeward why`, by who holds the token."""
    command = [sys.executable, "-m", "lakeward_cli", "why", *question]
    environment = {**os.environ, "LAKEWARD_TOKEN": token, "LAKEWARD_URL": up.url}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)


def test_why_says_what_lets_the_reader_read_and_what_would_let_it_write(secured: Secured) -> None:
    tokens = {name: fresh_token(name, secured.home).stdout.strip() for name in PEOPLE}
    schema = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "n", "type": "long", "required": False}]}
    with client(secured, tokens["writer"]) as http:
        tables = f"/catalog/v1/{prefix(http)}/namespaces/default/tables"
        http.post(tables, json={"name": "asked", "schema": schema}).raise_for_status()
    with client(secured, tokens["reader"]) as http:
        assert prefix(http)  # the request makes its caller known
        reader = http.get("/management/v1/whoami").raise_for_status().json()["id"]
    table = "table/demo/default.asked"

    allowed = asked_why(secured, tokens["reader"], "me", "read_data", table)
    assert allowed.returncode == 0, allowed.stderr
    assert allowed.stdout.startswith(f"yes: me may read_data on {table}\n  by select on warehouse ")
    assert allowed.stdout.endswith(f" to {reader}\n")

    refused = asked_why(secured, tokens["reader"], "me", "write_data", table)
    assert refused.returncode == 1, refused.stderr
    assert refused.stdout.startswith(f"no: me may not write_data on {table}")

    by_admin = asked_why(secured, tokens["admin"], reader, "write_data", table)
    assert by_admin.returncode == 1, by_admin.stderr
    assert "  modify on table" in by_admin.stdout
    assert "would do; to be given by" in by_admin.stdout

    about_another = asked_why(secured, tokens["reader"], "oidc~somebody", "read_data", table)
    assert about_another.returncode == 2
    with client(secured, tokens["admin"]) as http:
        http.delete(f"{tables}/asked").raise_for_status()


def test_the_printed_why_says_what_the_writer_has_and_the_reader_lacks(secured: Secured) -> None:
    tokens = {name: fresh_token(name, secured.home).stdout.strip() for name in PEOPLE}
    asked = printed(secured)["why"]
    allowed, refused = shell(asked, tokens["writer"]), shell(asked, tokens["reader"])
    assert (allowed.returncode, refused.returncode) == (0, 1), (allowed, refused)
    assert allowed.stdout.startswith("yes: me may create_namespace on warehouse/demo\n  by create on warehouse ")
    assert refused.stdout.startswith("no: me may not create_namespace on warehouse/demo\n  create on warehouse ")


def verified(home: Path) -> subprocess.CompletedProcess[str]:
    """`lakeward authz verify`, of what runs in a home."""
    command = [sys.executable, "-m", "lakeward_cli", "authz", "verify", "--home", str(home)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_what_authz_knows_is_compared_by_who_may_read_the_home(secured: Secured, tmp_path: Path) -> None:
    seen = verified(secured.home)
    assert (seen.returncode, seen.stdout) == (0, "authz knows of every object, and of no other\n"), seen.stderr
    assert (secured.home / "settings.json").stat().st_mode & 0o077 == 0
    nowhere = verified(tmp_path / "nowhere")
    assert nowhere.returncode == 69
    assert "start it with `lakeward up`" in nowhere.stderr


def test_the_printed_spark_shell_writes_as_the_writer_and_is_told_why_not_as_the_reader(
    secured: Secured, tmp_path: Path
) -> None:
    command = printed(secured)["Spark"]
    make = f'{command} -e "create table default.shell as select 41 + 1 as n; select n from default.shell"'
    with ivy.alone():
        written = shell(make, fresh_token("writer", secured.home).stdout.strip(), cwd=tmp_path)
    assert written.returncode == 0, written.stderr[-4000:]
    assert written.stdout.split()[-1:] == ["42"]
    drop = f'{command} -e "select n + 1 from default.shell; drop table default.shell"'
    with ivy.alone():
        refused = shell(drop, fresh_token("reader", secured.home).stdout.strip(), cwd=tmp_path)
    assert "43" in refused.stdout.split()
    assert "you see this table and may not drop" in refused.stderr


def test_its_people_and_their_rights_are_there_again_after_a_kill(house: House) -> None:
    first = house.secured()
    first.process.send_signal(signal.SIGKILL)
    first.process.wait()
    again = house.secured()
    assert again.process is not first.process
    with client(again, fresh_token("reader", again.home).stdout.strip()) as http:
        assert http.get(f"/catalog/v1/{prefix(http)}/namespaces").json()["namespaces"] == [["default"]]


def test_its_provider_gives_no_token_without_a_password(secured: Secured) -> None:
    home = secured.home
    issuer = next(iter(re.findall(r"http://127\.0\.0\.1:\d+", (home / "oidc/configuration/settings.yaml").read_text())))
    assert httpx.post(f"{issuer}/api/users/admin/token", json={}).status_code == 401
    form = {"grant_type": "password", "client_id": "lakeward", "username": "admin", "password": "admin"}
    assert httpx.post(f"{issuer}/token", data=form).status_code in {400, 401}
    assert (home / "people.json").stat().st_mode & 0o077 == 0


def test_no_token_is_had_where_nothing_was_started_so_and_the_message_says_what_to_do(tmp_path: Path) -> None:
    asked = fresh_token("reader", tmp_path / "nowhere")
    assert asked.returncode == 69
    assert "start it with `lakeward up --secure`" in asked.stderr


def test_a_home_that_anybody_opened_is_not_taken_for_a_secure_one(known: Start) -> None:
    up = known(arguments=SECURE)
    assert up.process.wait(timeout=SECONDS) == 69
    assert "opened for use by somebody else" in up.said()


@pytest.mark.parametrize(
    ("variables", "complaint"),
    [
        ({"LAKEKEEPER__AUTHZ_BACKEND": "allowall"}, "--secure takes builtin or openfga"),
        ({"LAKEKEEPER__OPENID_PROVIDER_URI": "http://127.0.0.1:1"}, "--secure brings an identity provider of its own"),
    ],
)
def test_what_would_not_be_secure_is_refused(start: Start, variables: dict[str, str], complaint: str) -> None:
    up = start(arguments=SECURE, variables=variables)
    assert up.process.wait(timeout=SECONDS) == 69
    assert complaint in up.said()


def test_openfga_decides_where_it_is_asked_for(start: Start, tmp_path: Path, openfga_server: OpenFgaServer) -> None:
    del openfga_server  # it is built by now
    for _ in range(2):  # the second one has forgotten everything
        up = begun(start, **OPENFGA)
        assert up.child("openfga")
        with client(up, fresh_token("reader", tmp_path / "home").stdout.strip()) as http:
            namespaces = f"/catalog/v1/{prefix(http)}/namespaces"
            assert http.get(namespaces).json()["namespaces"] == [["default"]]
            assert http.post(namespaces, json={"namespace": ["mine"]}).status_code == 403
        assert "OpenFGA holds what authz knows" in verified(tmp_path / "home").stdout
        up.process.send_signal(signal.SIGINT)
        assert up.process.wait(timeout=SECONDS) == 0, up.said()
