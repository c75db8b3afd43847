"""What every storage kind keeps: written against the port, and passed by each kind that `GROUNDS` names."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from uuid import UUID

import pytest

from lakeward_locations import Location
from lakeward_servicekit.errors import Reason
from lakeward_servicekit.system import SystemClock, SystemIds
from lakeward_vending.application.files import PagePurges
from lakeward_vending.application.ports import Grant, ObjectStore, Storage
from lakeward_vending.application.refusals import StoreDenied, StoreUnavailable
from lakeward_vending.application.storages import Kinds, Storages
from lakeward_vending.application.validation import Check, StorageValidations
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.permit import Permit, Purpose
from tests.support.vending.fakes import START, FakeSecrets, refusal_of
from tests.support.vending.kinds import GROUNDS, REAL, Ground, RealGround, each_of

WAREHOUSE = UUID(int=0xA)


@pytest.fixture(params=each_of(GROUNDS))
def opening(request: pytest.FixtureRequest) -> AbstractAsyncContextManager[Ground]:
    return GROUNDS[request.param](request)


@pytest.fixture
async def ground(opening: AbstractAsyncContextManager[Ground]) -> AsyncIterator[Ground]:
    async with opening as opened:
        yield opened


@pytest.fixture(params=each_of(REAL))
def really_opening(request: pytest.FixtureRequest) -> AbstractAsyncContextManager[RealGround]:
    return REAL[request.param](request)


@pytest.fixture
async def real(really_opening: AbstractAsyncContextManager[RealGround]) -> AsyncIterator[RealGround]:
    async with really_opening as opened:
        yield opened


def grant(ground: Ground, *segments: str, access: Access = Access.READ_WRITE_DELETE) -> Grant:
    return Grant(ground.storage, ground.base.join(*segments), access, "oidc~alice")


def key(location: Location, name: str = "f") -> str:
    return location.join(name).path


async def given(ground: Ground, *locations: Location) -> ObjectStore:
    """The server's own view, with a file at each location."""
    store = await ground.kind.open(ground.storage)
    for location in locations:
        await store.write(key(location), b"x", content_type=None)
    return store


async def denied(work: Awaitable[object]) -> bool:
    try:
        await work
    except StoreDenied:
        return True
    return False


# ---- the bucket ------------------------------------------------------------------------------------------------------


async def test_the_server_writes_reads_lists_and_deletes_below_the_base(ground: Ground) -> None:
    at = ground.base.join("t1")
    store = await given(ground, at)
    assert await store.read(key(at), limit=1) == b"x"
    assert await store.list_page(at.prefix, limit=2) == [key(at)]
    await store.delete([key(at)])
    assert await store.read(key(at), limit=1) is None
    assert await store.list_page(at.prefix, limit=2) == []


def permit(ground: Ground, purpose: Purpose, location: Location) -> Permit:
    return Permit(
        warehouse_id=WAREHOUSE,
        incarnation=None,
        location=location,
        access=Access.READ_WRITE_DELETE,
        purpose=purpose,
        principal="oidc~alice",
        secret_id=ground.storage.secret_id,
        profile=ground.storage.profile,
        profile_digest=ground.storage.digest,
    )


async def storages(ground: Ground) -> Storages:
    secrets, storage = FakeSecrets(), ground.storage
    assert storage.credential is not None
    assert storage.secret_id is not None
    await secrets.stage(storage.secret_id, storage.credential, staged_by="a", warehouse_id=None, now=START)
    return Storages(secrets, Kinds({storage.profile.type_name: ground.kind}))


async def test_a_purge_empties_a_directory_and_spares_those_beside_it(ground: Ground) -> None:
    purged, beside = ground.base.join("t1"), [ground.base.join(name) for name in ("t10", "t2")]
    store = await given(ground, purged, purged.join("data"), *beside)
    purge = PagePurges(await storages(ground))
    done = await purge(permit=permit(ground, Purpose.PURGE, purged))
    assert (done.deleted, done.done) == (2, True)
    assert sorted(await store.list_page(ground.base.prefix, limit=10)) == sorted(key(each) for each in beside)


# ---- what clients are offered and told -------------------------------------------------------------------------------


