"""Runs Iceberg's own library over a stream of questions."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.support import maven

HERE = Path(__file__).parent / "java"


def build(folder: Path) -> str:
    """Compile it into `folder`; the class path to run it with."""
    return maven.build(HERE, folder)


def ask(classpath: str, questions: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """One answer a question, in order: {"metadata": …} or {"error": …}."""
    lines = "\n".join(json.dumps(question) for question in questions) + "\n"
    run = subprocess.run(
        ["java", "-Xmx512m", "-cp", classpath, "Oracle"], input=lines, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in run.stdout.splitlines()]
