"""Three people of different rights, by Spark and by PyIceberg: each does what it may, and is told what it may not."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import ForbiddenError

from lakeward_cli.people import PEOPLE
from tests.e2e.conftest import Secured
from tests.e2e.spark_sql import SparkSql
from tests.support.engines import Reach, pyiceberg_properties, spark_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMESPACE = "default"  # which is there from the start


@dataclass(frozen=True, slots=True)
class Person:
    """One of them, with both engines.

    Attributes:
        sql: in a Spark catalog whose token is theirs.
    """

    sql: SparkSql
    reach: Reach

    @property
    def catalog(self) -> Any:
        """PyIceberg's."""
        return load_catalog("theirs", **pyiceberg_properties(self.reach))


@pytest.fixture(scope="module")
def people(secured: Secured, spark_session: SparkSession) -> Mapping[str, Person]:
    return {name: _person(name, secured, spark_session) for name in PEOPLE}


def _person(name: str, secured: Secured, session: SparkSession) -> Person:
    reach = Reach(f"{secured.up.url}/catalog", "demo", token=secured.tokens[name])
    for key, value in spark_settings(reach, name=name).items():
        session.conf.set(key, value)
    return Person(SparkSql(session, name, NAMESPACE), reach)


@pytest.fixture
def table(people: Mapping[str, Person]) -> Iterator[str]:
    """The name of a table that the writer made, by Spark, with two rows."""
    name = f"t_{secrets.token_hex(4)}"
    writer = people["writer"].sql
    writer(f"create table {{ns}}.{name} (n int) using iceberg")
    writer(f"insert into {{ns}}.{name} values (1), (2)")
    yield name
    people["admin"].sql(f"drop table if exists {{ns}}.{name}")


def rows(person: Person, table: str) -> list[tuple[Any, ...]]:
    person.sql(f"refresh table {{ns}}.{table}")
    return person.sql(f"select n from {{ns}}.{table} order by n")


@pytest.mark.parametrize("name", PEOPLE)
def test_each_of_them_reads_by_both_engines(people: Mapping[str, Person], table: str, name: str) -> None:
    person = people[name]
    assert rows(person, table) == [(1,), (2,)]
    assert person.catalog.load_table(f"{NAMESPACE}.{table}").scan().to_arrow().sort_by("n")["n"].to_pylist() == [1, 2]


@pytest.mark.parametrize("name", ["admin", "writer"])
def test_who_may_write_writes_by_both_engines(people: Mapping[str, Person], table: str, name: str) -> None:
    person = people[name]
    person.sql(f"insert into {{ns}}.{table} values (3)")
    person.catalog.load_table(f"{NAMESPACE}.{table}").append(pa.table({"n": pa.array([4], pa.int32())}))
    assert rows(person, table) == [(1,), (2,), (3,), (4,)]


# What Spark runs, and what its error says then. To change rows it first writes files, which the store refuses to a reader's
# credentials; what the catalog is asked for first it refuses in its own words.
REFUSED = {
    "create table {ns}.another (n int) using iceberg": "you see this namespace and may not create table",
    "create table {ns}.another using iceberg as select * from {t}": "you see this namespace and may not create table",
    "alter table {t} add column m int": "you see this table and may not commit",
    "alter table {t} set tblproperties ('a' = 'b')": "you see this table and may not commit",
    "drop table {t}": "you see this table and may not drop",
    "alter table {t} rename to default.another": "you see this table and may not rename",
    "create namespace {catalog}.another": "you see this warehouse and may not create namespace",
    "delete from {t}": "Access Denied",
    "insert into {t} values (9)": "Access Denied",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_a_write_by_the_readers_spark_is_refused_by_an_error_that_says_so(
    people: Mapping[str, Person], table: str, statement: str
) -> None:
    reader = people["reader"]
    with pytest.raises(Exception, match=REFUSED[statement]):
        reader.sql(statement, t=f"{{catalog}}.{NAMESPACE}.{table}".format(catalog=reader.sql.catalog))
    assert rows(people["admin"], table) == [(1,), (2,)]
    assert people["admin"].sql("show tables in {ns} like 'another'") == []


def test_a_write_by_the_readers_pyiceberg_is_refused_by_an_error_that_says_so(
    people: Mapping[str, Person], table: str
) -> None:
    reader = people["reader"].catalog
    with pytest.raises(ForbiddenError, match="you see this namespace and may not create table"):
        reader.create_table(f"{NAMESPACE}.another", pa.schema([("n", pa.int32())]))
    with pytest.raises(ForbiddenError, match="you see this table and may not commit"):
        reader.load_table(f"{NAMESPACE}.{table}").transaction().set_properties(a="b").commit_transaction()
    with pytest.raises(ForbiddenError, match="you see this table and may not drop"):
        reader.drop_table(f"{NAMESPACE}.{table}")
    assert rows(people["admin"], table) == [(1,), (2,)]