def test_nothing_is_offered_where_there_is_no_credential(ground: Ground) -> None:
    offer = ground.kind.offer(ground.storage.profile, None)
    assert (offer.vends, offer.signs) == (False, False)


def test_what_a_profile_switches_off_is_not_offered(ground: Ground) -> None:
    assert ground.kind.offer(ground.storage.profile, ground.storage.credential_kind).vends
    offer = ground.kind.offer(ground.silent.profile, ground.silent.credential_kind)
    assert (offer.vends, offer.signs) == (False, False)


async def test_clients_are_told_nothing_of_the_server_s_own_secret(ground: Ground) -> None:
    profile = ground.storage.profile
    vended = await ground.kind.vend(grant(ground, "t1"))
    told: list[Mapping[str, str]] = [
        ground.kind.client_facts(profile).defaults,
        *(ground.kind.client_config(profile, sign=sign) for sign in (True, False)),
        vended.config,
        vended.properties,
    ]
    assert not [properties for properties in told if ground.secret in str(properties)]


async def test_a_vended_credential_says_when_it_ends_and_is_not_shown_by_accident(ground: Ground) -> None:
    vended = await ground.kind.vend(grant(ground, "t1"))
    assert vended.expires_at.tzinfo is not None
    assert vended.expires_at > START
    assert vended.refresh_property
    assert vended.config.items() <= vended.properties.items()
    assert not [value for value in vended.config.values() if value in repr(vended)]


def test_the_server_s_own_identity_is_no_credential_unless_the_operator_says_so(ground: Ground) -> None:
    ground.kind.check_credential(ground.storage.profile, ground.storage.credential)
    with pytest.raises(Exception, match="LAKEKEEPER__") as caught:
        ground.kind.check_credential(ground.storage.profile, ground.identity)
    assert getattr(caught.value, "reason", None) == Reason.REASON_STORAGE_MISCONFIGURED


# ---- what is vended --------------------------------------------------------------------------------------------------


WORK: Mapping[str, Callable[[ObjectStore, Location], Awaitable[object]]] = {
    "read": lambda store, at: store.read(key(at), limit=10),
    "list": lambda store, at: store.list_page(at.prefix, limit=1),
    "write": lambda store, at: store.write(key(at, "new"), b"x", content_type=None),
    "delete": lambda store, at: store.delete([key(at)]),
}


@pytest.mark.parametrize(
    ("access", "may"),
    [
        (Access.READ, {"read", "list"}),
        (Access.READ_WRITE, {"read", "list", "write"}),
        (Access.READ_WRITE_DELETE, {"read", "list", "write", "delete"}),
    ],
)
async def test_what_a_client_is_told_opens_its_location_at_its_level_and_nothing_else(
    ground: Ground, access: Access, may: set[str]
) -> None:
    inside, *outside = [ground.base.join(name) for name in ("t1", "t10", "t2")]
    await given(ground, inside, *outside)
    store = await ground.kind.open_vended(ground.storage, await ground.kind.vend(grant(ground, "t1", access=access)))
    for name, work in WORK.items():
        assert await denied(work(store, inside)) is (name not in may), name
        for elsewhere in (*outside, ground.base):
            assert await denied(work(store, elsewhere)), (name, elsewhere)


# ---- what is signed --------------------------------------------------------------------------------------------------


async def test_a_request_outside_of_the_grant_is_not_signed(ground: Ground) -> None:
    outside = ground.request("GET", key(ground.base.join("t2")))
    refusal = await refusal_of(ground.kind.sign(outside, grant(ground, "t1")))
    signs = ground.kind.offer(ground.storage.profile, ground.storage.credential_kind).signs
    assert refusal.reason == (Reason.REASON_SIGNING_OUTSIDE if signs else Reason.REASON_SIGNING_DISABLED)


@pytest.mark.parametrize(
    ("method", "access"), [("PUT", Access.READ), ("DELETE", Access.READ), ("DELETE", Access.READ_WRITE)]
)
async def test_a_request_that_needs_more_than_the_grant_s_level_is_not_signed(
    ground: Ground, method: str, access: Access
) -> None:
    request = ground.request(method, key(ground.base.join("t1")))
    refusal = await refusal_of(ground.kind.sign(request, grant(ground, "t1", access=access)))
    signs = ground.kind.offer(ground.storage.profile, ground.storage.credential_kind).signs
    assert refusal.reason == (Reason.REASON_PERMIT_REFUSED if signs else Reason.REASON_SIGNING_DISABLED)


