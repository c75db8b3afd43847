"""One Lance table of text, vectors, bytes and numbers, searched by LanceDB and asked in SQL by DuckDB and Polars."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator

import duckdb
import lance
import polars as pl
import pyarrow as pa
import pytest

from lakeward import Client
from lakeward._sync.access import Access
from tests.support.installations import Composition
from tests.support.lakeward import Lakeward
from tests.support.short_lives import short_lives, signing_key

SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "caption": pa.string(),
        "vector": pa.list_(pa.float32(), 4),
        "raw": pa.large_binary(),
        "price": pa.float64(),
    }
)
COUNT = 500
LIFE = 4.0  # seconds

# What is lent is the same in every composition.
pytestmark = pytest.mark.parametrize("lakeward", [Composition.ONE_PROCESS], indirect=True, ids=str, scope="session")


@pytest.fixture(scope="module")
def namespace(lakeward: Lakeward) -> str:
    name = f"meets_{secrets.token_hex(4)}"
    with Client(lakeward.url) as client:
        client.warehouse(lakeward.warehouse).create_namespace(name)
    return name


@pytest.fixture(scope="module")
def access(lakeward: Lakeward, namespace: str) -> Iterator[Access]:
    """The table's, whose rows were written with nothing else."""
    with Client(lakeward.url) as client:
        access = client.warehouse(lakeward.warehouse).generic.create(namespace, "products", format="lance").access()
        rows = [
            {
                "id": number,
                "caption": f"product {number}",
                "vector": [float(number), number % 7, 0.0, 1.0],
                "raw": bytes([number % 256]) * 100,
                "price": number / 4,
            }
            for number in range(COUNT)
        ]
        lance.write_dataset(pa.Table.from_pylist(rows, SCHEMA), mode="overwrite", **access.lance())
        yield access


def test_lancedb_searches_it_by_likeness_and_by_words(access: Access) -> None:
    table = access.lancedb()
    found = table.search([41.3, 6.0, 0.0, 1.0]).where("price < 100").limit(2).to_list()
    assert [each["caption"] for each in found] == ["product 41", "product 40"]
    assert found[0]["raw"] == bytes([41]) * 100
    table.create_fts_index("caption")
    assert [each["id"] for each in table.search("499", query_type="fts").limit(5).to_list()] == [499]


def test_lance_and_lancedb_go_on_where_their_first_credentials_ended(
    access: Access, lakeward: Lakeward, namespace: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    del access  # the table is there
    key = signing_key(lakeward.store, tmp_path_factory.getbasetemp())
    with short_lives(lakeward.url, key, seconds=LIFE) as lives, Client(lives.url) as client:
        theirs = client.warehouse(lakeward.warehouse).generic.load(namespace, "products").access()
        dataset, table = lance.dataset(**theirs.lance()), theirs.lancedb()
        before = len(lives.handed_out)
        time.sleep(LIFE + 2)
        assert dataset.to_table(columns=["id"], filter="price > 100").num_rows == 99
        assert table.search([7.0, 0.0, 0.0, 1.0]).limit(1).to_list()[0]["id"] == 7
        assert len(lives.handed_out) > before


def test_duckdb_asks_it_in_sql(access: Access) -> None:
    with duckdb.connect() as connection:
        connection.register("products", lance.dataset(**access.lance()))
        found = connection.sql(
            "select count(*), sum(price), max(octet_length(raw)), max(vector[1]) from products where caption like '%9'"
        ).fetchall()
    ending_in_nine = range(9, COUNT, 10)
    assert found == [(50, sum(number / 4 for number in ending_in_nine), 100, 499.0)]


def test_polars_asks_it_in_sql(access: Access) -> None:
    frame = pl.scan_pyarrow_dataset(lance.dataset(**access.lance()))
    with pl.SQLContext(products=frame) as context:
        found = context.execute(
            "select id, caption, raw from products where price >= 124.0 and id % 2 = 1 order by id"
        ).collect()
    assert found.rows() == [(497, "product 497", bytes([241]) * 100), (499, "product 499", bytes([243]) * 100)]
