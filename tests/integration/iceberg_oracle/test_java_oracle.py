"""Iceberg's own TableMetadata and ViewMetadata as the oracle of every action and requirement.

`TABLES`, `VIEWS` and `CREATIONS` are the whole list of differences, each with its argument. A difference that no entry
explains fails the suite, and so does an entry that nothing shows any more.
"""

from __future__ import annotations

import collections
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from lakeward_catalog.domain.iceberg.documents import MAX_DIGITS, MAX_MEMBER_NAME, MAX_TEXT
from lakeward_catalog.domain.iceberg.requirements import TABLE_REQUIREMENTS, VIEW_REQUIREMENTS
from lakeward_catalog.domain.iceberg.updates import TABLE_UPDATES
from lakeward_catalog.domain.iceberg.views.updates import VIEW_UPDATES
from tests.integration.iceberg_oracle import java_oracle
from tests.integration.iceberg_oracle.comparison import (
    Difference,
    Outcome,
    compare,
    differ,
    it_refuses,
    unexplained,
    unseen,
    we_refuse,
)
from tests.integration.iceberg_oracle.generated import Step, Tables, Views, creation
from tests.support import maven
from tests.unit.catalog.iceberg.given import LOCATION, a_table, document
from tests.unit.catalog.iceberg.strained import written_tables, written_views

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(maven.missing() is not None, reason=str(maven.missing())),
]

SEQUENCES = 200
STEPS = 25

REUSED = (
    "What a create transaction sends again resolves to the id that is there, and -1 means it. Iceberg's server builds such a "
    "table from nothing and never meets this; ours builds it from the staged metadata."
)
NOTHING_CHANGED = Difference(
    "A commit whose updates say what is so already changes nothing, so no file is written for it, and nothing else is tidied.",
    lambda outcome: (
        differ("last-updated-ms", "metadata-log", "versions", "version-log")(outcome)
        and isinstance(outcome.asked, Step)
        and outcome.asked.metadata == outcome.asked.base
    ),
)
TABLES = [
    Difference(REUSED, it_refuses(r"Cannot set last added (schema|spec|sort order)")),
    NOTHING_CHANGED,
    Difference(
        "A snapshot id that a commit removes is not given out again by it: what referred to the old one would mean the new one.",
        we_refuse(r"is removed by this commit"),
    ),
    Difference(
        "last-sequence-number never goes down. Iceberg takes that of a snapshot without a parent, and then can't read the table.",
        it_refuses(r"greater than last sequence number"),
    ),
    Difference(
        "Removing the snapshot that main points to is a conflict: whoever sent it may have read the table before a rollback, and "
        "clearing main would empty the table. Main can be moved or removed in the same commit.",
        we_refuse(r"remove-snapshots: snapshot \d+ is the current one"),
    ),
    Difference("A table's UUID never changes.", we_refuse(r"never changes")),
    Difference("A table never moves.", we_refuse(r"never moves")),
    Difference(
        "The format has encryption keys from version 3 on.", we_refuse(r"encryption keys need format version 3")
    ),
    Difference("Reserved properties are derived, never stored.", we_refuse(r"is reserved: it is derived")),
    Difference(
        "Properties that would move files are the catalog's.", we_refuse(r"the catalog decides where files are")
    ),
    Difference(
        "next-row-id is kept above every row id that was given out: first-row-id + added-rows. Iceberg adds added-rows to the "
        "old value, so that a first-row-id ahead of it would be given out twice.",
        differ("next-row-id"),
    ),
    Difference(
        "A partition field without an id gets one that was never used, and a field that computes what an earlier one did keeps "
        "its id. Iceberg counts from 1000 again and keeps what it is sent, so one id can mean two things.",
        lambda outcome: (
            differ("partition-specs", "last-partition-id", "partition-spec")(outcome)
            and "add-spec" in outcome.actions()
        ),
    ),
    Difference(
        "A spec may give ids to some of its fields; the others get the next ones.",
        it_refuses(r"Cannot parse spec with missing field IDs"),
    ),
    Difference(
        "A partition name that is a column's is ambiguous to engines that address partitions by name; only identity, and the "
        "void that takes its place, may have it.",
        we_refuse(r"only its own identity partition may have it"),
    ),
    Difference(
        "A new column with a partition field's name would make the table unreadable once it is current; Iceberg finds out then.",
        we_refuse(r"the new column '\w+' has the name of a partition field"),
    ),
    Difference("Elements of lists and maps have no order among rows.", we_refuse(r"outside lists and maps")),
    Difference(
        "An id that does not exist is refused where it is used, not at the end: a later update may not hide it.",
        we_refuse(r"(partition spec|sort order|schema) \d+ does not exist"),
    ),
    Difference(
        "Removing unknown snapshots from a table without any is no change; Iceberg trips over the size of its list.",
        it_refuses(r"arraySize cannot be negative"),
    ),
    Difference(
        "The oracle logs a rollback at its own clock, and then finds the generated snapshots behind it.",
        it_refuses(r"(Invalid update timestamp|Expected sorted snapshot log)"),
    ),
]
VIEWS = [
    NOTHING_CHANGED,
    Difference(
        REUSED, it_refuses(r"Cannot set (last version id|current version to unknown version|last added schema)")
    ),
]
CREATIONS = [
    Difference(
        "Iceberg's library stores a compression codec of its own choosing; what was not asked for is not stored.",
        lambda outcome: (
            differ("properties")(outcome)
            and (outcome.theirs or {})["properties"] == {"write.parquet.compression-codec": "zstd"}
        ),
    ),
    Difference(
        "A partition name that is a column's is ambiguous; only identity, and void, may have it.",
        we_refuse(r"only its own identity partition may have it"),
    ),
]


