"""Signer scopes in texts: for whom and how long one is read, and that nothing but the catalog's own key makes one."""

from __future__ import annotations

import base64
import dataclasses
import re
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from lakeward_catalog.adapters.signer_scopes import SignedScopes
from lakeward_catalog.application.ports.access import Access
from lakeward_catalog.application.tables.signer_scopes import SignerScope, SignerScopes
from lakeward_catalog.domain.model import Incarnation, NamespaceId, TabularId, WarehouseId
from lakeward_protocol.vending.v1 import permits_pb2
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.permits import SCOPE_LIFETIME_SECONDS, PermitSigner
from tests.support.catalog.values import NOON, HeldClock, a_namespace, a_project, a_tabular, a_warehouse

WAREHOUSE = a_warehouse(a_project(), row_version=7)
TABLE = a_tabular(a_namespace(WAREHOUSE, "sales"))
SCOPE = SignerScope.of(WAREHOUSE, TABLE, Access.READ, principal="oidc~anna")
SIGNER = PermitSigner(Ed25519PrivateKey.generate())
LIFETIME = timedelta(seconds=SCOPE_LIFETIME_SECONDS)
MILLISECOND = timedelta(milliseconds=1)
MINTED = SignedScopes(SIGNER, HeldClock()).mint(SCOPE).text

SCOPES = st.builds(
    SignerScope,
    warehouse_id=st.uuids().map(WarehouseId),
    warehouse_version=st.integers(1, 2**63 - 1),
    tabular_id=st.uuids().map(TabularId),
    incarnation=st.uuids().map(Incarnation),
    namespace_id=st.uuids().map(NamespaceId),
    location=st.text(st.characters(codec="utf-8"), min_size=1, max_size=200).map(lambda path: f"s3://lake/{path}"),
    level=st.sampled_from(Access),
    principal=st.text(st.characters(codec="utf-8"), max_size=40),
    owner=st.none() | st.text(st.characters(codec="utf-8"), max_size=40).map(UserId),
)


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def scopes(clock: HeldClock) -> SignedScopes:
    return SignedScopes(SIGNER, clock)


def read(scopes: SignerScopes, text: str, **changes: Any) -> SignerScope | None:
    presented = dataclasses.replace(SCOPE, **changes)
    return scopes.read(
        text, warehouse_id=presented.warehouse_id, tabular_id=presented.tabular_id, principal=presented.principal
    )


