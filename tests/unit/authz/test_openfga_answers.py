"""Which answers of OpenFGA are remembered, and under which state of the grants."""

from __future__ import annotations

from lakeward_authz.adapters.openfga.answers import Answers, Asked
from lakeward_authz.domain.permissions.objects import ObjectKey, user_subject

TABLE = ObjectKey("table", "p")


def asked(who: str, *, shown: tuple[ObjectKey, ...] = ()) -> Asked:
    return Asked(user_subject(who), (), TABLE, "can_read_data", shown)


def test_an_answer_is_known_under_its_revision_alone() -> None:
    answers = Answers[Asked, bool](most=10)
    assert not answers.of(7)
    answers.keep(7, {asked("anne"): True})
    assert answers.of(7) == {asked("anne"): True}
    assert asked("anne", shown=(TABLE,)) not in answers.of(7)
    assert not answers.of(8)
    assert not answers.of(7), "a reader that was overtaken finds nothing"


def test_an_answer_that_was_overtaken_is_not_kept() -> None:
    answers = Answers[Asked, bool](most=10)
    answers.of(7)
    answers.of(8)
    answers.keep(7, {asked("anne"): True})
    assert not answers.of(8)
    answers.keep(8, {asked("anne"): False})
    assert answers.of(8) == {asked("anne"): False}


def test_no_more_answers_are_kept_than_were_agreed_on() -> None:
    answers = Answers[Asked, bool](most=2)
    answers.of(1)
    answers.keep(1, {asked("a"): True, asked("b"): True})
    answers.keep(1, {asked("c"): True})
    assert answers.of(1) == {asked("c"): True}
    answers.keep(1, {asked(str(number)): True for number in range(3)})
    assert not answers.of(1)
