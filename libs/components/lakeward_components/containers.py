"""The components in containers, where an engine runs them: the same values, at ports that the engine picks.

What each container is, is a plain value; the engine is driven by testcontainers, whose reaper removes the containers
when we die. Their data lie in the component's folder, as a child's do.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lakeward_components import databases, folder, nats, seaweedfs, seaweedfs_iam
from lakeward_components.errors import ComponentFailed
from lakeward_components.folder import HeldFolder
from lakeward_components.nats import NatsServer
from lakeward_components.postgres import SMALL, USER, PostgresServer
from lakeward_components.seaweedfs import S3Store

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

POSTGRES_IMAGE: Final = "postgres:18"
NATS_IMAGE: Final = "nats:2"
SEAWEEDFS_IMAGE: Final = "chrislusf/seaweedfs:4.48"
_READY_SECONDS: Final = 120.0
_POLL_SECONDS: Final = 0.1
_ANYWHERE: Final = "0.0.0.0"  # noqa: S104 - inside the container, whose engine forwards one port


@dataclass(frozen=True, slots=True)
class Recipe:
    """What to run.

    Attributes:
        image: with its tag.
        port: the one that is forwarded.
        command: after the image's entry point.
        mounts: a file or folder of ours to its path inside; a file can't be written there.
        environment: variables inside.
    """

    image: str
    port: int
    command: tuple[str, ...]
    mounts: Mapping[Path, str]
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


def postgres_recipe(path: Path, *, password: str, settings: Mapping[str, str]) -> Recipe:
    """Postgres, with its data in `container-data` of the folder: another build's `data` may not be its own."""
    inside = "/var/lib/postgresql/data"
    return Recipe(
        POSTGRES_IMAGE,
        port=5432,
        command=("postgres", *(part for name, value in settings.items() for part in ("-c", f"{name}={value}"))),
        mounts={path / "container-data": inside},
        environment={"POSTGRES_USER": USER, "POSTGRES_PASSWORD": password, "PGDATA": f"{inside}/pgdata"},
    )


def nats_recipe(path: Path) -> Recipe:
    """NATS, with the configuration `nats.conf` and the streams in `jetstream` of the folder."""
    configuration = "/etc/lakeward/nats.conf"
    return Recipe(
        NATS_IMAGE,
        port=4222,
        command=("-c", configuration),
        mounts={path / "nats.conf": configuration, path / "jetstream": "/data"},
    )


def seaweedfs_recipe(path: Path, *, buckets: tuple[str, ...]) -> Recipe:
    """SeaweedFS, with the grants `iam.json` and the volumes in `data` of the folder."""
    grants = "/etc/lakeward/iam.json"
    where = ("-dir=/data", f"-ip.bind={_ANYWHERE}", "-s3.port=8333", f"-s3.config={grants}", f"-s3.iam.config={grants}")
    return Recipe(
        SEAWEEDFS_IMAGE,
        port=8333,
        command=("mini", *where, f"-bucket={','.join(buckets)}", *seaweedfs.SMALL_AND_QUIET),
        mounts={path / "iam.json": grants, path / "data": "/data"},
    )


async def postgres_server(path: Path, *, settings: Mapping[str, str] | None = None) -> PostgresServer:
    """`postgres.start`, in a container.

    Raises:
        FolderInUse: another process works there.
        ComponentFailed: it does not start.
    """
    held = await folder.hold(path)
    password = _password(held)
    recipe = postgres_recipe(held.path, password=password, settings={**SMALL, **(settings or {})})
    container = await _run(recipe, held)
    server = PostgresServer(container.host, container.port, USER, password, _server=container)
    await container.until(lambda: databases.answers(server))
    return server