def content_of(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def text_of(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


@given(SCOPES)
def test_what_was_minted_is_read_by_whom_it_was_minted_for(scope: SignerScope) -> None:
    scopes, other = SignedScopes(SIGNER, HeldClock()), SignedScopes(SIGNER, HeldClock())
    text = scopes.mint(scope).text
    asked: dict[str, Any] = {
        "warehouse_id": scope.warehouse_id,
        "tabular_id": scope.tabular_id,
        "principal": scope.principal,
    }
    assert scopes.read(text, **asked) == other.read(text, **asked) == scope
    assert re.fullmatch(r"[A-Za-z0-9_-]+", text)


@given(st.integers(0, len(MINTED) - 1), st.integers(0, 6))
def test_a_text_of_which_a_bit_is_another_is_no_scope(place: int, bit: int) -> None:
    scopes = SignedScopes(SIGNER, HeldClock())
    assert read(scopes, MINTED) == SCOPE
    flipped = chr(ord(MINTED[place]) ^ 1 << bit)
    assert read(scopes, MINTED[:place] + flipped + MINTED[place + 1 :]) is None


@given(st.text(max_size=300) | st.text("AZaz09-_", max_size=600) | st.binary(max_size=200).map(text_of))
def test_no_other_text_is_a_scope(text: str) -> None:
    assert read(SignedScopes(SIGNER, HeldClock()), text) is None


@pytest.mark.parametrize("made", [MINTED[:-1], MINTED + "A", MINTED + "=", MINTED + " ", "\n" + MINTED, MINTED * 40])
def test_a_scope_with_something_taken_away_or_added_is_none(scopes: SignedScopes, made: str) -> None:
    assert read(scopes, MINTED) == SCOPE
    assert read(scopes, made) is None


@pytest.mark.parametrize(
    "presented",
    [{"principal": "oidc~bert"}, {"warehouse_id": WarehouseId(uuid4())}, {"tabular_id": TabularId(uuid4())}],
    ids=["by another principal", "at another warehouse", "at another table"],
)
def test_a_scope_is_none_for_whom_or_what_it_was_not_minted(scopes: SignedScopes, presented: dict[str, Any]) -> None:
    text = scopes.mint(SCOPE).text
    for _ in range(2):  # also once it was verified for the right ones
        assert read(scopes, text, **presented) is None
        assert read(scopes, text) == SCOPE


def test_a_text_does_not_say_whose_it_is(scopes: SignedScopes) -> None:
    content = content_of(scopes.mint(SCOPE).text)
    assert SCOPE.location.encode() in content
    assert b"anna" not in content
    assert SCOPE.warehouse_id.bytes not in content


def test_what_another_key_signed_is_no_scope(scopes: SignedScopes, clock: HeldClock) -> None:
    theirs = SignedScopes(PermitSigner(Ed25519PrivateKey.generate()), clock).mint(SCOPE).text
    ours = scopes.mint(SCOPE).text
    assert read(scopes, theirs) is None
    assert read(scopes, text_of(content_of(ours)[:8] + content_of(theirs)[8:])) is None


def test_a_permit_s_signature_is_no_scope_s_and_the_other_way_round(scopes: SignedScopes) -> None:
    content = content_of(scopes.mint(SCOPE).text)
    claims = content[72:]
    message = msgspec.msgpack.encode((SCOPE.warehouse_id.bytes, SCOPE.tabular_id.bytes, SCOPE.principal)) + claims
    assert SIGNER.signed_scope(message, content[8:72])

    stand_in: Any = type("Claims", (), {"SerializeToString": lambda _: message})()
    as_permit = SIGNER.sign(stand_in).signature
    assert not SIGNER.signed_scope(message, as_permit)
    assert read(scopes, text_of(content[:8] + as_permit + claims)) is None
    permit = SIGNER.sign(permits_pb2.PermitClaims(principal="oidc~anna"))
    assert SIGNER.sign_scope(permit.claims) != permit.signature


@pytest.mark.parametrize(
    "claims",
    [
        [],
        [7, TABLE.incarnation.bytes, TABLE.namespace_id.bytes, TABLE.location, 1],
        [7, TABLE.incarnation.bytes, TABLE.namespace_id.bytes, TABLE.location, 1, 2**40, 7],
        [7, TABLE.incarnation.bytes, TABLE.namespace_id.bytes, TABLE.location, 1, 2**40, "oidc~anne", "more"],
        [7, b"short", TABLE.namespace_id.bytes, TABLE.location, 1, 2**32],
        [7, TABLE.incarnation.bytes, TABLE.namespace_id.bytes, TABLE.location, 2, 2**32],
        [7, TABLE.incarnation.bytes, TABLE.namespace_id.bytes, TABLE.location, 1, -(2**62)],
        {"location": TABLE.location},
    ],
)
def test_a_form_that_is_not_known_is_no_scope_though_the_key_is_right(scopes: SignedScopes, claims: Any) -> None:
    content = content_of(scopes.mint(SCOPE).text)
    bound = msgspec.msgpack.encode((SCOPE.warehouse_id.bytes, SCOPE.tabular_id.bytes, SCOPE.principal))
    encoded = msgspec.msgpack.encode(claims)
    assert read(scopes, text_of(content[:8] + SIGNER.sign_scope(bound + encoded) + encoded)) is None


def test_a_scope_says_as_whom_a_table_is_read_and_one_without_an_owner_keeps_its_form(scopes: SignedScopes) -> None:
    owned = dataclasses.replace(SCOPE, owner=UserId("oidc~anne"))
    assert read(SignedScopes(SIGNER, HeldClock()), scopes.mint(owned).text) == owned
    assert len(msgspec.msgpack.decode(content_of(scopes.mint(SCOPE).text)[72:])) == 6


def test_a_scope_ends_when_it_was_said_to_and_within_the_hour(scopes: SignedScopes, clock: HeldClock) -> None:
    clock.advance(timedelta(milliseconds=700))
    minted = scopes.mint(SCOPE)
    assert NOON + LIFETIME <= minted.expires_at <= clock.now() + LIFETIME
    clock.at = minted.expires_at - MILLISECOND
    fresh = SignedScopes(SIGNER, clock)
    assert read(scopes, minted.text) == read(fresh, minted.text) == SCOPE
    clock.advance(MILLISECOND)
    assert read(scopes, minted.text) is None  # though it was verified
    assert read(SignedScopes(SIGNER, clock), minted.text) is None


def test_a_scope_is_handed_out_while_half_of_its_life_is_left(scopes: SignedScopes, clock: HeldClock) -> None:
    first = scopes.mint(SCOPE)
    clock.advance(LIFETIME / 2)
    assert scopes.mint(SCOPE) == first
    clock.advance(MILLISECOND)
    second = scopes.mint(SCOPE)
    assert second.expires_at - clock.now() > LIFETIME / 2 < second.expires_at - first.expires_at + MILLISECOND
    assert read(scopes, first.text) == read(scopes, second.text) == SCOPE


@pytest.mark.parametrize(
    "change",
    [
        {"warehouse_version": 8},
        {"incarnation": Incarnation(uuid4())},
        {"namespace_id": NamespaceId(uuid4())},
        {"location": "s3://lake/elsewhere"},
        {"level": Access.READ_WRITE_DELETE},
        {"principal": "oidc~bert"},
        {"warehouse_id": WarehouseId(uuid4())},
        {"tabular_id": TabularId(uuid4())},
    ],
    ids=lambda change: next(iter(change)),
)
def test_nobody_is_handed_a_scope_of_something_else(scopes: SignedScopes, change: dict[str, Any]) -> None:
    other = dataclasses.replace(SCOPE, **change)
    first, second = scopes.mint(SCOPE), scopes.mint(other)
    assert first.text != second.text
    assert read(scopes, second.text, **change) == other


class CountingSigner(PermitSigner):
    """Counts what it is asked."""

    __slots__ = ("signed", "verified")

    def __init__(self) -> None:
        super().__init__(Ed25519PrivateKey.generate())
        self.signed = self.verified = 0

    def sign_scope(self, message: bytes) -> bytes:
        self.signed += 1
        return super().sign_scope(message)

    def signed_scope(self, message: bytes, signature: bytes) -> bool:
        self.verified += 1
        return super().signed_scope(message, signature)


def test_signing_and_verifying_are_done_once_and_what_was_used_last_is_remembered(clock: HeldClock) -> None:
    signer = CountingSigner()
    scopes = SignedScopes(signer, clock, capacity=2)
    others = [dataclasses.replace(SCOPE, tabular_id=TabularId(UUID(int=n))) for n in range(3)]
    texts = [scopes.mint(each).text for each in others[:2]]
    for _ in range(3):
        assert [scopes.mint(each).text for each in others[:2]] == texts
        assert [read(scopes, texts[n], tabular_id=others[n].tabular_id) for n in (1, 0)] == [others[1], others[0]]
    assert (signer.signed, signer.verified) == (2, 2)
    scopes.mint(others[0])  # so that the second is the one that goes
    third = scopes.mint(others[2]).text
    read(scopes, third, tabular_id=others[2].tabular_id)
    for n in (0, 2):
        scopes.mint(others[n])
        read(scopes, [*texts, third][n], tabular_id=others[n].tabular_id)
    assert (signer.signed, signer.verified) == (3, 3)
    scopes.mint(others[1])
    read(scopes, texts[1], tabular_id=others[1].tabular_id)
    assert (signer.signed, signer.verified) == (4, 4)
