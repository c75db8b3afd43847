"""docs/tutorial-operators.md, as somebody follows it: each command of the page, against a server that was just installed."""

from __future__ import annotations

import json
import re
import shlex
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from lakeward import Client
from lakeward.cli.main import main
from lakeward_components.oidc import OidcProvider
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store
from tests.support.components import fresh_database
from tests.support.installations import Composition, environment, migrate, planned, running
from tests.support.lakeward import blocking
from tests.support.tokens import signed_by

pytestmark = pytest.mark.integration

PAGE = Path(__file__).parents[3] / "docs" / "tutorial-operators.md"
SCHEMA = pa.schema([("id", pa.int64())])
ROWS = pa.table({"id": [1, 2, 3]})
_BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def url(postgres_server: PostgresServer, oidc: OidcProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    asked = {
        "LAKEKEEPER__OPENID_PROVIDER_URI": oidc.issuer,
        "LAKEKEEPER__OPENID_AUDIENCE": oidc.audience,
        "LAKEKEEPER__AUTHZ_BACKEND": "builtin",
    }
    with fresh_database(postgres_server) as database:
        settings = environment(database, LAKEWARD__PURGE_DELAY="0s", **asked)
        blocking.run(migrate(settings))
        with running(planned(Composition.ONE_PROCESS, tmp_path_factory.mktemp("day"), settings)) as installation:
            yield installation.url


def _documents(folder: Path, store: S3Store) -> None:
    profile = {
        "type": "s3",
        "flavor": "s3-compat",
        "endpoint": store.endpoint,
        "region": store.region,
        "bucket": store.bucket,
        "path-style-access": True,
        "sts-enabled": True,
        "assume-role-arn": store.role_arn,
        "sts-role-arn": store.role_arn,
    }
    for name in ("sales", "research"):
        document = {
            "storage-profile": {**profile, "key-prefix": f"day/{name}"},
            "storage-credential": _key(store.sts_only),
            "delete-profile": {"type": "soft", "expiration-seconds": 604_800},
        }
        (folder / f"{name}.json").write_text(json.dumps(document))
    (folder / "new-key.json").write_text(json.dumps(_key(store.admin)))


def _key(key: Any) -> dict[str, str]:
    return {
        "type": "s3",
        "credential-type": "access-key",
        "access-key-id": key.access_key,
        "secret-access-key": key.secret_key,
    }


class Readers:
    """Somebody who reads a table all the time."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self.token = token
        self.reads = 0
        self.failures: list[BaseException] = []
        self._ended = threading.Event()
        self._more = threading.Condition()
        self._thread = threading.Thread(target=self._read)

    def start(self) -> None:
        self._thread.start()
        self.at_least(1)

    def at_least(self, more: int) -> None:
        """Wait until so many more reads have ended."""
        with self._more:
            wanted = self.reads + more
            assert self._more.wait_for(lambda: self.reads >= wanted or self.failures, timeout=120)

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def _read(self) -> None:
        with Client(self.url, auth=self.token, project="sales") as lake:
            while not self._ended.is_set():
                try:
                    found = lake.warehouse("orders").pyiceberg().load_table("eu.orders").scan().to_arrow()
                    assert found.num_rows == ROWS.num_rows
                except BaseException as error:  # noqa: BLE001 - told by the test, whatever it is
                    self.failures.append(error)
                    self._ended.set()
                with self._more:
                    self.reads += 1
                    self._more.notify_all()


def test_the_page_of_an_operators_day_is_true(
    url: str, s3_server: S3Store, oidc: OidcProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = signed_by(oidc, sub="admin")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAKEWARD_TOKEN", token)
    monkeypatch.setenv("LAKEWARD_URL", url)
    monkeypatch.setenv("LAKEWARD_PROFILES", str(tmp_path / "profiles.toml"))
    _documents(tmp_path, s3_server)
    said: dict[str, str] = {}
    task = ""
    readers = Readers(url, token)
    for kind, text in _BLOCK.findall(PAGE.read_text()):
        if kind == "python":
            exec(compile(text, str(PAGE), "exec"), {"URL": url, "TOKEN": token, "SCHEMA": SCHEMA, "ROWS": ROWS})
            continue
        for line in text.splitlines():
            if not line.startswith("lakeward "):
                continue
            arguments = shlex.split(line.replace("$TASK", task))[1:]
            if arguments[:2] == ["warehouses", "credential"]:
                readers.start()
            ended = CliRunner().invoke(main, arguments, catch_exceptions=False)
            assert ended.exit_code == 0, f"{line}\n{ended.output}"
            said[line] = ended.output
            if arguments[:2] == ["tasks", "list"]:
                asked = [*arguments, "--json"]
                (left,) = json.loads(CliRunner().invoke(main, asked).output)
                task = left["task-id"]
    try:
        readers.at_least(2)
    finally:
        readers.end()
    assert readers.failures == []

    assert "Research" in said["lakeward projects list"]
    assert "orders" in said["lakeward warehouses list --project sales"]
    assert "trials" not in said["lakeward warehouses list --project sales"]
    assert "Ada" in said["lakeward roles members analysts --project sales"]
    assert "id long" in said["lakeward tables show orders eu.orders --project sales"]
    assert "internal" in said["lakeward tags list --project sales --warehouse orders"]
    assert "internal" in said["lakeward tags where sensitivity --project sales"]
    assert "camera" in said["lakeward generic-tables show orders eu.photos --project sales"]
    assert "lance" in said["lakeward generic-tables list orders eu --project sales"]
    # the same command twice: what is kept is the last answer, after the purge and after the restoring
    assert "returns" not in said["lakeward undrop orders --project sales"]
    assert said["lakeward tables list orders eu --project sales"].split()[3:] == ["orders", "table", "iceberg"]


def test_commands_end_with_the_status_of_what_went_wrong(url: str, oidc: OidcProvider, tmp_path: Path) -> None:
    known = {
        "LAKEWARD_URL": url,
        "LAKEWARD_TOKEN": signed_by(oidc, sub="admin"),
        "LAKEWARD_PROFILES": str(tmp_path / "profiles.toml"),
    }

    def run(*arguments: str, **environment: str) -> tuple[int, str]:
        ended = CliRunner(env={**known, **environment}).invoke(main, arguments)
        return ended.exit_code, ended.output

    assert run("warehouses", "show", "nowhere", "--project", "sales")[0] == 3
    status, told = run("projects", "create", "Sales", "--id", "sales")
    assert status == 5
    assert "sales" in told
    assert run("bootstrap")[0] == 1
    assert run("grants", "list", "--table-id", "x")[0] == 2
    assert run("tags", "set", "x", "--project", "sales")[0] == 2
    assert run("tags", "show", "nothing", "--project", "sales")[0] == 3
    assert run("generic-tables", "show", "orders", "eu.nothing", "--project", "sales")[0] == 3
    assert run("generic-tables", "create", "orders", "eu.x", "--format", "lance", "--property", "x")[0] == 2
    assert run("warehouses", "delete", "trials", "--project", "research", "--yes")[0] == 5
    assert run("whoami", LAKEWARD_TOKEN="no token")[0] == 4
    stranger = {"LAKEWARD_TOKEN": signed_by(oidc, sub="stranger")}
    assert run("warehouses", "show", "orders", "--project", "sales", **stranger)[0] in {3, 4}
    status, told = run("info", LAKEWARD_URL="http://127.0.0.1:9")
    assert status == 69
    assert "127.0.0.1:9" in told
