"""What `lakeward up` prints, and what the page of engines shows, works as it stands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog import Catalog

from lakeward_cli import snippets
from lakeward_pipelines import iceberg, java
from tests.support import ivy
from tests.support.engines import (
    SHORT,
    Reach,
    duckdb_snippet,
    duckdb_with_installed_extensions,
    pyiceberg_snippet,
    spark_snippet,
)
from tests.support.installations import Composition
from tests.support.lakeward import Lakeward

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"
SHOWN = Reach("http://127.0.0.1:8181/catalog", "demo")
_SHELL_SECONDS = 600

# They are printed by the composition in one process.
in_one_process = pytest.mark.parametrize("lakeward", [Composition.ONE_PROCESS], indirect=True, ids=str, scope="session")


@in_one_process
def test_the_printed_pyiceberg_lists_namespaces(
    lakeward: Lakeward, catalog: Catalog, namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(snippets.pyiceberg(lakeward.url, lakeward.warehouse), "printed", "exec"), {})
    assert f"('{namespace}',)" in capsys.readouterr().out


@in_one_process
def test_the_printed_duckdb_shows_tables_and_then_writes(
    lakeward: Lakeward, catalog: Catalog, new_name: str, tmp_path: Path
) -> None:
    with duckdb_with_installed_extensions(tmp_path) as connection:
        connection.execute(snippets.duckdb(lakeward.url, lakeward.warehouse))
        connection.execute(f"create table lakeward.{new_name} as select 7 as n")
    assert catalog.load_table(new_name).scan().to_arrow().to_pylist() == [{"n": 7}]


@in_one_process
def test_the_printed_curl_is_answered_with_the_warehouses_prefix(lakeward: Lakeward) -> None:
    command = snippets.curl(lakeward.url, lakeward.warehouse)
    reply = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True, timeout=30).stdout
    assert f'"{lakeward.warehouse_id}"' in reply


@in_one_process
def test_the_printed_spark_shell_writes_and_reads(
    lakeward: Lakeward, namespace: str, catalog: Catalog, tmp_path: Path
) -> None:
    statements = f"create table {namespace}.shell as select 41 + 1 as n; select n from {namespace}.shell"
    command = f'{snippets.spark(lakeward.url, lakeward.warehouse)} -e "{statements}"'
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "JAVA_HOME": str(java.home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SUBMIT_OPTS": SHORT,
    }
    with ivy.alone():
        shell = subprocess.run(
            ["bash", "-c", command],
            capture_output=True,
            text=True,
            check=False,
            timeout=_SHELL_SECONDS,
            env=environment,
            cwd=tmp_path,
        )
    assert shell.returncode == 0, shell.stderr[-4000:]
    assert shell.stdout.split()[-1:] == ["42"]  # what fetches its jars says so before
    assert not (tmp_path / "metastore_db").exists()


def test_the_printed_spark_is_the_one_that_the_suites_run() -> None:
    printed = snippets.spark("http://127.0.0.1:8181", "demo")
    for package in iceberg.PACKAGES:
        assert package in printed


@pytest.mark.parametrize(
    "snippet",
    [
        spark_snippet(SHOWN),
        pyiceberg_snippet(SHOWN),
        pyiceberg_snippet(Reach(SHOWN.uri, SHOWN.warehouse, "remote-signing")),
        duckdb_snippet(SHOWN),
    ],
    ids=["spark", "pyiceberg", "pyiceberg-signed", "duckdb"],
)
def test_the_page_of_engines_shows_what_the_suites_run(snippet: str) -> None:
    assert f"\n{snippet}\n```" in PAGE.read_text(encoding="utf-8")


def test_the_shown_spark_finds_the_warehouse(spark_session: Any, vended: Reach, lakeward: Lakeward) -> None:
    name = f"shown_{lakeward.composition}"
    made: dict[str, Any] = {}
    exec(compile(spark_snippet(vended, name=name), "shown", "exec"), made)
    made["spark"].sql(f"create namespace if not exists {name}.shown")
    assert ("shown",) in [tuple(row) for row in made["spark"].sql(f"show namespaces in {name}").collect()]
