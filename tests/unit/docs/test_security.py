"""docs/security.md: every promise names tests, and they are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "security.md").read_text()
_PROMISED, _, _NOT_PROMISED = PAGE.partition("## What is not promised")
_TEST = re.compile(r"`(tests/[\w/]+\.py)`")
PROMISES = re.findall(r"(?m)^- (.+(?:\n  .+)*)", _PROMISED)


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise[:60])
def test_a_promise_names_tests_that_exist(promise: str) -> None:
    named = _TEST.findall(promise)
    assert named, "a promise without a test is a hope"
    assert [path for path in named if not (ROOT / path).is_file()] == []


def test_what_is_not_promised_is_said() -> None:
    assert len(re.findall(r"(?m)^- ", _NOT_PROMISED)) >= 5


def test_whoever_finds_a_weakness_finds_where_to_tell_it() -> None:
    security = (ROOT / "SECURITY.md").read_text()
    assert "docs/security.md" in security
    assert "SECURITY.md" in PAGE
