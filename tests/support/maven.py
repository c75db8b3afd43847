"""Java programs of tests, compiled against what a pom.xml names."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_CLASSPATH: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath"


def missing() -> str | None:
    """What this machine lacks to build and run them, with the cure; None if nothing."""
    lacking = [tool for tool in ("java", "javac", "mvn") if shutil.which(tool) is None]
    if not lacking:
        return None
    return (
        f"{', '.join(lacking)} not found, which tests against Iceberg's own code are built and run with: install a JDK 17 "
        "and Maven (on Debian: apt-get install openjdk-17-jdk-headless maven)"
    )


def build(home: Path, folder: Path, **properties: str) -> str:
    """Compile the classes of `home` into `folder`; their jars are in the local Maven repository or fetched.

    Args:
        home: where the classes and a pom.xml are that names what they need.
        folder: for what is built.
        **properties: of the pom, with `_` for `.`.

    Returns:
        The class path to run them with.

    Raises:
        AssertionError: Maven or javac failed, or isn't there, with what they said.
    """
    jars = classpath(home, folder, **properties)
    whole = f"{folder}{os.pathsep}{jars}"
    done(["javac", "-nowarn", "-d", str(folder), "-cp", whole, *map(str, sorted(home.glob("*.java")))])
    return whole


def classpath(home: Path, folder: Path, **properties: str) -> str:
    """The jars that the pom.xml of `home` names, and theirs; they are in the local Maven repository or fetched.

    Args:
        home: where the pom.xml is.
        folder: for Maven's list of them.
        **properties: of the pom, with `_` for `.`.

    Raises:
        AssertionError: Maven failed, or isn't there, with what it said.
    """
    assert (cure := missing()) is None, cure
    listing = folder / "classpath.txt"
    given = {name.replace("_", "."): value for name, value in properties.items()} | {"mdep.outputFile": str(listing)}
    options = [f"-D{name}={value}" for name, value in given.items()]
    command = ["mvn", "-B", "-q", "-f", str(home / "pom.xml"), _CLASSPATH, *options]
    with _alone():
        if subprocess.run([*command, "-o"], capture_output=True, text=True, check=False).returncode != 0:
            done(command)
    return listing.read_text().strip()


def done(command: list[str], *, standard_input: str = "", seconds: float = 600) -> str:
    """What a program printed.

    Raises:
        AssertionError: it failed, with what it said.
    """
    ended = subprocess.run(command, input=standard_input, capture_output=True, text=True, check=False, timeout=seconds)
    said = f"{ended.stdout[-4000:]}\n{ended.stderr[-4000:]}"
    assert ended.returncode == 0, f"{command[0]} ended with {ended.returncode}:\n{said}"
    return ended.stdout


@contextmanager
def _alone() -> Iterator[None]:
    """Maven's repository, which is the user's, takes one writer at a time; tests have two workers."""
    with (Path(tempfile.gettempdir()) / f"lakeward-maven-{os.getuid()}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
