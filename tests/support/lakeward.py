"""Lakeward itself as real processes, in both compositions, with warehouses made over its public API.

    lakeward        the session's Lakeward; a test that asks for it runs once a composition
    lakeward_url    its address

`LAKEWARD_TEST_COMPOSITIONS=one_process` narrows a run to what it names. Processes are our children: they are stopped by
their own pids when the session ends, and die with it if it is killed. What they logged goes into a failed test's report.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from lakeward_components import blocking
from lakeward_components.nats import NatsServer
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store
from lakeward_components.sigv4 import Key
from tests.support.components import fresh_database
from tests.support.http import NOBODY
from tests.support.installations import Composition, environment, migrate, planned, running

_LOG_LINES = 60


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
    with (
        fresh_database(postgres_server) as database,
        _running(composition, tmp_path_factory.mktemp(composition), database, nats_server) as (url, logs),
    ):
        try:
            served = _with_warehouses(url, composition, s3_server, logs)
        except AssertionError as error:
            error.add_note("\n".join(f"{name} logged, in {log}:\n{_end_of(log)}" for name, log in logs.items()))
            raise
        yield served


@pytest.fixture(scope="session")
def lakeward_url(lakeward: Lakeward) -> str:
    return lakeward.url


@contextmanager
def _running(
    composition: Composition, home: Path, database: str, nats: NatsServer
) -> Iterator[tuple[str, Mapping[str, Path]]]:
    """Migrate, start, and end it with the block.

    Yields:
        The address, and each process's log.
    """
    # the purge waits until Spark is through with its own deletion
    settings = environment(database, nats, LAKEWARD__PURGE_DELAY="15s")
    blocking.run(migrate(settings))
    with running(planned(composition, home, settings)) as installation:
        yield installation.url, {name: process.log for name, process in installation.processes.items()}


def _with_warehouses(url: str, composition: Composition, store: S3Store, logs: Mapping[str, Path]) -> Lakeward:
    prefix = f"e2e-{secrets.token_hex(4)}"
    with httpx.Client(verify=NOBODY, base_url=f"{url}/management/v1", timeout=60) as management:
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
