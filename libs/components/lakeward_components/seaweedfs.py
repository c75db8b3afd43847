"""An S3 store of our own with an STS that enforces session policies: SeaweedFS in one process.

Two keys exist. One may do everything: the server's own I/O. The other may do nothing but assume one role, whose policy
covers the bucket and not the outside one: what credentials are vended from, and what shows that they don't reach out.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar, Final

from lakeward_components import binaries, child, folder, seaweedfs_iam
from lakeward_components.child import Child, Started
from lakeward_components.environment import Component
from lakeward_components.errors import ComponentFailed, ComponentUnavailable
from lakeward_components.folder import HeldFolder
from lakeward_components.http import request
from lakeward_components.ports import GRPC_OFFSET, LOOPBACK, take
from lakeward_components.seaweedfs_iam import ROLE_ARN
from lakeward_components.sigv4 import Key, signed

BUCKET: Final = "warehouse"
OUTSIDE_BUCKET: Final = "outside"
REGION: Final = "us-east-1"
_READY_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 20.0
_SERVERS: Final = ("s3", "master", "volume", "filer", "admin")  # each with a gRPC twin GRPC_OFFSET above
_HTTP_OK: Final = 200
_SOCKETS: Final = Path("/tmp")  # noqa: S108 - its choice, not ours

SMALL_AND_QUIET: Final = (
    "-s3.port.iceberg=0",
    "-s3.port.lance=0",
    "-admin.ui=false",
    "-webdav=false",
    "-master.telemetry=false",  # the default reports usage to the vendor
    "-master.volumeSizeLimitMB=128",  # volumes grow as they fill; nothing is reserved
    "-volume.preStopSeconds=0",  # nobody else is to be told before it stops
)
"""Flags of `weed mini`, wherever it runs."""


@dataclass(frozen=True, slots=True)
class S3Store(Started):
    """A store that answers; path style, no TLS. STS answers at the same endpoint.

    Attributes:
        endpoint: `http://host:port`, without a closing slash.
        admin: may do everything.
        sts_only: may only assume the role.
        role_arn: its policy covers `bucket`, nothing else.
        bucket: exists.
        outside_bucket: exists, outside the role's policy.
        region: what requests are signed for.
    """

    STOP_SECONDS: ClassVar[float] = _STOP_SECONDS

    endpoint: str
    admin: Key
    sts_only: Key
    role_arn: str
    bucket: str = BUCKET
    outside_bucket: str = OUTSIDE_BUCKET
    region: str = REGION

    async def make_bucket(self, name: str) -> None:
        """Make a bucket that the role's policy does not cover; one that is ours already is fine.

        Args:
            name: of three characters or more.

        Raises:
            ComponentUnavailable: the store refused or did not answer.
        """
        url = f"{self.endpoint}/{name}"
        headers = signed("PUT", url, key=self.admin, region=self.region, now=datetime.now(UTC))
        reply = await request("PUT", url, headers=headers, seconds=10.0)
        if reply.status != _HTTP_OK and b"BucketAlreadyOwnedByYou" not in reply.body:
            raise ComponentUnavailable(f"{self.endpoint} answered {reply.status} to the creation of bucket {name}")


@asynccontextmanager
async def running(
    path: Path,
    *,
    port: int | None = None,
    bucket: str = BUCKET,
    outside_bucket: str = OUTSIDE_BUCKET,
    programs: Path | None = None,
) -> AsyncIterator[S3Store]:
    """`start`, and `stop` at the end."""
    store = await start(path, port=port, bucket=bucket, outside_bucket=outside_bucket, programs=programs)
    try:
        yield store
    finally:
        await store.stop()


async def start(
    path: Path,
    *,
    port: int | None = None,
    bucket: str = BUCKET,
    outside_bucket: str = OUTSIDE_BUCKET,
    programs: Path | None = None,
) -> S3Store:
    """Start the store of a folder, made on first use; objects of an earlier run are there.

    Args:
        path: the component's own folder.
        port: of S3 on loopback, must be free; None takes the last one, or another when that is taken.
        bucket: covered by the role; made if need be.
        outside_bucket: not covered; made if need be.
        programs: folder with `weed`; None finds it.

    Raises:
        ComponentUnavailable: no program.
        FolderInUse: another process works there.
        ComponentFailed: it does not start; the message carries its log.
    """
    programs = programs or binaries.shipped(Component.S3)
    held = await folder.hold(path)
    try:
        return await _start(held, port=port, bucket=bucket, outside_bucket=outside_bucket, program=programs / "weed")
    except BaseException:
        held.release()
        raise


async def _start(held: HeldFolder, *, port: int | None, bucket: str, outside_bucket: str, program: Path) -> S3Store:
    remembered = held.remembered()
    ports: dict[str, int] = {}
    for server in _SERVERS:
        ports[server] = _port_of(
            server,
            given=port if server == "s3" else None,
            last=remembered.get(f"{server}_port"),
            avoid=tuple(ports.values()),
        )
    grants = seaweedfs_iam.grants(remembered, bucket=bucket)
    held.remember({**grants.remembered(), **{f"{server}_port": number for server, number in ports.items()}})
    configuration = held.write("iam.json", grants.document())
    data = held.path / "data"
    data.mkdir(mode=0o700, exist_ok=True)
    # The options of the last run would be read again, with ports that may be somebody else's by now.
    (data / "mini.options").unlink(missing_ok=True)
    started = child.spawn(
        "weed",
        [program, *_arguments(data, configuration, ports=ports, buckets=(bucket, outside_bucket))],
        folder=held,
        environment={**os.environ, **_SMALL},
    )
    store = S3Store(
        endpoint=f"http://{LOOPBACK}:{ports['s3']}",
        admin=grants.admin,
        sts_only=grants.sts_only,
        role_arn=ROLE_ARN,
        bucket=bucket,
        outside_bucket=outside_bucket,
        _server=_Weed(started, ports),
    )
    try:
        await started.until(lambda: ready(store), seconds=_READY_SECONDS)
    except BaseException:
        await store.stop(gracefully=False)
        raise
    return store


@dataclass(frozen=True, slots=True)
class _Weed:
    """The process, and what it leaves in /tmp when it is killed."""

    process: Child
    ports: Mapping[str, int]

    @property
    def pid(self) -> int:
        return self.process.pid

    async def watch(self) -> None:
        await self.process.watch()

    async def stop(self, *signals: signal.Signals, seconds: float) -> None:
        await self.process.stop(*signals, seconds=seconds)
        _remove_sockets(self.ports)


def _port_of(server: str, *, given: int | None, last: str | int | None, avoid: Sequence[int]) -> int:
    """A port, as `take` has it, of which nobody else left a socket: where it can't replace one, SeaweedFS ends."""
    spoken_for = [*avoid]
    while True:
        number = take(given=given, last=last, twin_offset=GRPC_OFFSET, avoid=spoken_for)
        theirs = _remove_sockets({server: number})
        if not theirs:
            return number
        if given is not None:
            raise ComponentFailed(
                f"{theirs[0]} is another user's, and SeaweedFS needs that name for port {given}; "
                "choose another port for S3, or have the file removed"
            )
        spoken_for.append(number)


