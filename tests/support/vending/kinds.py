"""Storage kinds on ground of their own, for the suite that all of them pass.

A kind joins with one function that yields its `RealGround`, and its line in `REAL`.
"""

from __future__ import annotations

import asyncio
import dataclasses
import http.client
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final
from urllib.parse import quote, urlsplit
from uuid import UUID

import pytest

from lakeward_locations import Location
from lakeward_servicekit.system import SystemClock
from lakeward_vending.adapters.s3.kind import S3Kind
from lakeward_vending.application.ports import Storage, StorageKind
from lakeward_vending.domain import credentials
from lakeward_vending.domain.credentials import Credential
from lakeward_vending.domain.profiles import profile as profiles
from lakeward_vending.domain.s3.system_identity import SystemIdentityRules
from lakeward_vending.domain.signing import SignedRequest, SigningRequest
from tests.support.components import S3Place
from tests.support.vending import s3
from tests.support.vending.fakes import FakeClock, FakeStores
from tests.support.vending.permits import credential, profile_text


@dataclasses.dataclass(frozen=True)
class Ground:
    """A kind with a place in a store.

    Attributes:
        storage: of a profile that vends, and signs where the kind can.
        silent: the same place, of a profile that neither vends nor signs.
        base: where its profile lies.
        secret: the server's own, which nobody is to see.
        identity: a credential that stands for the server's own identity, which no operator allowed.
        request: a storage request for an object, by method and key.
    """

    kind: StorageKind
    storage: Storage
    silent: Storage
    base: Location
    secret: str
    identity: Credential
    request: Callable[[str, str], SigningRequest]


@dataclasses.dataclass(frozen=True)
class RealGround(Ground):
    """A kind at a real store.

    Attributes:
        refused: the storage with a credential that the store refuses.
        away: a profile of a store that does not answer.
        closed: a profile of an address that the server does not call.
    """

    refused: Storage
    away: Storage
    closed: Storage

    async def send(self, request: SigningRequest, signed: SignedRequest, body: bytes = b"") -> int:
        """The status that the store answers a client with which sends a request as it was signed."""
        headers = {name: ",".join(values) for name, values in signed.headers.items()}
        return await asyncio.to_thread(_status, request.method, request.uri, headers, body)


def _status(method: str, uri: str, headers: dict[str, str], body: bytes) -> int:
    parts = urlsplit(uri)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    try:
        connection.request(method, parts.path, body=body, headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


_S3_IDENTITY = credentials.parse(json.dumps({"type": "s3", "credential-type": "aws-system-identity"}).encode())
_SILENT: Final[dict[str, Any]] = {"sts_enabled": False, "remote_signing_enabled": False}


def _s3_request(bucket_url: str, region: str) -> Callable[[str, str], SigningRequest]:
    def request(method: str, key: str) -> SigningRequest:
        return SigningRequest(method=method, uri=f"{bucket_url}/{quote(key)}", region=region, headers={})

    return request


@asynccontextmanager
async def s3_in_memory() -> AsyncIterator[Ground]:
    """S3's rules over stores in memory."""

    def of(**changes: object) -> Storage:
        text = profile_text(**changes)
        return Storage(profiles.parse(text), profiles.digest(text), credential(), UUID(int=1))

    clock = FakeClock()
    yield Ground(
        kind=S3Kind(FakeStores(clock), SystemIdentityRules(), clock),
        storage=of(),
        silent=of(**_SILENT),
        base=of().profile.base,
        secret="hush",
        identity=_S3_IDENTITY,
        request=_s3_request("http://store:9000/lake", "eu"),
    )


@asynccontextmanager
async def s3_at(place: S3Place) -> AsyncIterator[RealGround]:
    """S3 at a real store, as production composes it but for the caches."""
    store = place.store
    async with s3.s3_backend() as backend:
        yield RealGround(
            kind=S3Kind(backend, SystemIdentityRules(), SystemClock()),
            storage=s3.storage(place),
            silent=s3.storage(place, **_SILENT),
            base=s3.below(place),
            secret=store.admin.secret_key,
            identity=_S3_IDENTITY,
            request=_s3_request(f"{store.endpoint}/{store.bucket}", store.region),
            refused=s3.storage(place, secret="wrong-secret"),
            away=s3.storage(place, endpoint="http://127.0.0.1:9"),
            closed=s3.storage(place, endpoint="http://169.254.169.254"),
        )


# Called outside of the test's loop, where a fixture may run one of its own to start a server.
REAL: Final[Mapping[str, Callable[[pytest.FixtureRequest], AbstractAsyncContextManager[RealGround]]]] = {
    "s3": lambda request: s3_at(request.getfixturevalue("s3_store")),
}
GROUNDS: Final[Mapping[str, Callable[[pytest.FixtureRequest], AbstractAsyncContextManager[Ground]]]] = {
    "s3 in memory": lambda _: s3_in_memory(),
    **REAL,
}


def each_of(names: Iterable[str]) -> list[Any]:
    """A fixture's params: the kinds of these names."""
    return [pytest.param(name, marks=[pytest.mark.integration] if name in REAL else []) for name in names]
