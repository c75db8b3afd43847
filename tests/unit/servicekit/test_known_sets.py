"""Sets of what shows are kept for those who ask again, in memory that has a bound."""

from __future__ import annotations

from uuid import UUID

from lakeward_servicekit.authorization.authorizer import VisibleSet
from lakeward_servicekit.authorization.known_sets import Asked, KnownSet, KnownSets
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import user

SCOPE = ObjectRef.warehouse("p", UUID(int=1))


def asked(who: str) -> Asked:
    return user(f"oidc~{who}"), SCOPE, ObjectKind.TABLE


def known(state: str, *, ids: int) -> KnownSet:
    return KnownSet(state, VisibleSet(everything=False, objects=frozenset(UUID(int=each) for each in range(ids))))


def test_a_set_is_found_by_an_equal_question_of_the_same_caller() -> None:
    sets = KnownSets()
    sets.keep(asked("ann"), known("1", ids=3))
    assert sets.find(asked("ann")) == known("1", ids=3)
    assert sets.find(asked("ben")) is None
    assert sets.find((*asked("ann")[:2], ObjectKind.VIEW)) is None


def test_what_was_asked_for_longest_ago_makes_room() -> None:
    sets = KnownSets(most=60)
    sets.keep(asked("ann"), known("1", ids=10))
    sets.keep(asked("ben"), known("1", ids=10))
    assert sets.find(asked("ann")) is not None
    sets.keep(asked("cal"), known("1", ids=20))
    assert sets.find(asked("ben")) is None
    assert sets.find(asked("ann")) is not None
    assert sets.find(asked("cal")) is not None


def test_a_newer_set_takes_the_place_of_the_older() -> None:
    sets = KnownSets(most=60)
    for number in range(20):
        sets.keep(asked("ann"), known(str(number), ids=20))
        sets.keep(asked("ben"), known(str(number), ids=10))
    assert (sets.find(asked("ann")), sets.find(asked("ben"))) == (known("19", ids=20), known("19", ids=10))


def test_a_set_larger_than_all_room_is_not_kept_and_takes_none() -> None:
    sets = KnownSets(most=60)
    sets.keep(asked("ann"), known("1", ids=10))
    sets.keep(asked("ben"), known("1", ids=61))
    assert sets.find(asked("ben")) is None
    assert sets.find(asked("ann")) is not None
    sets.keep(asked("ann"), known("2", ids=61))
    assert sets.find(asked("ann")) is None


def test_who_sees_the_same_has_the_same_set_and_others_have_their_own() -> None:
    sets = KnownSets()
    first = sets.keep(asked("ann"), known("1", ids=10))
    second = sets.keep(asked("ben"), known("2", ids=10))
    other = sets.keep(asked("cal"), known("2", ids=11))
    assert second.shown.objects is first.shown.objects
    assert (second.state, second.shown) == ("2", first.shown)
    assert len(other.shown.objects) == 11
    assert sets.find(asked("ben")) is second
