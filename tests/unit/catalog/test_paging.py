from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_catalog.application.paging import read_page
from lakeward_catalog.application.ports.stores import After
from lakeward_servicekit.errors import Reason
from lakeward_servicekit.paging import EVERYTHING, Page, PageRequest
from tests.support.catalog.house import RULES, refusal_of
from tests.support.catalog.values import NOON

LISTING = ("table", "w", "ns", "oidc~anna")


class Entries:
    """Entries in their order; two share each moment."""

    def __init__(self, count: int) -> None:
        self.all = [After(NOON + timedelta(microseconds=n // 2), UUID(int=n)) for n in range(count)]
        self.reads: list[int] = []

    async def read(self, after: After | None, limit: int) -> Sequence[After]:
        self.reads.append(limit)
        rest = [e for e in self.all if after is None or (e.created_at, e.id) > (after.created_at, after.id)]
        return rest[:limit]

    async def page(self, request: PageRequest, listing: Sequence[str] = LISTING) -> Page[After]:
        return await read_page(request, listing=listing, rules=RULES, place=lambda entry: entry, read=self.read)


@given(count=st.integers(0, 30), size=st.integers(1, 12))
async def test_pages_give_every_entry_once_in_order_and_end(count: int, size: int) -> None:
    entries = Entries(count)
    found: list[After] = []
    token: str | None = ""
    pages = 0
    while token is not None:
        page = await entries.page(PageRequest(size, token))
        assert 0 < len(page.entries) <= size or count == 0
        found += page.entries
        token = page.next_token or None
        pages += 1
    assert found == entries.all
    assert pages == max(1, -(-count // size))


@pytest.mark.parametrize("count", [0, 1, 999, 1000, 1001, 2000])
async def test_without_size_and_token_everything_comes_at_once(count: int) -> None:
    entries = Entries(count)
    page = await entries.page(EVERYTHING)
    assert list(page.entries) == entries.all
    assert page.next_token == ""


@pytest.mark.parametrize(
    ("request_", "size"),
    [
        (PageRequest(token=""), 100),
        (PageRequest(size=5000), 1000),
        (PageRequest(size=0), 1),
        (PageRequest(size=7), 7),
    ],
)
async def test_a_page_has_the_size_that_was_asked_for_or_the_default(request_: PageRequest, size: int) -> None:
    assert len((await Entries(1500).page(request_)).entries) == size


async def test_a_last_page_that_is_full_has_no_token() -> None:
    assert (await Entries(10).page(PageRequest(10))).next_token == ""


@pytest.mark.parametrize("place", range(4))
async def test_a_token_is_good_for_its_own_listing_alone(place: int) -> None:
    entries = Entries(10)
    token = (await entries.page(PageRequest(3))).next_token
    other = [*LISTING[:place], "other", *LISTING[place + 1 :]]
    refusal = await refusal_of(entries.page(PageRequest(3, token), other))
    assert refusal.reason == Reason.REASON_INVALID_PAGE_TOKEN


@given(st.text(min_size=1, max_size=60))
async def test_a_text_that_is_no_token_is_refused(text: str) -> None:
    refusal = await refusal_of(Entries(3).page(PageRequest(3, text)))
    assert refusal.reason == Reason.REASON_INVALID_PAGE_TOKEN


@pytest.mark.parametrize("place", range(44))
async def test_a_token_with_a_character_changed_left_out_or_doubled_is_refused(place: int) -> None:
    entries = Entries(10)
    token = (await entries.page(PageRequest(3))).next_token
    assert len(token) == 44
    others = set("ABCxyz019-_+/=. \n\u00e9") - {token[place]}
    changed = [token[:place] + other + token[place + 1 :] for other in others]
    for other in [*changed, token[:place] + token[place + 1 :], token[:place] + token[place] + token[place:]]:
        refusal = await refusal_of(entries.page(PageRequest(3, other)))
        assert refusal.reason == Reason.REASON_INVALID_PAGE_TOKEN
    assert (await entries.page(PageRequest(3, token))).entries == tuple(entries.all[3:6])
