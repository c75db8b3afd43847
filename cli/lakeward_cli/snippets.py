"""Ready-to-paste settings for a first client. Tests run these as they are printed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

# The newest release of Iceberg's Spark runtime that the tests of engines run with.
ICEBERG_VERSION: Final = "1.10.1"
SPARK_VERSION: Final = "3.5"
SCALA_VERSION: Final = "2.12"


def pyiceberg(url: str, warehouse: str) -> str:
    """Python with PyIceberg."""
    return f"""\
from pyiceberg.catalog import load_catalog
catalog = load_catalog("lakeward", type="rest", uri="{url}/catalog", warehouse="{warehouse}", token="dev")
print(catalog.list_namespaces())"""


def spark(url: str, warehouse: str) -> str:
    """A Spark SQL shell."""
    packages = (
        f"org.apache.iceberg:iceberg-spark-runtime-{SPARK_VERSION}_{SCALA_VERSION}:{ICEBERG_VERSION},"
        f"org.apache.iceberg:iceberg-aws-bundle:{ICEBERG_VERSION}"
    )
    return f"""\
spark-sql --packages {packages} \\
  --conf spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions \\
  --conf spark.sql.catalog.lakeward=org.apache.iceberg.spark.SparkCatalog \\
  --conf spark.sql.catalog.lakeward.type=rest \\
  --conf spark.sql.catalog.lakeward.uri={url}/catalog \\
  --conf spark.sql.catalog.lakeward.warehouse={warehouse} \\
  --conf spark.sql.catalog.lakeward.header.X-Iceberg-Access-Delegation=vended-credentials \\
  --conf spark.sql.defaultCatalog=lakeward"""


def duckdb(url: str, warehouse: str) -> str:
    """DuckDB."""
    return f"""\
INSTALL httpfs; LOAD httpfs; INSTALL iceberg; LOAD iceberg;
ATTACH '{warehouse}' AS lakeward (TYPE iceberg, ENDPOINT '{url}/catalog', AUTHORIZATION_TYPE none, READ_ONLY false);
SHOW ALL TABLES;"""


def curl(url: str, warehouse: str) -> str:
    """A shell."""
    return f'curl "{url}/catalog/v1/config?warehouse={warehouse}"'


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
