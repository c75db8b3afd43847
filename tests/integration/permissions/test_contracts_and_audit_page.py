"""docs/tutorial-contracts-and-audit.md, as somebody follows it: each command of the page, and its program."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import time
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

from lakeward import Client
from lakeward.cli.main import main
from tests.integration.permissions.conftest import Houses
from tests.support.installations import Composition
from tests.support.tokens import signed_by
from tests.support.warehouses import make_warehouse

pytestmark = pytest.mark.integration

PAGE = Path(__file__).parents[3] / "docs" / "tutorial-contracts-and-audit.md"
_BLOCK = re.compile(r"^```(sh|python|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


async def test_the_page_of_a_refused_change_is_true(
    houses: Houses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = await houses("builtin", Composition.ONE_PROCESS)
    async with house.client("admin") as http:
        name = (await make_warehouse(http, house.store)).name
    token, url = signed_by(house.oidc, sub="admin"), house.installation.url
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAKEWARD_TOKEN", token)
    monkeypatch.setenv("LAKEWARD_URL", url)
    monkeypatch.setenv("LAKEWARD_PROFILES", str(tmp_path / "profiles.toml"))
    said = await asyncio.to_thread(_followed, name, url, token, tmp_path)
    assert "sales-readers" in said["lakeward warehouses contracts lake"]
    refused = said["lakeward audit --outcome refused --limit 5"]
    assert "CONTRACT_VIOLATED" in refused
    assert "sales.orders" in refused
    assert "updateWarehouseContracts" in said["lakeward audit --action updateWarehouseContracts"]
    rows = json.loads(said["lakeward audit --principal oidc~admin --limit 20 --json"])
    assert {"updateTable", "updateWarehouseContracts", "createTable"} <= {row["action"] for row in rows}
    assert said["lakeward audit --server --limit 5"]


def _said(arguments: list[str], *, until: str) -> str:
    """What a command prints, once that is in it: a refusal gets its row within a moment."""
    begun = time.monotonic()
    while True:
        ended = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert ended.exit_code == 0, f"{arguments}\n{ended.output}"
        if until in ended.output:
            return ended.output
        assert time.monotonic() - begun < 60, ended.output
        time.sleep(0.1)


def _followed(warehouse: str, url: str, token: str, folder: Path) -> dict[str, str]:
    """What each command printed."""
    with Client(url, auth=token) as lake:
        tables = lake.warehouse(warehouse).pyiceberg()
        tables.create_namespace("sales")
        tables.create_table("sales.orders", pa.schema([("id", pa.int64())]))
    said: dict[str, str] = {}
    for kind, text in _BLOCK.findall(PAGE.read_text()):
        if kind == "json":
            (folder / "contracts.json").write_text(text)
        elif kind == "python":
            program = text.replace('"lake"', repr(warehouse))
            exec(compile(program, str(PAGE), "exec"), {"URL": url, "TOKEN": token})
        else:
            for line in text.splitlines():
                if line.startswith("lakeward "):
                    arguments = [warehouse if each == "lake" else each for each in shlex.split(line)[1:]]
                    if arguments[0] == "audit" and "--json" not in arguments:
                        _said(arguments, until="")
                        arguments.append("--json")  # a terminal's width folds words
                    # others were refused here before, by contracts too
                    said[line] = _said(arguments, until="sales.orders" if "refused" in arguments else "")
    return said