@pytest.fixture(scope="module")
def classpath(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("oracle")
    return java_oracle.build(folder)


def asked(steps: Sequence[Step], kind: str, classpath: str) -> list[Outcome]:
    questions = [
        {"kind": kind, "base": s.base, "requirements": s.requirements, "updates": s.updates, "previous": s.previous}
        for s in steps
    ]
    answers = java_oracle.ask(classpath, questions)
    return [compare(step, answer, frozenset()) for step, answer in zip(steps, answers, strict=True)]


@pytest.fixture(scope="module")
def table_outcomes(classpath: str) -> list[Outcome]:
    steps = [tables.step() for tables in map(Tables, range(SEQUENCES)) for _ in range(STEPS)]
    return asked(steps, "table", classpath)


@pytest.fixture(scope="module")
def view_outcomes(classpath: str) -> list[Outcome]:
    steps = [views.step() for views in map(Views, range(SEQUENCES // 4)) for _ in range(STEPS)]
    return asked(steps, "view", classpath)


@pytest.fixture(scope="module")
def create_outcomes(classpath: str) -> list[Outcome]:
    creations = [creation(seed) for seed in range(4 * SEQUENCES)]
    questions = [
        {"kind": "create", "request": c.request, "location": LOCATION, "format-version": c.format_version}
        for c in creations
    ]
    answers = java_oracle.ask(classpath, questions)
    return [compare(made, answer, frozenset({"table-uuid"})) for made, answer in zip(creations, answers, strict=True)]


def report(outcomes: Sequence[Outcome]) -> str:
    return "\n\n".join(str(outcome) for outcome in outcomes[:5])


def test_every_commit_to_a_table_does_what_iceberg_does_but_for_the_listed_differences(
    table_outcomes: list[Outcome],
) -> None:
    left = unexplained(table_outcomes, TABLES)
    assert not left, f"{len(left)} unexplained\n{report(left)}"
    assert unseen(table_outcomes, TABLES) == []


def test_every_commit_to_a_view_does_what_iceberg_does_but_for_the_listed_differences(
    view_outcomes: list[Outcome],
) -> None:
    left = unexplained(view_outcomes, VIEWS)
    assert not left, f"{len(left)} unexplained\n{report(left)}"
    assert unseen(view_outcomes, VIEWS) == []


def test_every_create_does_what_iceberg_does_but_for_the_listed_differences(create_outcomes: list[Outcome]) -> None:
    left = unexplained(create_outcomes, CREATIONS)
    assert not left, f"{len(left)} unexplained\n{report(left)}"
    assert unseen(create_outcomes, CREATIONS) == []


def test_the_sequences_try_every_action_and_requirement_and_many_of_each_succeed(
    table_outcomes: list[Outcome], view_outcomes: list[Outcome]
) -> None:
    for outcomes, actions, requirements in (
        (table_outcomes, TABLE_UPDATES.actions, TABLE_REQUIREMENTS.keys() - {"assert-create"}),
        (view_outcomes, VIEW_UPDATES.actions, VIEW_REQUIREMENTS.keys()),
    ):
        steps = [outcome.asked for outcome in outcomes if outcome.kind == "same" and isinstance(outcome.asked, Step)]
        done = collections.Counter(action for step in steps for action in set(step.actions()))
        held = collections.Counter(known["type"] for step in steps for known in step.requirements)
        assert {action for action in actions if done[action] < 5} == set(), done
        assert {known for known in requirements if held[known] < 5} == set(), held
        assert len(steps) > len(outcomes) / 3


def test_iceberg_reads_every_document_that_the_engine_writes(
    classpath: str, table_outcomes: list[Outcome], view_outcomes: list[Outcome], create_outcomes: list[Outcome]
) -> None:
    written = [("read-table", outcome.asked.metadata) for outcome in [*table_outcomes, *create_outcomes]]
    written += [("read-view", outcome.asked.metadata) for outcome in view_outcomes]
    questions = [{"kind": kind, "base": document} for kind, document in written if document is not None]
    assert [answer["error"] for answer in java_oracle.ask(classpath, questions) if "error" in answer] == []


def test_iceberg_reads_what_is_written_at_the_ends_of_what_numbers_texts_and_types_can_be(classpath: str) -> None:
    tables, views = written_tables(3 * SEQUENCES), written_views(SEQUENCES)
    assert len(tables) > SEQUENCES
    assert len(views) > SEQUENCES
    questions = [{"kind": "read-table", "base": document} for document in tables]
    questions += [{"kind": "read-view", "base": document} for document in views]
    assert [answer["error"] for answer in java_oracle.ask(classpath, questions) if "error" in answer] == []


@pytest.mark.parametrize(
    "member",
    [
        {"k" * (MAX_MEMBER_NAME + 1): "v"},
        {"k": "v" * (MAX_TEXT + 1)},
        {"last-updated-ms": 10**MAX_DIGITS},
    ],
    ids=["name", "text", "number"],
)
def test_what_is_longer_than_a_request_may_hold_is_what_iceberg_does_not_read(
    classpath: str, member: dict[str, object]
) -> None:
    """The bounds are the reader's: one more, and it reads nothing."""
    with pytest.raises(subprocess.CalledProcessError) as failed:
        java_oracle.ask(classpath, [{"kind": "read-table", "base": document(a_table()) | {"properties": member}}])
    assert "StreamConstraintsException" in failed.value.stderr
