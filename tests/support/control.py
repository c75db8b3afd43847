"""A catalog that is not ours: SeaweedFS's own Iceberg REST server, with vended credentials.

An engine that fails here too is set up wrongly; only one that works here and fails on Lakeward says something of Lakeward.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lakeward_components import binaries, blocking, child, folder, seaweedfs_iam
from lakeward_components.environment import Component
from lakeward_components.http import request
from lakeward_components.ports import GRPC_OFFSET, LOOPBACK, take
from lakeward_components.seaweedfs import mini
from lakeward_components.sigv4 import Key, signed

BUCKET = "lake"
REGION = "us-east-1"
_SERVERS = ("s3", "master", "volume", "filer", "admin")  # each with a gRPC twin
_ROLE = "arn:aws:iam::000000000000:role/vending"
_READY_SECONDS = 60.0
_STOP_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class ControlCatalog:
    """A catalog that answers.

    Attributes:
        uri: where its Iceberg REST begins.
        warehouse: what clients call it.
        key: what its token endpoint takes for client id and secret.
    """

    uri: str
    warehouse: str
    key: Key

    @property
    def token_uri(self) -> str:
        return f"{self.uri}/v1/oauth/tokens"

    @property
    def credential(self) -> str:
        return f"{self.key.access_key}:{self.key.secret_key}"


@contextmanager
def running(path: Path) -> Iterator[ControlCatalog]:
    """Start one in a folder of its own, and stop it at the end."""
    program = binaries.shipped(Component.S3) / "weed"
    held = blocking.run(folder.hold(path))
    grants = seaweedfs_iam.grants({}, bucket=BUCKET)
    iam = held.write("iam.json", json.dumps(_vending(json.loads(grants.document()))))
    ports: dict[str, int] = {}
    for server in _SERVERS:
        ports[server] = take(given=None, last=None, twin_offset=GRPC_OFFSET, avoid=tuple(ports.values()))
    iceberg = take(given=None, last=None, avoid=[port + twin for port in ports.values() for twin in (0, GRPC_OFFSET)])
    data = held.path / "data"
    data.mkdir()
    process = child.spawn("weed", [program, *_arguments(data, iam, ports, iceberg)], folder=held)
    catalog = ControlCatalog(f"http://{LOOPBACK}:{iceberg}", f"s3://{BUCKET}/", grants.admin)
    try:
        blocking.run(process.until(lambda: _ready(catalog), seconds=_READY_SECONDS))
        yield catalog
    finally:
        blocking.run(process.stop(signal.SIGTERM, seconds=_STOP_SECONDS))


def _arguments(data: Path, iam: Path, ports: dict[str, int], iceberg: int) -> list[str]:
    return [
        *mini(data, ports),
        f"-tableBucket={BUCKET}",
        f"-s3.port.iceberg={iceberg}",
        "-s3.port.lance=0",
        f"-s3.config={iam}",
        f"-s3.iam.config={iam}",
        f"-s3.externalUrl=http://{LOOPBACK}:{ports['s3']}",
        f"-s3.iceberg.credentialRole={_ROLE}",
        "-admin.ui=false",
        "-webdav=false",
        "-master.telemetry=false",
        "-master.volumeSizeLimitMB=128",
        "-volume.preStopSeconds=0",
    ]


def _vending(document: dict[str, Any]) -> dict[str, Any]:
    """With the role that its catalog vends from."""
    trust = {
        "Effect": "Allow",
        "Principal": {"Federated": "iceberg-catalog"},
        "Action": ["sts:AssumeRoleWithCredentials"],
    }
    access = {"Effect": "Allow", "Action": ["s3:*", "s3tables:*"], "Resource": ["*"]}
    document["roles"].append(
        {"roleName": "vending", "roleArn": _ROLE, "trustPolicy": _policy(trust), "attachedPolicies": ["Everything"]}
    )
    document["policies"].append({"name": "Everything", "document": _policy(access)})
    return document


def _policy(statement: dict[str, Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": [statement]}


async def _ready(catalog: ControlCatalog) -> bool:
    url = f"{catalog.uri}/v1/{BUCKET}/namespaces"
    headers = signed("GET", url, key=catalog.key, region=REGION, now=datetime.now(UTC))
    return (await request("GET", url, headers=headers)).status == 200
