"""The commands that work with data, against a real Lakeward and its store."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import deltalake
import lance
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from click.testing import CliRunner, Result
from pyiceberg.catalog import Catalog

from lakeward import Client, transfers
from lakeward.cli.main import main
from tests.support.installations import Composition
from tests.support.lakeward import Lakeward
from tests.support.short_lives import ShortLives, short_lives, signing_key

# A command speaks with each composition alike.
pytestmark = pytest.mark.parametrize("lakeward", [Composition.ONE_PROCESS], indirect=True, ids=str, scope="session")

ROWS = pa.table({"id": [1, 2, 3], "name": ["a", "it's", None]})
LIFE = 4.0  # seconds
Run = Callable[..., Result]


@pytest.fixture(scope="module")
def run(lakeward: Lakeward) -> Run:
    def run(*arguments: str, status: int = 0, typed: str | None = None) -> Result:
        done = CliRunner().invoke(main, list(arguments), env={"LAKEWARD_URL": lakeward.url}, input=typed)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == status, done.output
        return done

    return run


@pytest.fixture(scope="module")
def full(lakeward: Lakeward, catalog: Catalog, namespace: str) -> Iterator[str]:
    """A namespace with a table of each kind that is read."""
    catalog.create_table(f"{namespace}.ice", ROWS.schema).append(ROWS)
    with Client(lakeward.url) as client:
        generic = client.warehouse(lakeward.warehouse).generic
        access = {
            kind: generic.create(namespace, f"some_{kind}", format=kind, doc="some").access()
            for kind in ("delta", "lance", "parquet", "csv", "json", "dataset")
        }
        deltalake.write_deltalake(data=ROWS, **_renamed(access["delta"].deltalake()))
        lance.write_dataset(ROWS, mode="overwrite", **access["lance"].lance())
        pyarrow.parquet.write_table(ROWS, "day=1/part.parquet", filesystem=access["parquet"].pyarrow())
        with access["csv"].pyarrow().open_output_stream("part.csv") as out:
            pyarrow.csv.write_csv(ROWS, out)
        with access["json"].pyarrow().open_output_stream("part.json") as out:
            out.write("".join(json.dumps(row) + "\n" for row in ROWS.to_pylist()).encode())
        access["dataset"].boto3().put_object(
            Bucket=lakeward.store.bucket, Key=f"{access['dataset'].get().prefix}/cats/1.png", Body=b"a cat"
        )
    return namespace


def _renamed(told: Any) -> dict[str, Any]:
    return {"table_or_uri": told["table_uri"], "storage_options": told["storage_options"]}


def documents(done: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_tables_of_all_kinds_are_listed_and_shown(run: Run, lakeward: Lakeward, full: str) -> None:
    (listed,) = documents(run("tables", "list", lakeward.warehouse, full, "--json"))
    assert {(each["name"], each["kind"], each["format"]) for each in listed} == {
        ("ice", "table", "iceberg"),
        *((f"some_{kind}", "generic", kind) for kind in ("delta", "lance", "parquet", "csv", "json", "dataset")),
    }
    assert "some_lance" not in run("tables", "list", lakeward.warehouse, full, "--kind", "table").stdout
    assert "id long" in run("tables", "show", lakeward.warehouse, f"{full}.ice").stdout
    (shown,) = documents(run("tables", "show", lakeward.warehouse, f"{full}.some_lance", "--json"))
    assert (shown["format"], shown["doc"]) == ("lance", "some")
    run("tables", "show", lakeward.warehouse, f"{full}.absent", status=3)


@pytest.mark.parametrize("table", ["ice", "some_delta", "some_lance", "some_parquet", "some_csv", "some_json"])
def test_sql_reads_a_table_of_each_kind(run: Run, lakeward: Lakeward, full: str, table: str) -> None:
    query = f"select id, name from {table} where id >= 2 order by id"
    assert documents(run("sql", lakeward.warehouse, full, query, "--json")) == [
        {"id": 2, "name": "it's"},
        {"id": 3, "name": None},
    ]


def test_sql_joins_kinds_and_writes_to_iceberg(run: Run, lakeward: Lakeward, full: str, catalog: Catalog) -> None:
    statements = f"""
        create table lake."{full}".joined as
        select i.id, d.name from ice i join some_delta d using (id) join some_lance l using (id);
        select count(*) as rows, max(name) as last from joined;
    """
    assert documents(run("sql", lakeward.warehouse, full, "--json", typed=statements)) == [{"rows": 3, "last": "it's"}]
    assert catalog.load_table(f"{full}.joined").scan().count() == 3


def test_sql_says_what_is_wrong(run: Run, lakeward: Lakeward, full: str) -> None:
    assert "syntax" in run("sql", lakeward.warehouse, full, "selekt 1", status=1).output.lower()
    refused = run("sql", lakeward.warehouse, full, "from some_dataset", status=2)
    assert "some_dataset is dataset, which DuckDB does not read" in refused.output
    assert "absent" in run("sql", lakeward.warehouse, full, "from absent", status=1).output


def test_cat_shows_the_first_rows(run: Run, lakeward: Lakeward, full: str) -> None:
    shown = documents(run("cat", lakeward.warehouse, f"{full}.some_lance", "--rows", "2", "--column", "id", "--json"))
    assert shown == [{"id": 1}, {"id": 2}]
    people = run("cat", lakeward.warehouse, f"{full}.ice").stdout.splitlines()
    assert people[0].split() == ["id", "name"]
    assert len(people) == 4


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    (folder / "cats").mkdir(parents=True)
    (folder / "cats" / "1.png").write_bytes(b"a cat")
    (folder / "large").write_bytes(os.urandom(20 << 20))
    for file in (folder / "cats" / "1.png", folder / "large"):
        os.utime(file, (1_700_000_000, 1_700_000_000))
    return folder


def test_a_directory_becomes_a_dataset_and_comes_back(
    run: Run, lakeward: Lakeward, namespace: str, images: Path, keys_below: Callable[[str], list[str]]
) -> None:
    back = images.parent
    table = f"{namespace}.images_{secrets.token_hex(4)}"
    up = ("cp", lakeward.warehouse, str(images), f"{table}:", "--create", "--json")
    assert documents(run(*up)) == [{"files": 2, "bytes": (20 << 20) + 5}]
    (shown,) = documents(run("tables", "show", lakeward.warehouse, table, "--json"))
    assert shown["format"] == "dataset"
    assert sorted(key.rpartition("/")[2] for key in keys_below(shown["location"])) == ["1.png", "large"]
    assert documents(run(*up, "--resume")) == [{"files": 0, "bytes": 0}]
    run("cp", lakeward.warehouse, f"{table}:", str(back / "back"))
    assert (back / "back" / "large").read_bytes() == (images / "large").read_bytes()
    run("cp", lakeward.warehouse, f"{table}:cats/1.png", str(back / "cat"))
    assert (back / "cat").read_bytes() == b"a cat"
    run("cp", lakeward.warehouse, f"{table}:dogs", str(back / "dogs"), status=2)
    run("cp", lakeward.warehouse, str(images), str(back / "dogs"), status=2)


@pytest.fixture
def dying(lakeward: Lakeward, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShortLives]:
    key = signing_key(lakeward.store, tmp_path_factory.getbasetemp())
    with short_lives(lakeward.url, key, seconds=LIFE) as lives:
        yield lives


def test_an_upload_that_takes_longer_than_its_credentials_live_is_finished(
    dying: ShortLives, lakeward: Lakeward, namespace: str, tmp_path: Path
) -> None:
    large = os.urandom(40 << 20)
    (tmp_path / "large").write_bytes(large)
    waited: list[int] = []

    def slowly(count: int) -> None:
        # Once, in the middle of the file, until what it began with has ended.
        if not waited:
            waited.append(count)
            time.sleep(LIFE + 2)

    with Client(dying.url) as client:
        made = client.warehouse(lakeward.warehouse).generic.create(
            namespace, f"slow_{secrets.token_hex(4)}", format="dataset"
        )
        store = made.access().obstore()
        transfers.upload(transfers.uploads(tmp_path / "large", store), store, slowly)
    assert len(dying.handed_out) > 1
    with Client(lakeward.url) as client:
        store = client.warehouse(lakeward.warehouse).generic.load(namespace, made.name).access().obstore()
        transfers.download(transfers.downloads(store, "large", tmp_path / "back"), store)
    assert (tmp_path / "back").read_bytes() == large
