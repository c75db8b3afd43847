"""How engines connect to a warehouse: what `docs/engines.md` shows, and what the tests run, from the same functions.

What `lakeward up` prints for a first client is `lakeward_cli.snippets`; here are the same engines with all that they can be
told: how they get at files, whose token they send.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward_pipelines import iceberg
from lakeward_pipelines.iceberg import Delegation

if TYPE_CHECKING:
    import duckdb

NAME = "lakeward"
"""Under which the snippets attach the warehouse."""

SHORT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For a JVM that lives for seconds or minutes: what a second compiler would gain costs more than it brings."""

_EXTENSIONS = ("httpfs", "avro", "iceberg", "aws")


@dataclass(frozen=True, slots=True)
class Reach:
    """A warehouse as a client sees it.

    Attributes:
        uri: of the catalog API, ending in `/catalog`.
        warehouse: its name.
        delegation: how the client gets at files; it holds no key of the store in either way.
        token: a bearer token; None where the catalog asks for none.
    """

    uri: str
    warehouse: str
    delegation: Delegation = "vended-credentials"
    token: str | None = None


def pyiceberg_properties(reach: Reach) -> Mapping[str, str]:
    """What `load_catalog` takes beside a name."""
    properties = {"type": "rest", "uri": reach.uri, "warehouse": reach.warehouse}
    if reach.delegation == "remote-signing":
        # PyArrow's own S3 client can't have its requests signed by somebody else; s3fs can.
        properties["header.X-Iceberg-Access-Delegation"] = reach.delegation
        properties["py-io-impl"] = "pyiceberg.io.fsspec.FsspecFileIO"
    if reach.token is not None:
        properties["token"] = reach.token
    return properties


def pyiceberg_snippet(reach: Reach) -> str:
    """Python that makes `catalog`; needs pyiceberg[pyarrow], and [s3fs] for remote signing."""
    lines = [f'    "{key}": "{value}",' for key, value in pyiceberg_properties(reach).items()]
    return "\n".join(
        [
            "from pyiceberg.catalog import load_catalog",
            "",
            f'catalog = load_catalog("{NAME}", **{{',
            *lines,
            "})",
        ]
    )


def spark_settings(reach: Reach, *, name: str = NAME) -> Mapping[str, str]:
    """The warehouse as the Spark catalog `name`; a session takes them at its start or while it runs."""
    return iceberg.catalog(
        name, uri=reach.uri, warehouse=reach.warehouse, delegation=reach.delegation, token=reach.token
    )


def spark_snippet(reach: Reach, *, name: str = NAME) -> str:
    """Python that makes `spark`; needs pyspark 3.5 and Java 17. In a session that runs already it adds the catalog."""
    settings = {
        "spark.jars.packages": ",".join(iceberg.PACKAGES),
        "spark.sql.extensions": iceberg.EXTENSIONS,
        **spark_settings(reach, name=name),
    }
    lines = [f'    .config("{key}", "{value}")' for key, value in settings.items()]
    return "\n".join(
        [
            "from pyspark.sql import SparkSession",
            "",
            "spark = (",
            "    SparkSession.builder",
            *lines,
            "    .getOrCreate()",
            ")",
        ]
    )


def duckdb_statements(reach: Reach, *, name: str = NAME) -> Sequence[str]:
    """SQL that attaches the warehouse as `name`, for writing too; the iceberg and httpfs extensions are loaded."""
    if reach.token is None:
        authorization, secret = "authorization_type 'none', ", []
    else:
        authorization = f"secret {name}_token, "
        secret = [f"create secret {name}_token (type iceberg, token '{reach.token}')"]
    attach = (
        f"attach '{reach.warehouse}' as {name} (type iceberg, endpoint '{reach.uri}', {authorization}"
        "access_delegation_mode 'vended_credentials', read_only false)"
    )
    return [*secret, attach]


def duckdb_snippet(reach: Reach) -> str:
    """SQL for DuckDB 1.5 or newer."""
    statements = ("install httpfs", "load httpfs", "install iceberg", "load iceberg", *duckdb_statements(reach))
    return "\n".join(f"{statement};" for statement in statements)


def duckdb_connection() -> duckdb.DuckDBPyConnection:
    """A database in memory with the extensions that packages ship; nothing is fetched."""
    import duckdb

    never = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    connection = duckdb.connect(config=dict(never))
    for extension in _EXTENSIONS:
        connection.execute(f"load '{_extension(extension, version=duckdb.__version__)}'")
    return connection


def duckdb_with_installed_extensions(folder: Path) -> duckdb.DuckDBPyConnection:
    """A database in memory as on a machine where each extension was installed once, in `folder`; nothing is loaded yet."""
    import duckdb

    (platform,) = duckdb.execute("pragma platform").fetchone() or ("",)
    installed = folder / f"v{duckdb.__version__}" / platform
    installed.mkdir(parents=True)
    for extension in _EXTENSIONS:
        shutil.copy(_extension(extension, version=duckdb.__version__), installed)
    return duckdb.connect(config={"extension_directory": str(folder)})


def _extension(name: str, *, version: str) -> Path:
    package = importlib.util.find_spec(f"duckdb_extension_{name}")
    assert package is not None, f"duckdb-extension-{name} is not installed; see requirements-dev.txt"
    assert package.submodule_search_locations is not None
    file = Path(package.submodule_search_locations[0], "extensions", f"v{version}", f"{name}.duckdb_extension")
    assert file.is_file(), f"there is no {file}: duckdb {version} needs duckdb-extension-{name}=={version}"
    return file
