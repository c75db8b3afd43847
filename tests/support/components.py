"""Fixtures of the real components: one server a session, a fresh piece of it for whoever asks.

    postgres_server   the session's server             postgres_url   a fresh database for each test module
    nats_server       the session's server             nats_url       its URL; name streams after `unique_name`
    s3_server         the session's store              s3_store       the same with a fresh prefix for each test
    oidc              the session's identity provider; `tests.support.tokens` asks it for tokens
    openfga_server    the session's server; make a store of your own
    openbao_server    the session's server; make a mount of your own

All are plain values, made by synchronous fixtures, so tests of either kind may use them on whatever loop they run.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar

import pytest

from lakeward_components import blocking, databases, provision
from lakeward_components.environment import TEST
from lakeward_components.nats import NatsServer
from lakeward_components.oidc import OidcProvider
from lakeward_components.openbao import OpenBaoServer
from lakeward_components.openfga import OpenFgaServer
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store

_POSTGRES_SETTINGS = {
    "max_connections": "400",
    "shared_buffers": "64MB",
    "log_min_duration_statement": "-1",
    # These two keep what was written through the death of the machine, which no test can bring about; what is killed here are
    # processes. A commit still waits until it is with the kernel (synchronous_commit), which outlives them.
    "fsync": "off",
    "full_page_writes": "off",
}

REDIRECT_URI = "http://127.0.0.1:18080/ui/callback"


class Server(Protocol):
    async def stop(self, *, gracefully: bool = True) -> None: ...


AnyServer = TypeVar("AnyServer", bound=Server)


@dataclass(frozen=True, slots=True)
class S3Place:
    """A prefix of the session's bucket that nobody else uses.

    Attributes:
        store: endpoint, keys, role, buckets.
        prefix: a path without slashes around it.
    """

    store: S3Store
    prefix: str

    @property
    def url(self) -> str:
        """`s3://bucket/prefix`."""
        return f"s3://{self.store.bucket}/{self.prefix}"


@pytest.fixture
def unique_name() -> str:
    """A name that no other test has: lower case letters and digits."""
    return f"t{secrets.token_hex(6)}"


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    folder = tmp_path_factory.mktemp("postgres")
    with _running(blocking.run(provision.postgres_server(folder, names=TEST, settings=_POSTGRES_SETTINGS))) as server:
        yield server


@pytest.fixture(scope="module")
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """URL of a database that this module alone uses."""
    with fresh_database(postgres_server) as url:
        yield url


@pytest.fixture
def make_database(postgres_server: PostgresServer) -> Iterator[Callable[[], str]]:
    """Makes one more empty database each time it is called, and drops them after the test."""
    made: list[AbstractContextManager[str]] = []

    def make() -> str:
        made.append(fresh_database(postgres_server))
        return made[-1].__enter__()

    yield make
    for database in made:
        database.__exit__(None, None, None)


@pytest.fixture(scope="session")
def nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with _running(blocking.run(provision.nats_server(tmp_path_factory.mktemp("nats"), names=TEST))) as server:
        yield server


@pytest.fixture
def nats_url(nats_server: NatsServer) -> str:
    return nats_server.url


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Store]:
    with _running(blocking.run(provision.s3_store(tmp_path_factory.mktemp("s3"), names=TEST))) as store:
        yield store


@pytest.fixture
def s3_store(s3_server: S3Store, unique_name: str) -> S3Place:
    return S3Place(s3_server, unique_name)


@pytest.fixture(scope="session")
def oidc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OidcProvider]:
    folder = tmp_path_factory.mktemp("oidc")
    starting = provision.oidc_provider(folder, names=TEST, redirect_uris=[REDIRECT_URI])
    with _running(blocking.run(starting)) as provider:
        yield provider


@pytest.fixture(scope="session")
def openfga_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenFgaServer]:
    with _running(blocking.run(provision.openfga_server(tmp_path_factory.mktemp("openfga"), names=TEST))) as server:
        yield server


@pytest.fixture(scope="session")
def openbao_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenBaoServer]:
    with _running(blocking.run(provision.openbao_server(tmp_path_factory.mktemp("openbao"), names=TEST))) as server:
        yield server


@contextmanager
def fresh_database(server: PostgresServer) -> Iterator[str]:
    """An empty database, dropped at the end."""
    name = f"t{secrets.token_hex(6)}"
    url = blocking.run(databases.create(server, name))
    try:
        yield url
    finally:
        blocking.run(databases.drop(server, name))


@contextmanager
def _running(server: AnyServer) -> Iterator[AnyServer]:
    try:
        yield server
    finally:
        # The data are thrown away, so nobody waits for a clean end.
        blocking.run(server.stop(gracefully=False))