async def test_a_storage_that_does_not_sign_says_so(ground: Ground) -> None:
    request = ground.request("GET", key(ground.base.join("t1")))
    silent = dataclasses.replace(grant(ground, "t1"), storage=ground.silent)
    assert (await refusal_of(ground.kind.sign(request, silent))).reason == Reason.REASON_SIGNING_DISABLED


async def test_a_store_takes_what_is_signed_and_nothing_that_is_changed_after(real: RealGround) -> None:
    if not real.kind.offer(real.storage.profile, real.storage.credential_kind).signs:
        pytest.skip("this kind signs nothing; the tests above say that it says so")
    inside, outside = real.base.join("t1"), real.base.join("t2")
    store = await given(real, inside, outside)
    signing = grant(real, "t1")
    read, write = real.request("GET", key(inside)), real.request("PUT", key(inside, "new"))
    assert await real.send(read, await real.kind.sign(read, signing)) == 200
    assert await real.send(write, await real.kind.sign(write, signing), b"new") == 200
    assert await store.read(key(inside, "new"), limit=3) == b"new"
    elsewhere = real.request("GET", key(outside))
    assert await real.send(elsewhere, await real.kind.sign(read, signing)) == 403


# ---- proofs ----------------------------------------------------------------------------------------------------------


async def test_a_warehouse_on_the_kind_is_proved_and_its_place_left_clean(ground: Ground) -> None:
    proof = StorageValidations(await storages(ground), SystemClock(), SystemIds(), skip=False)
    validation = await proof(permit=permit(ground, Purpose.VALIDATE, ground.base))
    assert [result.check for result in validation.checks] == list(Check)
    signs = ground.kind.offer(ground.storage.profile, ground.storage.credential_kind).signs
    skipped = {result.check for result in validation.checks if not result.passed}
    assert skipped <= (set() if signs else {Check.SIGNED})
    assert validation.tells_case is not None
    store = await ground.kind.open(ground.storage)
    assert await store.list_page(ground.base.prefix, limit=1) == []


async def test_where_nothing_is_signed_there_is_nothing_to_prove(ground: Ground) -> None:
    assert not await ground.kind.prove_signing(ground.silent, None, opened=ground.base.join("t1"), outside="")


# ---- what fails ------------------------------------------------------------------------------------------------------


async def test_a_storage_without_credential_says_that_one_is_missing(real: RealGround) -> None:
    bare = dataclasses.replace(real.storage, credential=None, secret_id=None)
    vending = real.kind.vend(dataclasses.replace(grant(real, "t1"), storage=bare))
    for work in (real.kind.open(bare), vending):
        assert (await refusal_of(work)).reason == Reason.REASON_CREDENTIAL_MISSING


async def all_work(real: RealGround, storage: Storage) -> list[Awaitable[object]]:
    store = await real.kind.open(storage)
    return [work(store, real.base.join("t1")) for work in WORK.values()]


async def test_a_credential_that_the_store_refuses_is_denied_and_vends_nothing(real: RealGround) -> None:
    for work in await all_work(real, real.refused):
        refusal = await refusal_of(work)
        assert isinstance(refusal, StoreDenied)
        assert "wrong-secret" not in refusal.message
    vending = real.kind.vend(dataclasses.replace(grant(real, "t1"), storage=real.refused))
    assert (await refusal_of(vending)).reason == Reason.REASON_CREDENTIAL_NOT_ISSUED


async def test_a_store_that_is_away_is_unavailable_to_every_call(real: RealGround) -> None:
    vending = real.kind.vend(dataclasses.replace(grant(real, "t1"), storage=real.away))
    for work in (*await all_work(real, real.away), vending):
        assert isinstance(await refusal_of(work), StoreUnavailable)


async def test_an_address_that_the_server_does_not_call_is_not_called(real: RealGround) -> None:
    vending = real.kind.vend(dataclasses.replace(grant(real, "t1"), storage=real.closed))
    for work in (real.kind.open(real.closed), vending):
        assert (await refusal_of(work)).reason == Reason.REASON_ADDRESS_DENIED
