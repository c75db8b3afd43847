"""A name for something new: one look finds where it goes and what has the name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.errors import Reason
from tests.support.catalog.house import ANYTHING, House, a_house, refusal_of
from tests.support.catalog.tables import a_file, create, register
from tests.support.deciding import Rule

PLACE = "s3://lake/demo/found"
FILE = f"{PLACE}/metadata/00003-x.metadata.json"
LARGE = {"comment": "x" * 40_000}
Make = Callable[[House, str], Awaitable[Any]]
MAKES: dict[str, Make] = {
    "create": create,
    "stage": lambda house, name: create(house, name, **{"stage-create": True}),
    "create-view": lambda house, name: house.make_view("sales", name),
    "register": lambda house, name: register(house, FILE, name=name),
}


class Looks:
    """What is asked of the stores on the way to a name."""

    def __init__(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        for store, name in ((house.catalog.tabulars, "locate"), (house.catalog.namespaces, "find")):
            monkeypatch.setattr(store, name, self._counted(name, getattr(store, name)))

    def _counted(self, name: str, read: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def counted(*args: Any) -> Any:
            self.asked.append(name)
            return await read(*args)

        return counted


@pytest.fixture
async def house() -> House:
    house = await a_house()
    house.files.stored[FILE] = a_file(PLACE)
    return house


@pytest.mark.parametrize("make", MAKES)
async def test_what_is_made_is_looked_for_once(house: House, make: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Looks(house, monkeypatch)
    await MAKES[make](house, "new")
    assert looks.asked == ["locate"]


async def test_what_is_overwritten_is_not_looked_for_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    await register(house, FILE)
    looks = Looks(house, monkeypatch)
    await register(house, FILE, overwrite=True)
    assert looks.asked == ["locate"]


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("taken", ["orders", "RECENT"])
async def test_a_name_that_is_taken_is_seen_by_that_look(house: House, make: str, taken: str) -> None:
    files = dict(house.files.stored)
    assert (await refusal_of(MAKES[make](house, taken))).reason == Reason.REASON_TABULAR_EXISTS
    assert house.files.stored == files


@pytest.mark.parametrize("name", ["orders", "recent"])
async def test_the_name_in_a_large_document_is_looked_for_once_it_is_read(
    house: House, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, files = Looks(house, monkeypatch), dict(house.files.stored)
    for made in (create(house, name, properties=LARGE), house.make_view("sales", name, properties=LARGE)):
        assert (await refusal_of(made)).reason == Reason.REASON_TABULAR_EXISTS
    assert (looks.asked, house.files.stored) == (["locate"] * 4, files)


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("name", ["new", "orders"])
async def test_in_a_namespace_that_is_hidden_or_may_not_be_written_to_a_taken_name_reads_like_a_free_one(
    house: House, make: str, name: str
) -> None:
    house.authorizer.replace(Rule(allows=False, kind=ObjectKind.NAMESPACE), ANYTHING)
    assert (await refusal_of(MAKES[make](house, name))).reason == Reason.REASON_NO_SUCH_NAMESPACE
    create_it = Action.NAMESPACE_CREATE_VIEW if make == "create-view" else Action.NAMESPACE_CREATE_TABLE
    house.authorizer.replace(Rule(allows=False, action=create_it), ANYTHING)
    assert (await refusal_of(MAKES[make](house, name))).reason == Reason.REASON_FORBIDDEN


@pytest.mark.parametrize("where", ["", "/below"])
async def test_no_file_of_a_view_is_ever_put_at_a_place_that_is_anothers(
    house: House, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: Any, **__: Any) -> None:
        raise AssertionError("it was written")

    monkeypatch.setattr(house.files, "write", never)
    taken = house.tabular("orders").location + where
    assert (await refusal_of(house.make_view("sales", "new", location=taken))).reason == Reason.REASON_LOCATION_TAKEN
