"""Builds Iceberg's compatibility kit with our two classes, and runs it against warehouses."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent / "java"
CLASSPATH_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath"
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


def missing() -> str | None:
    """What this machine lacks to run the kit, with the cure; None if nothing."""
    lacking = [tool for tool in ("java", "javac", "mvn") if shutil.which(tool) is None]
    if not lacking:
        return None
    return (
        f"{', '.join(lacking)} not found, which Iceberg's compatibility kit is built and run with: install a JDK 17 and "
        "Maven (on Debian: apt-get install openjdk-17-jdk-headless maven)"
    )


def build(version: str, folder: Path) -> str:
    """Compile our classes against a version of the kit into `folder`; its jars are in the local Maven repository or fetched.

    Returns:
        The class path to run it with.

    Raises:
        AssertionError: Maven or javac failed, with what they said.
    """
    listing = folder / "classpath.txt"
    options = [f"-Diceberg.version={version}", f"-Dmdep.outputFile={listing}"]
    command = ["mvn", "-B", "-q", "-f", str(HERE / "pom.xml"), CLASSPATH_GOAL, *options]
    if subprocess.run([*command, "-o"], capture_output=True, text=True, check=False).returncode != 0:
        _done(command)
    classpath = f"{folder}{os.pathsep}{listing.read_text().strip()}"
    _done(["javac", "-nowarn", "-d", str(folder), "-cp", classpath, *map(str, sorted(HERE.glob("*.java")))])
    return classpath


def run(classpath: str, warehouses: Sequence[Warehouse]) -> Sequence[Result]:
    """The whole kit in each of the warehouses, one after another, in one process.

    Raises:
        AssertionError: it ended before it was through, with what it said.
    """
    lines = "\n".join(json.dumps(warehouse.document()) for warehouse in warehouses)
    printed = _done(["java", *_JVM, "-cp", classpath, "Kit"], standard_input=lines)
    return [Result(**json.loads(line)) for line in printed.splitlines()]


def _done(command: Sequence[str], *, standard_input: str = "") -> str:
    ended = subprocess.run(command, input=standard_input, capture_output=True, text=True, check=False, timeout=_SECONDS)
    said = f"{ended.stdout[-4000:]}\n{ended.stderr[-4000:]}"
    assert ended.returncode == 0, f"{command[0]} ended with {ended.returncode}:\n{said}"
    return ended.stdout
