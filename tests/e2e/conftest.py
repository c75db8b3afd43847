"""What the suites of engines share: one Spark for all of them, and names that nobody else uses."""

from __future__ import annotations

import asyncio
import gc
import secrets
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import botocore.session
import pytest
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.table import Table

from lakeward_cli.people import PEOPLE, token
from lakeward_pipelines.session import session
from tests.e2e.spark_sql import SparkSql
from tests.support import control as control_catalog
from tests.support import ivy
from tests.support.control import ControlCatalog
from tests.support.engines import SHORT, Reach, pyiceberg_properties, spark_settings
from tests.support.lakeward import Lakeward
from tests.support.up import Up, starting, wait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_HERE = Path(__file__).parent
_MARKS = (
    pytest.mark.e2e,
    pytest.mark.integration,
    # Engines leave their sockets to the garbage collector; that is theirs to mend.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(_HERE):
            for mark in _MARKS:
                item.add_marker(mark)


@pytest.fixture(scope="package", autouse=True)
def _engines_leave_nothing_behind() -> Iterator[None]:
    """Collect what engines left open here, where it is allowed, and not in the middle of somebody else's test."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(scope="package")
def spark_session() -> Iterator[SparkSession]:
    """One JVM for all suites: each composition's warehouses are catalogs of it. A missing Java is an error, not a skip."""
    settings = {
        "spark.sql.shuffle.partitions": "1",
        # seconds for a Python worker whose task was killed: tests wait for what it does meanwhile, on a slow machine too
        "spark.python.task.killTimeout": "20s",
        "spark.driver.extraJavaOptions": SHORT,
    }
    with ExitStack() as stack:
        with ivy.alone():
            spark = stack.enter_context(session("lakeward-e2e", settings=settings))
        yield spark


@dataclass(frozen=True, slots=True)
class Secured:
    """A Lakeward that asks callers who they are.

    Attributes:
        up: the command that runs it.
        tokens: of its three people, by their names; they last for as long as tests do.
    """

    up: Up
    tokens: Mapping[str, str]


@pytest.fixture(scope="package")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """One `lakeward up --secure` for all who leave it as it is, but for namespaces and tables of their own."""
    folder = tmp_path_factory.mktemp("secured")
    with starting(folder) as start:
        up: Up = start(arguments=("--secure",))
        up.ready()
        wait(lambda: "\ncurl:\n" in up.said())
        yield Secured(up, {name: asyncio.run(token(folder / "home", name)) for name in PEOPLE})


@pytest.fixture(scope="package")
def control(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlCatalog]:
    with control_catalog.running(tmp_path_factory.mktemp("control")) as catalog:
        yield catalog


@pytest.fixture(scope="session")
def vended(lakeward: Lakeward) -> Reach:
    """The warehouse that vends credentials."""
    return Reach(lakeward.catalog_uri, lakeward.warehouse)


@pytest.fixture(scope="session", params=["own key", "sessions"])
def signed(request: pytest.FixtureRequest, lakeward: Lakeward) -> Reach:
    """Signed requests: of the warehouse that does nothing else, with its own key, and of the other one, with sessions."""
    by_own_key = request.param == "own key"
    warehouse = lakeward.signing_warehouse if by_own_key else lakeward.warehouse
    return Reach(lakeward.catalog_uri, warehouse, "remote-signing")


@pytest.fixture(scope="module")
def namespace() -> str:
    """A name for a module's own namespace."""
    return f"ns_{secrets.token_hex(4)}"


@pytest.fixture(scope="module")
def catalog(vended: Reach, namespace: str) -> Iterator[Catalog]:
    """PyIceberg's, with a namespace of the module's own."""
    catalog = load_catalog("vended", **pyiceberg_properties(vended))
    catalog.create_namespace_if_not_exists(namespace)  # a module may sign for the same warehouse as well
    yield catalog
    catalog.close()


@pytest.fixture
def new_name(namespace: str) -> str:
    """Of a table that isn't there yet."""
    return f"{namespace}.t_{secrets.token_hex(4)}"


@pytest.fixture
def new_table(catalog: Catalog, new_name: str) -> Callable[..., Table]:
    """Creates the test's own table: as `Catalog.create_table`, without the name."""
    return partial(catalog.create_table, new_name)


@pytest.fixture(scope="package")
def spark_vended(spark_session: SparkSession, vended: Reach, lakeward: Lakeward) -> SparkSql:
    """Spark on the warehouse that vends credentials."""
    return spark_on(spark_session, vended, name=f"vended_{lakeward.composition}")


@pytest.fixture(scope="package")
def spark_signed(spark_session: SparkSession, signed: Reach, lakeward: Lakeward) -> SparkSql:
    """Spark with signed requests."""
    how = "own_key" if signed.warehouse == lakeward.signing_warehouse else "sessions"
    return spark_on(spark_session, signed, name=f"signed_{how}_{lakeward.composition}")


def spark_on(session: SparkSession, reach: Reach, *, name: str) -> SparkSql:
    """The warehouse as a catalog of the shared session, under a name that it never had.

    Spark keeps a catalog for as long as the session, with the address that it had; a Lakeward that was started again, when a
    test of another composition came between, has another.
    """
    catalog = f"{name}_{secrets.token_hex(4)}"
    for key, value in spark_settings(reach, name=catalog).items():
        session.conf.set(key, value)
    sql = SparkSql(session, catalog, f"spark_{secrets.token_hex(4)}")
    sql("create namespace {ns}")
    return sql


@pytest.fixture(scope="module")
def keys_below(lakeward: Lakeward) -> Iterator[Callable[[str], list[str]]]:
    """The store's own word on which objects lie below a location."""
    store = lakeward.store
    client: Any = botocore.session.get_session().create_client(
        "s3",
        endpoint_url=store.endpoint,
        region_name=store.region,
        aws_access_key_id=store.admin.access_key,
        aws_secret_access_key=store.admin.secret_key,
    )

    def keys(location: str) -> list[str]:
        bucket, _, prefix = location.removeprefix("s3://").partition("/")
        listed = client.list_objects_v2(Bucket=bucket, Prefix=prefix.rstrip("/") + "/")
        return [found["Key"] for found in listed.get("Contents", [])]

    yield keys
    client.close()
