"""Permits that the catalog signs: what they say, how long one is handed out, and that nobody gets another's."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from datetime import UTC, timedelta
from typing import Any
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lakeward_catalog.adapters.vending.permits import Permits
from lakeward_protocol.vending.v1 import permits_pb2, vending_pb2
from lakeward_servicekit.permits import PermitSigner
from tests.support.catalog.values import NOON, HeldClock, a_namespace, a_project, a_storage, a_tabular, a_warehouse

WAREHOUSE = a_warehouse(a_project())
TABLE = a_tabular(a_namespace(WAREHOUSE, "sales"))
ASKED: dict[str, Any] = {
    "warehouse_id": WAREHOUSE.warehouse_id,
    "storage": WAREHOUSE.storage,
    "incarnation": TABLE.incarnation,
    "location": TABLE.location,
    "access": permits_pb2.ACCESS_READ,
    "purpose": permits_pb2.PURPOSE_VEND,
    "principal": "oidc~anna",
}
OTHERS: dict[str, dict[str, Any]] = {
    "principal": {"principal": "oidc~bert"},
    "location": {"location": TABLE.location + "/inner"},
    "incarnation": {"incarnation": uuid4()},
    "no incarnation": {"incarnation": None},
    "purpose": {"purpose": permits_pb2.PURPOSE_SIGN},
    "access": {"access": permits_pb2.ACCESS_READ_WRITE_DELETE},
    "warehouse": {"warehouse_id": uuid4()},
    "secret": {"storage": dataclasses.replace(WAREHOUSE.storage, secret_id=uuid4())},
    "profile": {"storage": dataclasses.replace(WAREHOUSE.storage, profile=b'{"type":"s3","bucket":"other"}')},
}


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def permits(clock: HeldClock) -> Permits:
    return Permits(PermitSigner(Ed25519PrivateKey.generate()), clock)


def ask(permits: Permits, **changes: Any) -> vending_pb2.Storage:
    asked = {**ASKED, **changes}
    return permits.storage(asked.pop("warehouse_id"), asked.pop("storage"), **asked)


def claims(storage: vending_pb2.Storage) -> permits_pb2.PermitClaims:
    return permits_pb2.PermitClaims.FromString(storage.permit.claims)


def test_a_permit_says_exactly_what_was_decided(permits: Permits) -> None:
    storage = ask(permits)
    said = claims(storage)
    assert (said.warehouse_id, said.incarnation) == (WAREHOUSE.warehouse_id.bytes, TABLE.incarnation.bytes)
    assert (said.location, said.access, said.purpose, said.principal) == (
        TABLE.location,
        permits_pb2.ACCESS_READ,
        permits_pb2.PURPOSE_VEND,
        "oidc~anna",
    )
    assert (said.secret_id, said.profile_sha256) == (
        str(WAREHOUSE.storage.secret_id),
        hashlib.sha256(WAREHOUSE.storage.profile).digest(),
    )
    assert said.issued_at.ToDatetime(tzinfo=UTC) == NOON
    assert said.expires_at.ToDatetime(tzinfo=UTC) == NOON + timedelta(minutes=1)
    assert storage.profile == WAREHOUSE.storage.profile


def test_a_permit_without_a_table_or_a_secret_names_none(permits: Permits) -> None:
    said = claims(ask(permits, incarnation=None, storage=a_storage(secret_id=None)))
    assert (said.incarnation, said.secret_id) == (b"", "")


def test_a_permit_is_handed_out_again_for_half_of_its_minute(permits: Permits, clock: HeldClock) -> None:
    first = ask(permits)
    clock.advance(timedelta(seconds=30) - timedelta(microseconds=1))
    assert ask(permits) is first
    clock.advance(timedelta(microseconds=1))
    second = ask(permits)
    assert second is not first
    assert claims(second).expires_at.ToDatetime(tzinfo=UTC) == NOON + timedelta(seconds=90)


@pytest.mark.parametrize("change", OTHERS.values(), ids=list(OTHERS))
def test_nobody_is_handed_a_permit_for_something_else(permits: Permits, change: dict[str, Any]) -> None:
    mine, other = ask(permits), ask(permits, **change)
    assert claims(mine) != claims(other)
    assert ask(permits) is mine


def test_equal_claims_are_equal_bytes_however_often_they_are_made(clock: HeldClock) -> None:
    key = Ed25519PrivateKey.generate()
    first, second = (ask(Permits(PermitSigner(key), clock)) for _ in range(2))
    assert first.permit.SerializeToString(deterministic=True) == second.permit.SerializeToString(deterministic=True)


def test_what_is_remembered_is_bounded_and_the_oldest_goes(clock: HeldClock) -> None:
    permits = Permits(PermitSigner(Ed25519PrivateKey.generate()), clock, capacity=2)
    kept = [ask(permits, principal=name) for name in "abc"]
    again = [ask(permits, principal=name) for name in "cba"]
    assert [one is other for one, other in zip(reversed(kept), again, strict=True)] == [True, True, False]
    assert all(one.permit != other.permit for one, other in itertools.combinations(kept, 2))
