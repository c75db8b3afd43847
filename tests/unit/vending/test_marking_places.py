from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from lakeward_locations import Location
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.adapters.s3.kind import S3Kind
from lakeward_vending.application.places import Claimed, ClaimPlace, PlaceClaims, PlaceReleases
from lakeward_vending.application.ports import ObjectStore, Storage
from lakeward_vending.application.storages import Kinds, Storages
from lakeward_vending.domain import place_marks
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.permit import Permit, Purpose
from lakeward_vending.domain.place_marks import PlaceMark
from lakeward_vending.domain.profiles import profile as profiles
from lakeward_vending.domain.s3.system_identity import SystemIdentityRules
from tests.support.vending.fakes import START, FakeClock, FakeObjects, FakeSecrets, FakeStores, refusal_of
from tests.support.vending.permits import SECRET, credential, permit, profile_text

HERE, ELSEWHERE = UUID(int=0x1A), UUID(int=0x1B)
ONE, TWO, THREE = UUID(int=1), UUID(int=2), UUID(int=3)


class Overwriting(FakeObjects):
    """A store that takes a condition for a header like any other."""

    async def write(self, key: str, content: bytes, *, content_type: str | None) -> None:
        self.objects.pop(key, None)
        await super().write(key, content, content_type=content_type)


class OneStore(FakeStores):
    """One bucket, whatever the endpoint; `opens` is where its credential may go."""

    def __init__(self) -> None:
        super().__init__(FakeClock())
        self.opens = ""
        self.heeds_conditions = True

    async def open(self, storage: Storage) -> ObjectStore:
        del storage
        kind = FakeObjects if self.heeds_conditions else Overwriting
        return kind(self.objects, prefix=self.opens)


class House:
    def __init__(self) -> None:
        self.backend = OneStore()
        self.secrets = FakeSecrets()
        kind = S3Kind(self.backend, SystemIdentityRules(), FakeClock())
        self.storages = Storages(self.secrets, Kinds({"s3": kind}))
        self.skip = False

    def asked(self, warehouse: UUID, base: str, changes: dict[str, Any]) -> Permit:
        profile = profile_text(key_prefix=base or None, **changes)
        at = profiles.parse(profile).base
        return permit(Purpose.VALIDATE, profile, warehouse_id=warehouse, location=at, incarnation=None)

    async def claim(
        self,
        warehouse: UUID,
        base: str,
        *,
        installation: UUID = HERE,
        at: dt.datetime = START,
        takes_over: Sequence[UUID] = (),
        **changes: Any,
    ) -> Claimed:
        claiming = PlaceClaims(self.storages, skip=self.skip)
        return await claiming(ClaimPlace(installation, at, takes_over), permit=self.asked(warehouse, base, changes))

    async def release(self, warehouse: UUID, base: str, *, before: dt.datetime | None = None, **changes: Any) -> None:
        permit = self.asked(warehouse, base, changes)
        await PlaceReleases(self.storages, skip=self.skip)(claimed_before=before, permit=permit)


@pytest.fixture
async def house() -> House:
    made = House()
    await made.secrets.stage(SECRET, credential(), staged_by="alice", warehouse_id=None, now=START)
    return made


def owner(claimed: Claimed) -> tuple[UUID, UUID] | None:
    assert claimed.other is not None
    return claimed.other.mark and (claimed.other.mark.installation, claimed.other.mark.warehouse_id)


async def test_a_place_is_claimed_once_and_again_by_the_same_warehouse(house: House) -> None:
    assert await house.claim(ONE, "a/b") == Claimed(None, fresh=True)
    assert set(house.backend.objects) == {"a/b/.lakeward-warehouse", f".lakeward-warehouses/a/b/={ONE}"}
    assert await house.claim(ONE, "a/b", at=START + dt.timedelta(days=1)) == Claimed(None, fresh=False)
    mark = json.loads(house.backend.objects["a/b/.lakeward-warehouse"])
    assert (mark["installation"], mark["warehouse-id"]) == (str(HERE), str(ONE))


@pytest.mark.parametrize("base", ["a/b", "a", "", "a/b/c", "a/b/c/d/e"])
@pytest.mark.parametrize("endpoint", ["http://store:9000", "http://127.0.0.1:9000", "http://alias.example:9000"])
@pytest.mark.parametrize("installation", [HERE, ELSEWHERE])
async def test_the_same_place_and_those_above_and_below_are_refused_however_the_store_is_reached(
    house: House, base: str, endpoint: str, installation: UUID
) -> None:
    await house.claim(ONE, "a/b")
    before = dict(house.backend.objects)
    assert owner(await house.claim(TWO, base, endpoint=endpoint, installation=installation)) == (HERE, ONE)
    assert house.backend.objects == before
    assert (await house.claim(ONE, "a/b")).other is None


@pytest.mark.parametrize("base", ["a/bc", "a/B", "b", "ab", "a/c/b"])
async def test_a_place_beside_another_is_free(house: House, base: str) -> None:
    await house.claim(ONE, "a/b")
    assert (await house.claim(TWO, base)).other is None


async def test_of_many_claims_of_one_place_at_once_one_wins(house: House) -> None:
    claims = await asyncio.gather(*(house.claim(UUID(int=number), "a") for number in range(1, 20)))
    assert [claim.other is None for claim in claims].count(True) == 1
    held = place_marks.parse(house.backend.objects["a/.lakeward-warehouse"])
    assert held is not None
    assert claims[held.warehouse_id.int - 1].other is None


