"""What was found is remembered while nothing went, moved or was switched; what was not found is looked for each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast
from uuid import UUID

import pytest

from lakeward_authz.adapters.known_names import KnownNames
from lakeward_authz.application.permissions import Named, RightsTogether
from lakeward_authz.domain.permissions.objects import ObjectKey

W, T = UUID(int=1), UUID(int=2)
TABLE, KEY = Named("table", "", W, T), ObjectKey("table", "p", W, UUID(int=3))


class Names:
    """Finds one table, in whatever state it is told of."""

    def __init__(self) -> None:
        self.found: ObjectKey | None = KEY
        self.state = 1
        self.asked = 0

    async def revision(self) -> int:
        return self.state

    async def find(self, named: Sequence[Named]) -> Sequence[ObjectKey | None]:
        self.asked += 1
        return [self.found for _ in named]


def known(names: Names, *, most: int = 10) -> KnownNames:
    return KnownNames(names, cast("RightsTogether", names), most=most)


async def test_what_was_found_is_found_once_while_the_state_stands_whatever_it_is_called() -> None:
    names = Names()
    found = known(names)
    assert await found.find([TABLE]) == [KEY]
    assert await found.find([Named("table", "", W, T, "sales.orders"), TABLE]) == [KEY, KEY]
    assert names.asked == 1
    names.found, names.state = None, 2
    assert await found.find([TABLE]) == [None]


@pytest.mark.parametrize("named", [Named("table", id=T), Named("table", "other", W, T)], ids=["alone", "of a project"])
async def test_what_else_may_be_called_so_or_is_not_there_is_looked_for_each_time(named: Named) -> None:
    names = Names()
    found = known(names)
    if named.warehouse_id is not None:
        names.found = None
    for _ in range(2):
        assert await found.find([named]) == [names.found]
    assert names.asked == 2


async def test_what_was_found_in_a_state_that_was_overtaken_is_not_kept() -> None:
    names = Names()
    found = known(names)
    names.state = 5
    await found.find([Named("table", "", W, UUID(int=9))])
    names.state = 4
    await found.find([TABLE])
    names.state = 5
    await found.find([TABLE])
    assert names.asked == 3


async def test_no_more_is_kept_than_was_agreed_on() -> None:
    names = Names()
    found = known(names, most=1)
    other = Named("table", "", W, UUID(int=9))
    for named, asked in ((TABLE, 1), (TABLE, 1), (other, 2), (TABLE, 3)):
        await found.find([named])
        assert names.asked == asked
