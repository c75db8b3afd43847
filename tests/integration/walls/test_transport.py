"""What is between the processes: reflection for strangers, TLS, and certificates that say which service calls."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc.aio
import httpx
import pytest

from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store
from lakeward_protocol.catalog.v1 import warehouses_pb2
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.workload import WorkloadIdentity
from tests.integration.walls.conftest import Walled
from tests.support.certificates import Authority, Pair
from tests.support.components import fresh_database
from tests.support.http import NOBODY
from tests.support.installations import SERVICES, Composition, Installation, environment, installed
from tests.support.warehouses import bootstrap, make_namespace, make_table, make_warehouse, tables_of, told
from tests.support.wire import WORKLOAD, call, empty_request

pytestmark = pytest.mark.integration

_INFO = "lakeward.catalog.v1.ServerService/GetServerInfo"
_CONFIG = "lakeward.catalog.v1.WarehouseService/GetConfig"
_UNAUTHENTICATED = "unauthenticated"


async def _buf_curl(
    url: str, *arguments: str, data: Mapping[str, object] | None = None
) -> tuple[int, dict[str, object]]:
    """What `buf curl` says, by its exit status: the reply, or the error; it knows methods by reflection alone."""
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).parent / "buf"),
        "curl",
        "--protocol=grpc",
        f"--data={json.dumps(data or {})}",
        *arguments,
        url,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    said = out if process.returncode == 0 else err
    return process.returncode or 0, json.loads(said)


async def test_a_call_by_reflection_works_with_a_token(walled: Walled) -> None:
    url = f"http://{walled.installation.addresses['catalog']}/{_CONFIG}"
    header = f"--header=authorization: {walled.token}"
    status, reply = await _buf_curl(url, "--http2-prior-knowledge", header, data={"warehouse": "demo"})
    assert (status, reply["warehouseId"]) == (0, walled.warehouse.id), reply


@pytest.mark.parametrize("token", [None, "Bearer dev", "Bearer "], ids=["none", "dev", "empty"])
async def test_a_call_by_reflection_is_refused_without_a_token(walled: Walled, token: str | None) -> None:
    for method in (_INFO, _CONFIG):
        url = f"http://{walled.installation.addresses['catalog']}/{method}"
        headers = [] if token is None else [f"--header=authorization: {token}"]
        status, reply = await _buf_curl(url, "--http2-prior-knowledge", *headers)
        assert status != 0
        assert reply["code"] == _UNAUTHENTICATED, reply


async def test_of_two_tokens_in_a_calls_metadata_neither_is_believed(walled: Walled) -> None:
    path = f"/{_INFO}"
    good, bad = ("authorization", walled.token), ("authorization", "Bearer dev")
    answer = await call(walled.channel_of(path), path, empty_request(path), metadata=[good])
    assert not isinstance(answer, Refusal)
    for both in ((good, bad), (bad, good), (good, good)):
        answer = await call(walled.channel_of(path), path, empty_request(path), metadata=both)
        assert isinstance(answer, Refusal)
        assert (answer.reason, answer.metadata) == (Reason.REASON_DUPLICATE_HEADER, {"header": "authorization"})


async def test_the_public_server_refuses_without_a_token_too(walled: Walled) -> None:
    async with httpx.AsyncClient(verify=NOBODY, base_url=walled.installation.url) as http:
        for path in ("/catalog/v1/config?warehouse=demo", walled.warehouse.path + "/namespaces", "/management/v1/info"):
            for headers in ({}, {"authorization": "Bearer dev"}):
                reply = await http.get(path, headers=headers)
                assert reply.status_code == 401, (path, reply.text)
                assert reply.headers["www-authenticate"].startswith("Bearer")
            assert (await http.get(path, headers={"authorization": walled.token})).status_code == 200


@dataclass(frozen=True, slots=True)
class Sealed:
    """An installation whose services speak mutual TLS, and nobody is asked who they are."""

    installation: Installation
    authority: Authority
    stranger: Authority
    certificates: Mapping[str, Pair]


@pytest.fixture(scope="module")
def open_database(postgres_server: PostgresServer) -> Iterator[str]:
    with fresh_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="module")
async def sealed(open_database: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sealed]:
    home = tmp_path_factory.mktemp("sealed")
    authority, stranger = Authority(home / "authority"), Authority(home / "stranger")
    certificates = {
        name: authority.issue(name, hosts=(name, "localhost", "127.0.0.1")) for name in (*SERVICES, "proxy")
    }
    own = {
        service: {
            "LAKEWARD__TLS__CERT_FILE": str(certificates[service].certificate),
            "LAKEWARD__TLS__KEY_FILE": str(certificates[service].key),
            "LAKEWARD__TLS__CA_FILE": str(authority.certificate),
            "LAKEWARD__TLS__CLIENT_CA_FILE": str(authority.certificate),
        }
        for service in SERVICES
    }
    # Only the catalog needs a key, for its permits: a certificate proves who the others are.
    unset = {service: ("LAKEWARD__WORKLOAD__PRIVATE_KEY",) for service in SERVICES if service != "catalog"}
    settings = environment(open_database)
    async with installed(Composition.FOUR_PROCESSES, home, settings, own=own, unset=unset) as installation:
        yield Sealed(installation, authority, stranger, certificates)


@asynccontextmanager
async def _channel(
    sealed: Sealed, service: str, *, pair: Pair | None, trusted: Authority | None = None
) -> AsyncIterator[grpc.aio.Channel]:
    credentials = grpc.ssl_channel_credentials(
        (trusted or sealed.authority).certificate.read_bytes(),
        None if pair is None else pair.key.read_bytes(),
        None if pair is None else pair.certificate.read_bytes(),
    )
    async with grpc.aio.secure_channel(sealed.installation.addresses[service], credentials) as channel:
        yield channel


async def test_services_that_know_each_other_by_certificate_alone_do_real_work(
    sealed: Sealed, s3_server: S3Store
) -> None:
    async with httpx.AsyncClient(verify=NOBODY, base_url=sealed.installation.url, timeout=60) as http:
        await bootstrap(http)
        warehouse = await make_warehouse(http, s3_server, name="demo")
        namespace = await make_namespace(http, warehouse)
        await make_table(http, warehouse, namespace, "t")
        headers = {"x-iceberg-access-delegation": "vended-credentials"}
        answer = told(await http.get(f"{tables_of(warehouse, namespace)}/t", headers=headers)).json()
    assert answer["storage-credentials"]


async def test_a_proxy_s_certificate_calls_for_users_and_any_bearer_is_ignored(sealed: Sealed) -> None:
    proxy = sealed.certificates["proxy"]
    for token in ("Bearer dev", "Bearer TOKEN", "nonsense"):
        status, reply = await _buf_curl(
            f"https://{sealed.installation.addresses['catalog']}/{_INFO}",
            f"--cacert={sealed.authority.certificate}",
            f"--cert={proxy.certificate}",
            f"--key={proxy.key}",
            f"--header=authorization: {token}",
        )
        assert status == 0, reply


@pytest.mark.parametrize("service", ["authz", "vending", "catalog"])
async def test_a_listener_speaks_with_nobody_whose_certificate_it_does_not_trust(sealed: Sealed, service: str) -> None:
    path = _PATHS[service]
    request = empty_request(path)
    stranger = sealed.stranger.issue("gateway", hosts=("gateway", "catalog"))
    expired = sealed.authority.issue("late", hosts=("gateway",), expired=True)
    for pair in (None, stranger, expired):
        async with _channel(sealed, service, pair=pair) as channel:
            answer = await call(channel, path, request, metadata={})
            assert isinstance(answer, Refusal)
            assert answer.reason == Reason.REASON_SERVICE_UNAVAILABLE, answer
    async with grpc.aio.insecure_channel(sealed.installation.addresses[service]) as channel:
        answer = await call(channel, path, request, metadata={})
        assert isinstance(answer, Refusal)
        assert answer.reason == Reason.REASON_SERVICE_UNAVAILABLE, answer


_PATHS = {
    "authz": "/lakeward.authz.v1.DecisionService/Decide",
    "vending": "/lakeward.vending.v1.FileService/CheckEmpty",
    "catalog": f"/{_INFO}",
}


async def test_a_certificate_opens_what_its_service_may_call_and_nothing_else(sealed: Sealed) -> None:
    allowed = {"authz": {"catalog", "vending"}, "vending": {"catalog"}, "catalog": {"gateway", "proxy"}}
    for service, path in _PATHS.items():
        for name, pair in sealed.certificates.items():
            async with _channel(sealed, service, pair=pair) as channel:
                answer = await call(channel, path, empty_request(path), metadata={})
            refused = isinstance(answer, Refusal) and answer.reason == Reason.REASON_WORKLOAD_REFUSED
            assert refused is (name not in allowed[service]), (service, name, answer)


async def test_a_certificate_and_a_token_that_name_two_services_open_nothing(sealed: Sealed) -> None:
    token = WorkloadIdentity("catalog", sealed.installation.keys["catalog"]).token_for("vending")
    async with _channel(sealed, "vending", pair=sealed.certificates["gateway"]) as channel:
        answer = await call(channel, _PATHS["vending"], empty_request(_PATHS["vending"]), metadata={WORKLOAD: token})
    assert isinstance(answer, Refusal)
    assert answer.reason == Reason.REASON_WORKLOAD_REFUSED


async def test_a_client_does_not_speak_with_a_server_that_another_authority_vouches_for(sealed: Sealed) -> None:
    """The other direction: whoever trusts a stranger's authority takes our catalog for an impostor."""
    request = warehouses_pb2.GetConfigRequest(warehouse="demo")
    pair = sealed.certificates["gateway"]
    async with _channel(sealed, "catalog", pair=pair, trusted=sealed.stranger) as channel:
        answer = await call(channel, f"/{_CONFIG}", request, metadata={})
    assert isinstance(answer, Refusal)
    assert answer.reason == Reason.REASON_SERVICE_UNAVAILABLE
    async with _channel(sealed, "catalog", pair=pair) as channel:
        assert not isinstance(await call(channel, f"/{_CONFIG}", request, metadata={}), Refusal)
