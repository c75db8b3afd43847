"""Ready-to-paste settings for a first client. Tests run these as they are printed."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

# The newest release of Iceberg's Spark runtime that the tests of engines run with.
ICEBERG_VERSION: Final = "1.10.1"
SPARK_VERSION: Final = "3.5"
SCALA_VERSION: Final = "2.12"
VARIABLE: Final = "LAKEWARD_TOKEN"
"""Where snippets for people find a token: in the environment, since one is a thousand characters long."""


@dataclasses.dataclass(frozen=True, slots=True)
class Person:
    """Who may sign in.

    Attributes:
        does: what they may do, as in "who may do everything".
    """

    name: str
    does: str
    token: str = dataclasses.field(repr=False)


def pyiceberg(url: str, warehouse: str, *, asked: bool = False) -> str:
    """Python with PyIceberg; `asked` where callers must say who they are."""
    needed, token = ("import os\n", f'os.environ["{VARIABLE}"]') if asked else ("", '"dev"')
    return f"""\
# pip install 'pyiceberg[pyarrow]'
{needed}from pyiceberg.catalog import load_catalog
catalog = load_catalog("lakeward", type="rest", uri="{url}/catalog", warehouse="{warehouse}", token={token})
print(catalog.list_namespaces())"""


def spark(url: str, warehouse: str, *, asked: bool = False) -> str:
    """A Spark SQL shell; `asked` where callers must say who they are.

    Spark's own catalog is nowhere used, and is kept in memory: Hive's would make a database where the shell is started.
    """
    packages = (
        f"org.apache.iceberg:iceberg-spark-runtime-{SPARK_VERSION}_{SCALA_VERSION}:{ICEBERG_VERSION},"
        f"org.apache.iceberg:iceberg-aws-bundle:{ICEBERG_VERSION}"
    )
    # A token that is given can't be renewed: nobody here gives tokens for tokens.
    known = (
        f"  --conf spark.sql.catalog.lakeward.token=${VARIABLE} \\\n"
        "  --conf spark.sql.catalog.lakeward.token-refresh-enabled=false \\\n"
        if asked
        else ""
    )
    return f"""\
# pip install 'pyspark=={SPARK_VERSION}.*', and Java 17 in JAVA_HOME or on the PATH
spark-sql --packages {packages} \\
  --conf spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions \\
  --conf spark.sql.catalog.lakeward=org.apache.iceberg.spark.SparkCatalog \\
  --conf spark.sql.catalog.lakeward.type=rest \\
  --conf spark.sql.catalog.lakeward.uri={url}/catalog \\
  --conf spark.sql.catalog.lakeward.warehouse={warehouse} \\
{known}  --conf spark.sql.catalog.lakeward.header.X-Iceberg-Access-Delegation=vended-credentials \\
  --conf spark.sql.defaultCatalog=lakeward \\
  --conf spark.sql.catalogImplementation=in-memory"""


def duckdb(url: str, warehouse: str) -> str:
    """DuckDB."""
    return f"""\
INSTALL httpfs; LOAD httpfs; INSTALL iceberg; LOAD iceberg;
ATTACH '{warehouse}' AS lakeward (TYPE iceberg, ENDPOINT '{url}/catalog', AUTHORIZATION_TYPE none, READ_ONLY false);
SHOW ALL TABLES;"""


def curl(url: str, warehouse: str, *, token: str = "") -> str:
    """A shell; `token` where callers must say who they are."""
    known = f' -H "authorization: Bearer {token}"' if token else ""
    return f'curl "{url}/catalog/v1/config?warehouse={warehouse}"{known}'


def why(url: str, warehouse: str) -> str:
    """Why whoever the token is of may make a namespace, or may not."""
    return f"{_command()} why me create_namespace warehouse/{warehouse} --url {url}"


def shown(*, url: str, warehouse: str | None, home: Path) -> str:
    """What `lakeward up` prints once it serves."""
    head = f"Lakeward serves at {url} and keeps its state in {home}. Ctrl-C ends it.\n"
    if warehouse is None:
        return (
            head + "Callers must say who they are, so nothing was made for them: bootstrap it with a token of yours,\n"
            f"  curl -X POST {url}/management/v1/bootstrap -H 'authorization: Bearer …' "
            "-H 'content-type: application/json' -d '{\"accept-terms-of-use\": true}'\n"
        )
    parts = (
        ("PyIceberg", pyiceberg(url, warehouse)),
        ("Spark", spark(url, warehouse)),
        ("DuckDB", duckdb(url, warehouse)),
        ("curl", curl(url, warehouse)),
    )
    return head + "".join(f"\n{name}:\n\n{text}\n" for name, text in parts)


def shown_to_people(*, url: str, warehouse: str, home: Path, people: Sequence[Person]) -> str:
    """What `lakeward up --secure` prints once it serves."""
    fresh = f"{_command()} token {people[-1].name} --home {home}"
    head = (
        f"Lakeward serves at {url} and keeps its state in {home}. Ctrl-C ends it.\n"
        f"It asks who you are; {len(people)} people may sign in, each with a token of half a day.\n"
    )
    each = "".join(
        f"\n{person.name}, {person.does}:\n\n{curl(url, warehouse, token=person.token)}\n" for person in people
    )
    variable = f"\nTo be one of them in what follows:\n\nexport {VARIABLE}=$({fresh})\n"
    parts = (
        ("PyIceberg", pyiceberg(url, warehouse, asked=True)),
        ("Spark", spark(url, warehouse, asked=True)),
        ("curl", curl(url, warehouse, token=f"${VARIABLE}")),
        ("why", why(url, warehouse)),
    )
    return head + each + variable + "".join(f"\n{name}:\n\n{text}\n" for name, text in parts)


def _command() -> str:
    """As this process was called, so that it can be called again."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "lakeward" else f"{sys.executable} -m lakeward_cli"
