"""Builds Iceberg's compatibility kit with our two classes, and runs it against warehouses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support import maven

HERE = Path(__file__).parent / "java"
# The session is short: what a second compiler would gain costs more than it brings.
_JVM = ("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Warehouse:
    """Where the kit runs.

    Attributes:
        run: a name for it, which its results have too.
        uri: of the catalog API, ending in `/catalog`.
        name: the warehouse's; nothing else is in it.
        delegation: how the kit's client gets at files.
        location: of the warehouse, without a closing slash.
    """

    run: str
    uri: str
    name: str
    delegation: str
    location: str

    def document(self) -> Mapping[str, object]:
        """As `Kit.java` reads it."""
        properties = {
            "uri": self.uri,
            "warehouse": self.name,
            "header.X-Iceberg-Access-Delegation": self.delegation,
            "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        }
        return {"run": self.run, "properties": properties, "locations": f"{self.location}/chosen"}


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one of the kit's tests.

    Attributes:
        test: as `Tables.testAppend`, with its arguments where it has some.
        outcome: passed, failed or skipped.
        said: of a test that did not pass, why.
    """

    run: str
    test: str
    outcome: str
    said: str


def build(version: str, folder: Path) -> str:
    """Compile our classes against a version of the kit into `folder`; the class path to run it with."""
    return maven.build(HERE, folder, iceberg_version=version)


def run(classpath: str, warehouses: Sequence[Warehouse]) -> Sequence[Result]:
    """The whole kit in each of the warehouses, one after another, in one process.

    Raises:
        AssertionError: it ended before it was through, with what it said.
    """
    lines = "\n".join(json.dumps(warehouse.document()) for warehouse in warehouses)
    printed = maven.done(["java", *_JVM, "-cp", classpath, "Kit"], standard_input=lines, seconds=_SECONDS)
    return [Result(**json.loads(line)) for line in printed.splitlines()]
