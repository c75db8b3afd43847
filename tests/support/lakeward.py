"""Lakeward itself as real processes, in both compositions, with warehouses made over its public API.

    lakeward        the session's Lakeward; a test that asks for it runs once a composition
    lakeward_url    its address

`LAKEWARD_TEST_COMPOSITIONS=one_process` narrows a run to what it names. Processes are our children: they are stopped by
their own pids when the session ends, and die with it if it is killed. What they logged goes into a failed test's report.
"""

from __future__ import annotations

import base64
import enum
import os
import secrets
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lakeward_components import blocking, child, folder, http
from lakeward_components.child import Child
from lakeward_components.nats import NatsServer
from lakeward_components.ports import LOOPBACK, take
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store
from lakeward_components.sigv4 import Key
from tests.support.components import fresh_database

SERVICES = ("authz", "vending", "catalog", "gateway")
_READY_SECONDS = 60.0
_MIGRATED_SECONDS = 120.0
_STOP_SECONDS = 15.0
_LOG_LINES = 60


class Composition(enum.StrEnum):
    """How the services are put together."""

    ONE_PROCESS = "one_process"
    FOUR_PROCESSES = "four_processes"


@dataclass(frozen=True, slots=True)
class Lakeward:
    """A Lakeward that serves.

    Attributes:
        url: `http://host:port`, without a closing slash.
        composition: how it runs.
        warehouse: name of the one that vends credentials.
        warehouse_id: its id, and the prefix of its paths.
        signing_warehouse: name of the one that only signs requests.
        signing_warehouse_id: its id.
        store: where the files of both are.
        key_prefix: of `warehouse` in the store's bucket, no slashes around it.
        logs: one file a process.
    """

    url: str
    composition: Composition
    warehouse: str
    warehouse_id: str
    signing_warehouse: str
    signing_warehouse_id: str
    store: S3Store
    key_prefix: str
    logs: Mapping[str, Path] = field(repr=False)

    @property
    def catalog_uri(self) -> str:
        """Where Iceberg REST begins."""
        return f"{self.url}/catalog"

    @property
    def namespaces(self) -> str:
        """The namespaces of `warehouse`, for requests by hand."""
        return f"{self.catalog_uri}/v1/{self.warehouse_id}/namespaces"


def _compositions() -> list[Composition]:
    named = os.environ.get("LAKEWARD_TEST_COMPOSITIONS")
    return [Composition(name.strip()) for name in named.split(",")] if named else list(Composition)


@pytest.fixture(scope="session", params=_compositions(), ids=str)
def lakeward(
    request: pytest.FixtureRequest,
    postgres_server: PostgresServer,
    nats_server: NatsServer,
    s3_server: S3Store,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Lakeward]:
    composition: Composition = request.param
    with fresh_database(postgres_server) as database:
        environment = environment_of(database, nats_server, topic=f"t{secrets.token_hex(6)}")
        with running(composition, tmp_path_factory.mktemp(composition), environment) as (url, logs):
            try:
                served = _with_warehouses(url, composition, s3_server, logs)
            except AssertionError as error:
                error.add_note("\n".join(f"{name} logged, in {log}:\n{_end_of(log)}" for name, log in logs.items()))
                raise
            yield served


@pytest.fixture(scope="session")
def lakeward_url(lakeward: Lakeward) -> str:
    return lakeward.url


def _ours(arguments: tuple[str, ...]) -> list[str]:
    """A command of the environment that the tests run in."""
    return [sys.executable, "-m", "lakeward_cli", *arguments]


@contextmanager
def running(
    composition: Composition,
    home: Path,
    environment: Mapping[str, str],
    *,
    program: Callable[[tuple[str, ...]], list[str]] = _ours,
) -> Iterator[tuple[str, Mapping[str, Path]]]:
    """Migrate, start, and stop at the end.

    Args:
        composition: how the services are put together.
        home: where each process's folder is made.
        environment: variables of all of them.
        program: what is run for the arguments of `lakeward`, `migrate` aside.

    Yields:
        The address, and each process's log.
    """
    with ExitStack() as stack:
        _migrate(home / "migrate", environment)
        port = take(given=None, last=None)
        public = {**environment, "LAKEKEEPER__BIND_IP": LOOPBACK, "LAKEKEEPER__LISTEN_PORT": str(port)}
        started = [
            stack.enter_context(_process(home / name, program(arguments), {**public, **own}))
            for name, arguments, own in _processes(composition, avoid=port)
        ]
        url = f"http://{LOOPBACK}:{port}"
        blocking.run(started[-1].until(lambda: _serves(url, behind=started[:-1]), seconds=_READY_SECONDS))
        yield url, {process.name: process.folder.log for process in started}


def _processes(composition: Composition, *, avoid: int) -> Iterator[tuple[str, tuple[str, ...], Mapping[str, str]]]:
    """Name, arguments and own variables of each process; the one that answers the public comes last."""
    if composition is Composition.ONE_PROCESS:
        yield "lakeward", ("serve",), {}
        return
    shared = _joints(avoid=avoid)
    keys = {service: Ed25519PrivateKey.generate() for service in SERVICES}
    peers = ",".join(f"{service}:{_text(key.public_key().public_bytes_raw())}" for service, key in keys.items())
    for service, key in keys.items():
        own = {
            "LAKEWARD__WORKLOAD__PRIVATE_KEY": _text(key.private_bytes_raw()),
            "LAKEWARD__WORKLOAD__PEERS": peers,
        }
        yield service, ("serve", service), {**shared, **own}


