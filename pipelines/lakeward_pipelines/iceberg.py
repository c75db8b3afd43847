"""Iceberg for Spark: its own jars by their Maven coordinates, and how a Spark catalog is pointed at a warehouse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

VERSION: Final = "1.10.1"
PACKAGES: Final = (
    f"org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:{VERSION}",
    f"org.apache.iceberg:iceberg-aws-bundle:{VERSION}",
)
EXTENSIONS: Final = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"

Delegation = Literal["vended-credentials", "remote-signing"]


def catalog(
    name: str,
    *,
    uri: str,
    warehouse: str,
    delegation: Delegation = "vended-credentials",
    token: str | None = None,
) -> Mapping[str, str]:
    """Settings of a Spark session under which `name` is a catalog.

    Args:
        name: as in `select * from name.namespace.table`.
        uri: of the catalog API, ending in `/catalog`.
        warehouse: its name.
        delegation: how Spark gets at the files; it holds no key of the store in either way.
        token: a bearer token; None where the catalog asks for none.
    """
    settings = {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "rest",
        ".uri": uri,
        ".warehouse": warehouse,
        ".header.X-Iceberg-Access-Delegation": delegation,
    }
    if token is not None:
        settings[".token"] = token
    return {f"spark.sql.catalog.{name}{key}": value for key, value in settings.items()}