def _remove_sockets(ports: Mapping[str, int]) -> Sequence[Path]:
    """Remove what a process that was killed has left; what is still there, since it is another user's."""
    # It names them by port, whatever the port, and nobody else has ours.
    paths = [
        _SOCKETS / f"seaweedfs-{name}.sock"
        for server, number in ports.items()
        for name in (f"{server}-{number}", f"{server}-grpc-{number + GRPC_OFFSET}")
    ]
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()
    return [path for path in paths if os.path.lexists(path)]


# The Go runtime collects more often instead of growing. The limit is well above the 230 MiB of buffers that it sets aside and
# hardly touches: a limit near them would keep it collecting all the time.
_SMALL: Final = {"GOMEMLIMIT": "1GiB", "GOGC": "50"}


def mini(data: Path, ports: Mapping[str, int]) -> list[str]:
    """Arguments for all servers in one process, on loopback: their data and their ports, by server."""
    listeners = [
        argument
        for server, number in ports.items()
        for argument in (f"-{server}.port={number}", f"-{server}.port.grpc={number + GRPC_OFFSET}")
    ]
    return ["-logtostderr=true", "mini", f"-dir={data}", f"-ip={LOOPBACK}", f"-ip.bind={LOOPBACK}", *listeners]


def _arguments(data: Path, configuration: Path, *, ports: Mapping[str, int], buckets: tuple[str, ...]) -> list[str]:
    return [
        *mini(data, ports),
        f"-bucket={','.join(buckets)}",
        f"-s3.config={configuration}",
        f"-s3.iam.config={configuration}",
        *SMALL_AND_QUIET,
    ]


async def ready(store: S3Store) -> bool:
    """Whether the store answers our key, and every bucket is there."""
    # Buckets are made last, in order, and until then session tokens are refused. Our key proves that it is our store.
    url = f"{store.endpoint}/{store.outside_bucket}"
    headers = signed("GET", url, key=store.admin, region=store.region, now=datetime.now(UTC))
    return (await request("GET", url, headers=headers)).status == _HTTP_OK