async def nats_server(path: Path) -> NatsServer:
    """`nats.start`, in a container.

    Raises:
        FolderInUse: another process works there.
        ComponentFailed: it does not start.
    """
    held = await folder.hold(path)
    password = _password(held)
    name = nats.new_name()
    settings = nats.settings(name, listen=f"{_ANYWHERE}:4222", password=password, store="/data")
    held.write("nats.conf", json.dumps(settings, indent=1))
    container = await _run(nats_recipe(held.path), held)
    await container.until(lambda: nats.ready(container.host, container.port, name=name))
    return NatsServer(container.host, container.port, nats.USER, password, _server=container)


async def s3_store(path: Path) -> S3Store:
    """`seaweedfs.start`, in a container.

    Raises:
        FolderInUse: another process works there.
        ComponentFailed: it does not start.
    """
    held = await folder.hold(path)
    grants = seaweedfs_iam.grants(held.remembered(), bucket=seaweedfs.BUCKET)
    held.remember(grants.remembered())
    held.write("iam.json", grants.document())
    container = await _run(seaweedfs_recipe(held.path, buckets=(seaweedfs.BUCKET, seaweedfs.OUTSIDE_BUCKET)), held)
    endpoint = f"http://{container.host}:{container.port}"
    store = S3Store(endpoint, grants.admin, grants.sts_only, seaweedfs_iam.ROLE_ARN, _server=container)
    await container.until(lambda: seaweedfs.ready(store))
    return store


@dataclass(frozen=True, slots=True)
class _Container:
    image: str
    host: str
    port: int
    container: DockerContainer = field(repr=False)
    folder: HeldFolder = field(repr=False)

    @property
    def pid(self) -> None:
        return None

    async def until(self, ready: Callable[[], Awaitable[bool]]) -> None:
        try:
            await self._until(ready)
        except BaseException:
            await self.stop(seconds=0)
            raise

    async def _until(self, ready: Callable[[], Awaitable[bool]]) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while not await ready():
            if time.monotonic() > deadline:
                log = b"".join(await asyncio.to_thread(self.container.get_logs)).decode(errors="replace")
                raise ComponentFailed(f"{self.image} was not ready within {_READY_SECONDS:g} s:\n{log[-2000:]}")
            await asyncio.sleep(_POLL_SECONDS)

    async def watch(self) -> None:
        status = await asyncio.to_thread(self.container.get_wrapped_container().wait)
        raise ComponentFailed(f"the container of {self.image} ended with status {status.get('StatusCode')}")

    async def stop(self, *signals: signal.Signals, seconds: float) -> None:
        wrapped = self.container.get_wrapped_container()
        for number in signals:
            await asyncio.to_thread(wrapped.kill, signal=number.value)
            await asyncio.to_thread(wrapped.wait, timeout=seconds)
        await asyncio.to_thread(self.container.stop)
        self.folder.release()


async def _run(recipe: Recipe, held: HeldFolder) -> _Container:
    try:
        container = await asyncio.to_thread(_started, recipe)
    except BaseException:
        held.release()
        raise
    host, port = container.get_container_host_ip(), container.get_exposed_port(recipe.port)
    return _Container(recipe.image, host, port, container, held)


def _started(recipe: Recipe) -> DockerContainer:
    # Only where containers are the choice: it brings Docker's whole client along.
    from testcontainers.core.container import DockerContainer  # noqa: PLC0415

    container = DockerContainer(recipe.image).with_exposed_ports(recipe.port).with_command(list(recipe.command))
    container.with_envs(**recipe.environment)
    for ours, inside in recipe.mounts.items():
        if not ours.suffix:
            ours.mkdir(mode=0o700, exist_ok=True)
        container.with_volume_mapping(ours, inside, "ro" if ours.is_file() else "rw")
    if os.geteuid() != 0:
        # So that what it writes is ours to remove.
        container.with_kwargs(user=f"{os.geteuid()}:{os.getegid()}")
    return container.start()


def _password(held: HeldFolder) -> str:
    remembered = held.remembered()
    password = str(remembered.get("password") or secrets.token_urlsafe(24))
    held.remember({**remembered, "password": password})
    return password