def _joints(*, avoid: int) -> Mapping[str, str]:
    """Where the services listen and find each other."""
    taken, settings = [avoid], {}
    for service in ("authz", "vending", "catalog"):
        taken.append(take(given=None, last=None, avoid=taken))
        for what in ("LISTEN", "ADDRESS"):
            settings[f"LAKEWARD__{service.upper()}__{what}"] = f"{LOOPBACK}:{taken[-1]}"
    return settings


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _migrate(home: Path, environment: Mapping[str, str]) -> None:
    held = blocking.run(folder.hold(home))
    process = child.spawn("migrate", _ours(("migrate",)), folder=held, environment=environment)
    try:
        blocking.run(process.finish(seconds=_MIGRATED_SECONDS))
    finally:
        held.release()


@contextmanager
def _process(home: Path, command: Sequence[str], environment: Mapping[str, str]) -> Iterator[Child]:
    held = blocking.run(folder.hold(home))
    process = child.spawn(home.name, command, folder=held, environment=environment)
    try:
        yield process
    finally:
        blocking.run(process.stop(signal.SIGTERM, seconds=_STOP_SECONDS))


def environment_of(database: str, nats: NatsServer, *, topic: str) -> Mapping[str, str]:
    """Ours without settings that some developer's shell carries, and those that every composition needs."""
    foreign = ("LAKEKEEPER__", "LAKEWARD__", "ICEBERG_REST__")
    return {
        **{name: value for name, value in os.environ.items() if not name.upper().startswith(foreign)},
        "LAKEKEEPER__PG_DATABASE_URL_WRITE": database,
        "LAKEKEEPER__PG_ENCRYPTION_KEY": secrets.token_urlsafe(24),
        "LAKEKEEPER__NATS_ADDRESS": f"nats://{nats.host}:{nats.port}",
        "LAKEKEEPER__NATS_TOPIC": topic,
        **({"LAKEKEEPER__NATS_USER": nats.user, "LAKEKEEPER__NATS_PASSWORD": nats.password} if nats.user else {}),
        "LAKEKEEPER__TASK_POLL_INTERVAL": "1s",
        # long enough for Spark to be through with its own deletion
        "LAKEWARD__PURGE_DELAY": "10s",
    }


async def _serves(url: str, *, behind: Sequence[Child]) -> bool:
    for process in behind:
        if process.exit_status is not None:
            await process.until(_never, seconds=0)  # raises, with the end of its log
    return (await http.request("GET", f"{url}/health")).status == httpx.codes.OK


async def _never() -> bool:
    return False


def _with_warehouses(url: str, composition: Composition, store: S3Store, logs: Mapping[str, Path]) -> Lakeward:
    prefix = f"e2e-{secrets.token_hex(4)}"
    with httpx.Client(base_url=f"{url}/management/v1", timeout=60) as management:
        _told(management.post("/bootstrap", json={"accept-terms-of-use": True}))
        # One key may only assume the role; the other reaches the store by itself. Each must do for a warehouse.
        vending = _create_warehouse(
            management,
            f"vending-{composition}",
            _profile(store, f"{prefix}-vending", {"assume-role-arn": store.role_arn, "sts-role-arn": store.role_arn}),
            store.sts_only,
        )
        signing = _create_warehouse(
            management, f"signing-{composition}", _profile(store, f"{prefix}-signing", None), store.admin
        )
    return Lakeward(
        url=url,
        composition=composition,
        warehouse=f"vending-{composition}",
        warehouse_id=vending,
        signing_warehouse=f"signing-{composition}",
        signing_warehouse_id=signing,
        store=store,
        key_prefix=f"{prefix}-vending",
        logs=logs,
    )


def _profile(store: S3Store, key_prefix: str, roles: Mapping[str, str] | None) -> Mapping[str, object]:
    return {
        "type": "s3",
        "flavor": "s3-compat",
        "endpoint": store.endpoint,
        "region": store.region,
        "bucket": store.bucket,
        "key-prefix": key_prefix,
        "path-style-access": True,
        "sts-enabled": roles is not None,
        "remote-signing-enabled": True,
        "remote-signing-url-style": "path",
        **(roles or {}),
    }


def _create_warehouse(management: httpx.Client, name: str, profile: Mapping[str, object], key: Key) -> str:
    body = {
        "warehouse-name": name,
        "storage-profile": profile,
        "storage-credential": {
            "type": "s3",
            "credential-type": "access-key",
            "access-key-id": key.access_key,
            "secret-access-key": key.secret_key,
        },
    }
    made = _told(management.post("/warehouse", json=body)).json()
    return str(made.get("warehouse-id") or made["id"])


def _told(reply: httpx.Response) -> httpx.Response:
    """The reply; a failure says what the server said."""
    assert reply.is_success, f"{reply.request.method} {reply.request.url} answered {reply.status_code}: {reply.text}"
    return reply


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    served = getattr(item, "funcargs", {}).get("lakeward")
    if report.failed and isinstance(served, Lakeward):
        for name, log in served.logs.items():
            report.sections.append((f"{name} logged, in {log}", _end_of(log)))
    return report


def _end_of(log: Path) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:])
