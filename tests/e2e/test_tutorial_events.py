"""docs/tutorial-events.md, as somebody follows it: two terminals, and programs that share what they know."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from click.testing import CliRunner

from lakeward import Client
from lakeward.cli.main import main
from lakeward_components import blocking
from lakeward_pipelines.audit import __main__ as audit
from tests.support import audit_run
from tests.support.http import NOBODY
from tests.support.installations import Composition
from tests.support.lakeward import Lakeward
from tests.support.up import wait
from tests.support.warehouses import make_warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What is followed is the same in every composition.
pytestmark = pytest.mark.parametrize("lakeward", [Composition.ONE_PROCESS], indirect=True, ids=str, scope="session")

PAGE = Path(__file__).parents[2] / "docs" / "tutorial-events.md"
_BLOCK = re.compile(r"^```(sh|python|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PATIENCE = 60.0


class Terminal:
    """A command that goes on, and what it said so far."""

    def __init__(self, *arguments: str, url: str) -> None:
        command = [str(Path(sys.executable).with_name("lakeward")), *arguments]
        environment = {**os.environ, "LAKEWARD_URL": url, "PYTHONUNBUFFERED": "1"}
        self._process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        self._lines: list[str] = []
        self._said = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def shows(self, *texts: str) -> bool:
        """Whether it showed lines with these, in this order, or does so in time."""

        def shown() -> bool:
            lines = iter(self._lines)
            return all(any(text in line for line in lines) for text in texts)

        with self._said:
            return self._said.wait_for(shown, _PATIENCE)

    def end(self) -> None:
        self._process.terminate()
        self._process.wait(_PATIENCE)
        self._reader.join()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._said:
                self._lines.append(line)
                self._said.notify_all()


async def _named(lakeward: Lakeward) -> str:
    async with httpx.AsyncClient(base_url=lakeward.url, timeout=60, verify=NOBODY) as http:
        return (await make_warehouse(http, lakeward.store)).name


def test_the_page_of_events_is_true(
    lakeward: Lakeward, spark_session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAKEWARD_URL", lakeward.url)
    monkeypatch.setenv("LAKEWARD_PROFILES", str(tmp_path / "profiles.toml"))
    warehouse = blocking.run(_named(lakeward))
    terminal: Terminal | None = None
    said: dict[str, list[str]] = {}
    scope: dict[str, Any] = {"__name__": "guide"}
    try:
        for kind, block in _BLOCK.findall(PAGE.read_text()):
            text = block.replace("https://lake.example.com", lakeward.url)
            text = re.sub(r"\bsales(?= |\")", warehouse, text)
            if kind == "python":
                exec(compile(text, PAGE.name, "exec"), scope)
                continue
            if kind == "json":
                Path("contracts.json").write_text(text)
                continue
            for line in text.splitlines():
                arguments = shlex.split(line)
                if arguments[:3] == ["lakeward", "events", "tail"]:
                    # where "now" is is settled before somebody works: what it shows first was there before it
                    newest = _newest(lakeward, warehouse)
                    terminal = Terminal(*arguments[1:], "--from", newest, url=lakeward.url)
                elif arguments[:2] == ["lakeward", "audit"]:
                    # a terminal's width folds words; and a refusal gets its row within a moment
                    wait(lambda asked=(*arguments[1:], "--json"): "CONTRACT_VIOLATED" in _said(asked))
                elif arguments[0] == "lakeward":
                    said.setdefault(arguments[1], []).append(_said(arguments[1:]))
                elif arguments[:3] == ["python", "-m", "lakeward_pipelines.audit"]:
                    assert audit.main(arguments[3:], opened=audit_run.sharing(spark_session)) == 0
        assert terminal is not None
        assert terminal.shows(
            "namespace.created  followed",
            "table.created  followed.orders",
            "table.committed  followed.orders",
            "table.committed  followed.orders",
            "table.created  followed.totals",
            "table.committed  followed.totals",
            "table.committed  followed.totals",
        )
    finally:
        if terminal is not None:
            terminal.end()
    again, new = said["events"]
    assert "table.snapshot  followed.orders" in again or "table.committed  followed.orders" in again
    assert not new
    kept = json.loads((tmp_path / "copy.json").read_text())
    assert kept["position"].isdecimal()
    assert kept["tables"]["followed.orders"].endswith(".metadata.json")


def _said(arguments: Sequence[str]) -> str:
    ended = CliRunner().invoke(main, list(arguments), catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    return ended.output


def _newest(lakeward: Lakeward, warehouse: str) -> str:
    with Client(lakeward.url) as client:
        return client.warehouse(warehouse).events.page("now").position
