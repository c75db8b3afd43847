"""docs/upstream-differences.md: each difference has tests that exist, and no advice of the references was forgotten."""

from __future__ import annotations

import ast
import dataclasses
import functools
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.unit.docs.ledger import LEDGER, OF_OUR_OWN, Entry, Later

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "upstream-differences.md"
REFERENCES = ("iceberg-rest", "storage", "config", "management-api", "events-tasks", "generic-tables-and-clients")
_MARK = re.compile(r"\*\*Better:\*\*|\[Better\]")
_COLUMN = re.compile(r"\| *(?:Better|Target|Do instead) *\|$")
_SECTION = re.compile(r"#+ (?:Part )?([A-Z](?:\.\d+)?|\d+(?:\.\d+)*)[. ]")
_CODE = re.compile(r"`([^`]+)`")


@dataclasses.dataclass(frozen=True)
class Difference:
    """A row of the page."""

    id: str
    upstream: str
    here: str
    tests: tuple[str, ...]


def differences() -> list[Difference]:
    rows = []
    for line in PAGE.read_text().splitlines():
        if not line.startswith("| `"):
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert len(cells) == 4, f"a row has four cells: {line}"
        rows.append(Difference(cells[0].strip("`"), cells[1], cells[2], tuple(_CODE.findall(cells[3]))))
    return rows


DIFFERENCES = differences()


@functools.cache
def names_in(path: str) -> frozenset[str]:
    """Names of the test functions of a file, wherever they stand in it."""
    tree = ast.parse((ROOT / path).read_text())
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: difference.id)
def test_a_difference_says_what_differs_and_has_tests_that_exist(difference: Difference) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", difference.id)
    assert difference.upstream
    assert difference.here
    assert difference.tests, "a difference without a test is a claim"
    for test in difference.tests:
        path, _, name = test.partition("::")
        assert (ROOT / path).is_file(), path
        assert name in names_in(path), f"there is no test {name} in {path}"


def test_no_id_stands_twice() -> None:
    counted = Counter(difference.id for difference in DIFFERENCES)
    assert [each for each, count in counted.items() if count > 1] == []


def ids_of(entry: Entry) -> Sequence[str]:
    return (entry.now if isinstance(entry, Later) else entry).split()


def test_the_ledger_and_the_page_have_the_same_ids() -> None:
    named = {each for entries in LEDGER.values() for entry in entries for each in ids_of(entry)}
    on_page = {difference.id for difference in DIFFERENCES}
    assert named - on_page == set(), "in the ledger and not on the page"
    assert on_page - named - OF_OUR_OWN == set(), "on the page and asked for by nothing"
    assert named & OF_OUR_OWN == set()
    assert on_page >= OF_OUR_OWN


def test_what_is_left_for_later_says_why() -> None:
    assert all(entry.why for entries in LEDGER.values() for entry in entries if isinstance(entry, Later))


def marks(text: str) -> Iterator[str]:
    """The section of each mark: of advice in a line, and of each row of a table with a column of it."""
    section, in_column = "", False
    for line in text.splitlines():
        if line.startswith("#"):
            found = _SECTION.match(line)
            section, in_column = found[1] if found else "", False
        elif line.startswith("|") and _COLUMN.search(line):
            in_column = True
        elif in_column and line.startswith("|"):
            if not line.startswith("|---"):
                yield section
        else:
            in_column = False
            for _ in _MARK.findall(line):
                if section:  # before the first one the marks are explained
                    yield section


def references() -> Path:
    named = os.environ.get("LAKEWARD_SHARED")
    folder = (Path(named) if named else ROOT.parent / "shared") / "reference"
    if not folder.is_dir():
        pytest.skip(f"the references are not at {folder}; set LAKEWARD_SHARED")
    return folder


@pytest.mark.parametrize("name", REFERENCES)
def test_each_piece_of_advice_is_followed_or_left_with_a_reason(name: str) -> None:
    given = Counter(f"{name} {section}" for section in marks((references() / f"{name}.md").read_text()))
    accounted = {key: len(entries) for key, entries in LEDGER.items() if key.startswith(f"{name} ")}
    assert accounted == dict(given)


def test_marks_are_counted_in_lines_and_in_columns() -> None:
    text = """
**Better:** what the mark means
## 1. One
* bad. **Better:** good, and [Better] best
| Upstream | Better |
|---|---|
| a | b |
| c | d |
after the table
## Part B. Two
| Upstream | Here |
|---|---|
| a | [Better] b |
### B.1 Inner
**[Better]** x
"""
    assert list(marks(text)) == ["1", "1", "1", "1", "B", "B.1"]
