"""Builds what a real Kubernetes API server needs: `python -m tests.support.kubernetes_build`, or `make kubernetes`.

kube-apiserver comes from its Go module, for which `go` must be on PATH, and etcd from PATH or from Debian's package
`etcd-server`. Both are kept in a folder of the user's cache, which later runs find. The first build takes minutes, 2 GB of
memory and 3 GB of Go's own caches.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

VERSION: Final = "1.36.3"
API_SERVER: Final = "kube-apiserver"
ETCD: Final = "etcd"
# A folder with both programs, in place of the cache's.
VARIABLE: Final = "LAKEWARD_TEST_KUBERNETES_BIN"
_COMMAND: Final = "k8s.io/kubernetes/cmd/kube-apiserver"
_STAGING: Final = re.compile(r"^\s*(k8s\.io/\S+) => \./staging/", re.MULTILINE)
_SETTINGS: Final = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local"}


def programs() -> Path | None:
    """The folder that has both programs; None where there is none."""
    folder = Path(os.environ.get(VARIABLE) or _cache())
    return folder if all((folder / name).is_file() for name in (API_SERVER, ETCD)) else None


def build() -> Path:
    """Make what is missing of the cache's folder.

    Raises:
        RuntimeError: a tool is missing or fails; the message has its last words.
    """
    folder = _cache()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        if not (folder / ETCD).is_file():
            _etcd(Path(scratch)).replace(folder / ETCD)
        if not (folder / API_SERVER).is_file():
            _api_server(Path(scratch)).replace(folder / API_SERVER)
    return folder


def _cache() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "lakeward" / f"kubernetes-{VERSION}"


def _etcd(scratch: Path) -> Path:
    made = scratch / ETCD
    if (own := shutil.which("etcd")) is not None:
        shutil.copy2(own, made)
        return made
    _run(["apt-get", "download", "etcd-server"], scratch)
    (package,) = scratch.glob("etcd-server*.deb")
    _run(["dpkg-deb", "--extract", package.name, "unpacked"], scratch)
    return scratch / "unpacked" / "usr" / "bin" / "etcd"


def _api_server(scratch: Path) -> Path:
    """As `go install` would, which refuses a module whose go.mod replaces others: here its parts come as they are published."""
    found = json.loads(_run(["go", "mod", "download", "-json", f"k8s.io/kubernetes@v{VERSION}"], scratch))
    staging = _STAGING.findall(Path(found["GoMod"]).read_text(encoding="utf-8"))
    published = VERSION.replace("1.", "0.", 1)
    lines = ["module lakeward.test/kubernetes", "go 1.26.0", f"require k8s.io/kubernetes v{VERSION}"]
    lines += [f"replace {name} => {name} v{published}" for name in staging]
    (scratch / "go.mod").write_text("\n".join([*lines, ""]), encoding="utf-8")
    tools = f'//go:build tools\n\npackage tools\n\nimport _ "{_COMMAND}"\n'
    (scratch / "tools.go").write_text(tools, encoding="utf-8")
    _run(["go", "mod", "tidy"], scratch)
    version = f"-s -w -X k8s.io/component-base/version.gitVersion=v{VERSION}"
    _run(["go", "build", "-trimpath", "-ldflags", version, "-o", API_SERVER, _COMMAND], scratch)
    return scratch / API_SERVER


def _run(command: Sequence[str], folder: Path) -> str:
    if shutil.which(command[0]) is None:
        raise RuntimeError(f"{command[0]} is not on PATH, and {API_SERVER} can't be made without it")
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **_SETTINGS}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.stdout.write(f"{build()}\n")
