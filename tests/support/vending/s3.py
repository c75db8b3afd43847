"""The S3 backend over a real store."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from lakeward_locations import Location
from lakeward_servicekit.system import SystemClock, SystemIds
from lakeward_vending.adapters.network.addresses import AddressGuard, SystemResolver
from lakeward_vending.adapters.network.calls import HttpCalls
from lakeward_vending.adapters.s3.backend import S3Backend
from lakeward_vending.adapters.s3.kind import S3Kind
from lakeward_vending.application.ports import Storage
from lakeward_vending.domain import credentials
from lakeward_vending.domain.addresses import AddressRules
from lakeward_vending.domain.profiles import profile as profiles
from lakeward_vending.domain.s3.system_identity import SystemIdentityRules
from tests.support.components import S3Place


@asynccontextmanager
async def s3_backend() -> AsyncIterator[S3Backend]:
    """The backend that production composes, without its caches."""
    guard = AddressGuard(AddressRules(), SystemResolver())
    calls = HttpCalls(guard)
    try:
        yield S3Backend(calls=calls, guard=guard, rules=SystemIdentityRules(), clock=SystemClock(), ids=SystemIds())
    finally:
        calls.close()


def s3_kind(backend: S3Backend) -> S3Kind:
    """The storage kind over it."""
    return S3Kind(backend, SystemIdentityRules(), SystemClock())


def profile_text(place: S3Place, **changes: object) -> bytes:
    """A profile of the store; members by the public API's names, dashes as underscores."""
    store = place.store
    document: dict[str, Any] = {
        "type": "s3",
        "bucket": store.bucket,
        "region": store.region,
        "key-prefix": place.prefix,
        "endpoint": store.endpoint,
        "path-style-access": True,
        "flavor": "s3-compat",
        "sts-enabled": True,
        "sts-role-arn": store.role_arn,
    }
    return json.dumps(document | {key.replace("_", "-"): value for key, value in changes.items()}).encode()


def storage(place: S3Place, *, sts_only: bool = False, secret: str | None = None, **changes: object) -> Storage:
    """The store with its all-powerful key, or with the one that may only assume the role."""
    key = place.store.sts_only if sts_only else place.store.admin
    document = {
        "type": "s3",
        "credential-type": "access-key",
        "access-key-id": key.access_key,
        "secret-access-key": secret or key.secret_key,
    }
    text = profile_text(place, **changes)
    credential = credentials.parse(json.dumps(document).encode())
    return Storage(profiles.parse(text), profiles.digest(text), credential, UUID(int=1))


def below(place: S3Place, *segments: str) -> Location:
    """A location in the place."""
    return Location.parse(place.url).join(*segments)
