"""Groups of a directory, what their roles are called, and how a directory is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from ldap3.core.exceptions import LDAPSizeLimitExceededResult

from lakeward_authz.adapters.ldap.reading import entries_of, key_of, ranged_values
from lakeward_authz.adapters.postgres.sourced_roles import names_of
from lakeward_authz.application.synchronising import RoleMembers, Unreadable
from lakeward_authz.domain.directories import DirectoryContents, DirectoryGroup, with_everybody
from lakeward_authz.domain.roles import RoleIdent

PEOPLE = {"uid=ann": "ann", "uid=bob": "bob", "uid=carl": "carl"}


def groups(*, nested: bool = True, **members: Sequence[str]) -> Mapping[str, set[str]]:
    made = [DirectoryGroup(f"cn={name}", name, name.title(), held) for name, held in members.items()]
    found = with_everybody(DirectoryContents(PEOPLE, made), nested=nested)
    return {each.source_id: set(each.subjects) for each in found}


def test_who_is_in_a_group_is_in_those_that_it_is_in() -> None:
    found = groups(all=["cn=some", "uid=carl"], some=["cn=few", "uid=bob"], few=["uid=ann"])
    assert found == {"all": {"ann", "bob", "carl"}, "some": {"ann", "bob"}, "few": {"ann"}}


def test_without_nesting_a_group_has_its_own_members_alone() -> None:
    assert groups(nested=False, all=["cn=few", "uid=carl"], few=["uid=ann"]) == {"all": {"carl"}, "few": {"ann"}}


def test_groups_that_are_in_one_another_end_nowhere() -> None:
    assert groups(a=["cn=b", "uid=ann"], b=["cn=a", "uid=bob"]) == {"a": {"ann", "bob"}, "b": {"ann", "bob"}}


def test_members_are_named_by_their_subjects_too_and_strangers_are_nobody() -> None:
    assert groups(a=["ann", "uid=stranger", "dora"]) == {"a": {"ann"}}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("uid=ann,ou=people,dc=example", "UID=Ann, OU=People,  dc=EXAMPLE"),
        ("cn=a\\2Cb,dc=x", "CN=a\\,b,DC=x"),
    ],
)
def test_spellings_of_one_name_are_one(one: str, other: str) -> None:
    assert key_of(one) == key_of(other)


def test_what_is_no_name_stays_as_it_is() -> None:
    assert key_of("ann") == "ann"


def test_values_that_a_directory_shows_in_ranges_are_read_to_their_end() -> None:
    asked: list[str] = []

    def more(attribute: str) -> Mapping[str, Sequence[bytes]]:
        asked.append(attribute)
        return {"member": [], "member;range=2-3": [b"c", b"d"]} if len(asked) == 1 else {"member;range=4-*": [b"e"]}

    found = ranged_values({"member": [], "member;range=0-1": [b"a", b"b"]}, "member", more)
    assert found == [b"a", b"b", b"c", b"d", b"e"]
    assert asked == ["member;range=2-*", "member;range=4-*"]


def test_a_range_that_leaves_values_out_is_not_read_as_the_whole() -> None:
    with pytest.raises(Unreadable, match="from 5 where 2"):
        ranged_values({"member;range=0-1": [b"a", b"b"]}, "member", lambda _: {"member;range=5-*": [b"z"]})


class Pages:
    """A connection that answers a search in pages; what is an exception in them is raised."""

    def __init__(self, *pages: Sequence[Mapping[str, object]] | Exception) -> None:
        self._pages = list(pages)
        self.response: Sequence[Mapping[str, object]] = ()
        self.result: dict[str, object] = {}
        self.cookies: list[object] = []

    def search(self, *_: object, paged_cookie: object, **__: object) -> None:
        self.cookies.append(paged_cookie)
        page = self._pages.pop(0)
        if isinstance(page, Exception):
            raise page
        self.response = page
        cookie = b"more" if self._pages else b""
        self.result = {"controls": {"1.2.840.113556.1.4.319": {"value": {"cookie": cookie}}}}


def entry(name: str) -> Mapping[str, object]:
    return {"type": "searchResEntry", "dn": name, "raw_attributes": {}}


def test_every_page_is_read() -> None:
    pages = Pages([entry("a"), entry("b")], [entry("c")])
    assert [name for name, _ in entries_of(pages, "dc=x", "(a=*)", [], page_size=2)] == ["a", "b", "c"]
    assert pages.cookies == [None, b"more"]


def test_a_search_that_fails_on_its_way_is_not_read_as_the_whole() -> None:
    pages = Pages([entry("a")], LDAPSizeLimitExceededResult())
    with pytest.raises(LDAPSizeLimitExceededResult):
        list(entries_of(pages, "dc=x", "(a=*)", [], page_size=1))


def test_entries_that_are_elsewhere_are_missed() -> None:
    pages = Pages([entry("a"), {"type": "searchResRef", "uri": ["ldap://other"]}])
    with pytest.raises(Unreadable, match="refers to another"):
        list(entries_of(pages, "dc=x", "(a=*)", [], page_size=1))


def test_roles_of_groups_that_share_a_name_are_told_apart_whoever_else_has_it() -> None:
    wanted = [RoleMembers(RoleIdent("corp", f"g{number}"), "Staff", frozenset()) for number in range(3)]
    assert names_of(wanted, (), "corp") == {"g0": "Staff", "g1": "Staff (corp)", "g2": "Staff (g2)"}
    assert names_of(wanted[:1], {"staff"}, "corp") == {"g0": "Staff (corp)"}
