"""Runs Iceberg's own library over a stream of questions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "java"
CLASSPATH_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath"


def missing() -> str | None:
    """What this machine lacks to run the oracle, with the cure; None if nothing."""
    lacking = [tool for tool in ("java", "javac", "mvn") if shutil.which(tool) is None]
    return f"{', '.join(lacking)} not found: install a JDK 17 and Maven" if lacking else None


def build(folder: Path, *, home: Path = HERE, program: str = "Oracle") -> str:
    """Compile a class into `folder`; its jars come from the local Maven repository, or are fetched once.

    Args:
        folder: for what is built.
        home: where the class and a pom.xml are that names what it needs.
        program: the class.

    Returns:
        The class path to run it with.

    Raises:
        subprocess.CalledProcessError: Maven or javac failed; what they said is in the output.
    """
    listing = folder / "classpath.txt"
    command = ["mvn", "-B", "-q", "-f", str(home / "pom.xml"), CLASSPATH_GOAL, f"-Dmdep.outputFile={listing}"]
    offline = subprocess.run([*command, "-o"], capture_output=True, text=True, check=False)
    if offline.returncode != 0:
        subprocess.run(command, capture_output=True, text=True, check=True)
    classpath = f"{folder}{os.pathsep}{listing.read_text().strip()}"
    source = str(home / f"{program}.java")
    subprocess.run(
        ["javac", "-nowarn", "-d", str(folder), "-cp", classpath, source], capture_output=True, text=True, check=True
    )
    return classpath


def ask(classpath: str, questions: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """One answer a question, in order: {"metadata": …} or {"error": …}."""
    lines = "\n".join(json.dumps(question) for question in questions) + "\n"
    run = subprocess.run(
        ["java", "-Xmx512m", "-cp", classpath, "Oracle"], input=lines, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in run.stdout.splitlines()]
