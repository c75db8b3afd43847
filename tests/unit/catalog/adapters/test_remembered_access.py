"""Access that is given again without asking vending: for how long, and to whom never."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Any

import pytest

from lakeward_catalog.adapters.vending.remembered import RememberedAccess
from lakeward_catalog.application.caller import Delegation
from lakeward_catalog.application.ports.access import Access, ClientAccess, Vended
from tests.support.catalog.values import HeldClock, a_namespace, a_project, a_storage, a_tabular, a_warehouse

WAREHOUSE = a_warehouse(a_project())
TABLE = a_tabular(a_namespace(WAREHOUSE, "sales"))
ASKED: dict[str, Any] = {
    "warehouse": WAREHOUSE,
    "tabular": TABLE,
    "level": Access.READ,
    "delegation": frozenset[Delegation](),
    "principal": "user:anna",
}


class Vending(ClientAccess):
    """Vends a credential that lasts for `life`; None: no credential."""

    def __init__(self, clock: HeldClock, life: timedelta | None) -> None:
        self.clock, self.life, self.asked = clock, life, 0

    async def vend(self, *asked: object, **more: object) -> Vended:
        self.asked += 1
        expires_at = None if self.life is None else self.clock.now() + self.life
        return Vended({"number": str(self.asked)}, {}, expires_at, sign_remotely=False, refresh_property="")

    async def sign(self, *asked: object, **more: object) -> Any:
        raise AssertionError("not asked")


async def vend(access: ClientAccess, **changes: object) -> str:
    asked = {**ASKED, **changes}
    vended = await access.vend(asked.pop("warehouse"), asked.pop("tabular"), asked.pop("level"), **asked)
    return vended.config["number"]


@pytest.mark.parametrize(
    ("life", "remembered"),
    [
        (None, timedelta(seconds=30)),
        (timedelta(hours=1), timedelta(seconds=30)),
        (timedelta(seconds=20), timedelta(seconds=10)),
    ],
)
async def test_what_was_vended_is_given_again_for_half_a_minute_or_half_of_its_life(
    life: timedelta | None, remembered: timedelta
) -> None:
    clock = HeldClock()
    access = RememberedAccess(Vending(clock, life), clock)
    assert [await vend(access), await vend(access)] == ["1", "1"]
    clock.advance(remembered - timedelta(milliseconds=1))
    assert await vend(access) == "1"
    clock.advance(timedelta(milliseconds=1))
    assert await vend(access) == "2"


@pytest.mark.parametrize(
    "change",
    [
        {"principal": "user:bert"},
        {"level": Access.READ_WRITE_DELETE},
        {"delegation": frozenset({Delegation.REMOTE_SIGNING})},
        {"tabular": a_tabular(a_namespace(WAREHOUSE, "sales"))},
        {"warehouse": dataclasses.replace(WAREHOUSE, storage=a_storage())},
        {"warehouse": a_warehouse(a_project())},
    ],
    ids=["principal", "level", "delegation", "table", "storage or secret", "warehouse"],
)
async def test_nobody_gets_what_was_vended_for_something_else(change: dict[str, object]) -> None:
    clock = HeldClock()
    access = RememberedAccess(Vending(clock, None), clock)
    assert await vend(access) != await vend(access, **change)


BY_ITSELF = {"delegation": frozenset({Delegation.CLIENT_MANAGED})}


@pytest.mark.parametrize(
    ("change", "shared"),
    [
        ({"principal": "user:bert"}, True),
        ({"level": Access.READ_WRITE_DELETE}, True),
        ({"tabular": a_tabular(a_namespace(WAREHOUSE, "sales"))}, True),
        ({"delegation": frozenset({Delegation.CLIENT_MANAGED, Delegation.REMOTE_SIGNING})}, False),
        ({"warehouse": dataclasses.replace(WAREHOUSE, storage=a_storage())}, False),
        ({"warehouse": a_warehouse(a_project())}, False),
    ],
    ids=["principal", "level", "table", "delegation", "storage or secret", "warehouse"],
)
async def test_clients_with_credentials_of_their_own_share_what_a_storage_says_of_itself(
    change: dict[str, object], *, shared: bool
) -> None:
    clock = HeldClock()
    access = RememberedAccess(Vending(clock, None), clock)
    assert (await vend(access, **BY_ITSELF) == await vend(access, **{**BY_ITSELF, **change})) is shared


async def test_a_credential_is_never_shared_even_where_none_was_asked_for() -> None:
    clock = HeldClock()
    access = RememberedAccess(Vending(clock, timedelta(hours=1)), clock)
    assert await vend(access, **BY_ITSELF) != await vend(access, **BY_ITSELF, principal="user:bert")


async def test_the_answer_that_was_given_first_goes_first() -> None:
    clock = HeldClock()
    access = RememberedAccess(Vending(clock, None), clock, capacity=2)
    for principal in ("user:a", "user:b", "user:c"):
        await vend(access, principal=principal)
    assert [await vend(access, principal=principal) for principal in ("user:c", "user:b", "user:a")] == ["3", "2", "4"]


async def test_what_would_not_last_as_long_as_is_wanted_is_asked_for_again() -> None:
    clock = HeldClock()
    access = RememberedAccess(Vending(clock, timedelta(minutes=10)), clock)
    assert await vend(access, min_validity=timedelta(minutes=10)) == "1"
    clock.advance(timedelta(seconds=1))
    assert await vend(access, min_validity=timedelta(minutes=9)) == "1"
    assert await vend(access, min_validity=timedelta(minutes=10)) == "2"