async def test_a_released_place_is_free_and_nothing_of_it_stays(house: House) -> None:
    await house.claim(ONE, "a")
    for _ in range(2):
        await house.release(ONE, "a")
    assert house.backend.objects == {}
    assert (await house.claim(TWO, "a/b")).other is None


async def test_nobody_releases_another_s_place(house: House) -> None:
    await house.claim(ONE, "a")
    before = dict(house.backend.objects)
    await house.release(TWO, "a")
    assert house.backend.objects == before


async def test_a_release_spares_marks_made_since(house: House) -> None:
    await house.claim(ONE, "a", at=START)
    await house.release(ONE, "a", before=START)
    assert len(house.backend.objects) == 2
    await house.release(ONE, "a", before=START + dt.timedelta(seconds=1))
    assert house.backend.objects == {}


@pytest.mark.parametrize("base", ["a", "a/b", "a/b/c"])
async def test_a_mark_of_a_warehouse_that_is_no_more_is_taken_over(house: House, base: str) -> None:
    await house.claim(ONE, "a/b")
    assert owner(await house.claim(TWO, base, takes_over=[THREE])) == (HERE, ONE)
    assert (await house.claim(TWO, base, takes_over=[ONE])).other is None
    assert (await house.claim(TWO, base)).other is None
    assert owner(await house.claim(ONE, "a/b")) == (HERE, TWO)


async def test_another_installation_s_warehouse_is_never_taken_over(house: House) -> None:
    await house.claim(ONE, "a", installation=ELSEWHERE)
    assert owner(await house.claim(TWO, "a", takes_over=[ONE])) == (ELSEWHERE, ONE)
    assert owner(await house.claim(TWO, "a/b", takes_over=[ONE])) == (ELSEWHERE, ONE)


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 4000, b'{"warehouse-id": 1}', b"x" * 100_000])
async def test_an_object_that_is_no_mark_is_somebody_s(house: House, content: bytes) -> None:
    house.backend.objects["a/.lakeward-warehouse"] = content
    claimed = await house.claim(ONE, "a")
    assert owner(claimed) is None
    assert claimed.other is not None
    assert claimed.other.location == "s3://lake/a/.lakeward-warehouse"
    await house.release(ONE, "a")
    assert house.backend.objects == {"a/.lakeward-warehouse": content}


async def test_a_credential_for_a_prefix_alone_tells_the_same_place(house: House) -> None:
    house.backend.opens = "a/"
    assert await house.claim(ONE, "a") == Claimed(None, fresh=True)
    assert set(house.backend.objects) == {"a/.lakeward-warehouse"}
    assert owner(await house.claim(TWO, "a")) == (HERE, ONE)
    await house.release(ONE, "a")
    assert house.backend.objects == {}


@pytest.mark.parametrize("opens", ["", "a/"])
async def test_a_store_that_heeds_no_condition_is_looked_at_first(house: House, opens: str) -> None:
    house.backend.opens, house.backend.heeds_conditions = opens, False
    await house.claim(ONE, "a")
    before = dict(house.backend.objects)
    assert owner(await house.claim(TWO, "a")) == (HERE, ONE)
    assert house.backend.objects == before


async def test_where_no_store_may_be_touched_nothing_is_marked(house: House) -> None:
    house.skip = True
    assert await house.claim(ONE, "a") == Claimed(None, fresh=False)
    await house.release(ONE, "a")
    assert house.backend.objects == {}


@pytest.mark.parametrize("changes", [{"access": Access.READ_WRITE}, {"purpose": Purpose.FILES}])
async def test_a_permit_for_something_else_marks_nothing(house: House, changes: dict[str, Any]) -> None:
    other = dataclasses.replace(house.asked(ONE, "a", {}), **changes)
    for work in (
        PlaceClaims(house.storages, skip=False)(ClaimPlace(HERE, START, ()), permit=other),
        PlaceReleases(house.storages, skip=False)(claimed_before=None, permit=other),
    ):
        assert (await refusal_of(work)).reason == Reason.REASON_PERMIT_REFUSED
    assert house.backend.objects == {}


async def test_no_tabular_s_location_encloses_the_mark_of_its_warehouse() -> None:
    base = Location.parse("s3://lake/wh")
    table = base.join(".lakeward-warehouse")
    assert not place_marks.own_key(base).startswith(table.prefix)
    assert not place_marks.own_key(base).startswith(base.join("t1").prefix)


@pytest.mark.parametrize("prefix", [".lakeward-warehouses/a", "a/.Lakeward-Warehouse", ".lakeward-warehouses"])
def test_no_warehouse_lies_where_marks_lie(prefix: str) -> None:
    with pytest.raises(Refusal) as caught:
        profiles.normalise(profile_text(key_prefix=prefix), credential=credential().kind, replaces=None)
    assert caught.value.reason == Reason.REASON_INVALID_STORAGE_PROFILE


def test_marks_have_names_that_stores_take_whatever_the_prefix_is() -> None:
    base = Location.parse(f"s3://lake/{'é' * 448}")
    assert len(place_marks.listed_key(base, ONE).encode()) <= 1024
    mark = PlaceMark(HERE, ONE, START)
    assert place_marks.parse(mark.dump()) == mark
