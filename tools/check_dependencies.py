"""Checks with deptry that each distribution declares what it imports, and imports what it declares."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Distributions whose module has another name than they do.
MODULES = {
    "lakeward-protocol": "lakeward",
    "googleapis-common-protos": "google",
    "grpcio": "grpc",
    "grpcio-health-checking": "grpc_health",
    "grpcio-reflection": "grpc_reflection",
    "protobuf": "google",
    "pyjwt": "jwt",
    "nats-py": "nats",
    "pydantic-settings": "pydantic_settings",
    "opentelemetry-api": "opentelemetry",
}


def main() -> int:
    """0 where every distribution is content."""
    status = 0
    for manifest in sorted([*ROOT.glob("libs/*/pyproject.toml"), *ROOT.glob("services/*/pyproject.toml"), ROOT / "cli/pyproject.toml"]):
        folder = manifest.parent
        if folder.name == "protocol":
            continue
        # `lakeward` is a namespace that many distributions share: import-linter says who may import whom in it
        command = [
            sys.executable,
            "-m",
            "deptry",
            str(folder / "src"),
            "--config",
            str(manifest),
            "--known-first-party",
            "lakeward",
            "--package-module-name-map",
            ",".join(f"{name}={module}" for name, module in MODULES.items()),
        ]
        print(f"{folder.relative_to(ROOT)}:", flush=True)
        status |= subprocess.run(command, cwd=folder, check=False).returncode
    return status


if __name__ == "__main__":
    raise SystemExit(main())
