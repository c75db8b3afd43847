"""PyIceberg's update functions as the oracle of what they implement: format versions 1 and 2, encryption keys apart.

They are a client's: they take the ids that they are told, and check what a client would get wrong. The list of
differences is `REFUSALS` and `MEMBERS`; an entry that nothing shows any more fails the suite.
"""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import pytest

from tests.integration.iceberg_oracle.comparison import (
    Difference,
    Outcome,
    compare,
    it_refuses,
    unexplained,
    unseen,
    we_refuse,
)
from tests.integration.iceberg_oracle.generated import Step, Tables
from tests.unit.catalog.iceberg.strained import written_tables

pydantic = pytest.importorskip("pydantic")
metadata_module = pytest.importorskip("pyiceberg.table.metadata")
rest_module = pytest.importorskip("pyiceberg.catalog.rest")
updates_module = pytest.importorskip("pyiceberg.table.update")

pytestmark = pytest.mark.integration

SEQUENCES = 120
STEPS = 25

REFUSALS = [
    Difference(
        "What is not there is removed already: a retried removal succeeds.",
        it_refuses(
            r"(KeyError: '[abc]'|(Statistics|Snapshot|Schema|Partition spec|Partition Statistics) with .*does not exist)"
        ),
    ),
    Difference(
        "What is added again is the one there is, and -1 means it: a create transaction repeats itself.",
        it_refuses(r"(already exists: \[|to (the )?last added)"),
    ),
    Difference("A field's id may be left to the catalog, as the API says.", it_refuses(r"field-id\s+Field required")),
    Difference(
        "Emptying main is a conflict, see the table of Iceberg's library.",
        we_refuse(r"snapshot \d+ is the current one of main"),
    ),
    Difference("UUID and location of a table never change.", we_refuse(r"never (changes|moves)")),
    Difference(
        "Times more than a minute behind, names used twice and types of a later version make a table that Iceberg's library "
        "can't read; PyIceberg trusts its own caller with them.",
        we_refuse(r"(more than a minute before|is used twice|has another column's name|needs format version)"),
    ),
    Difference(
        "Names that are a column's and a partition's at once, see the table of Iceberg's library.",
        we_refuse(r"(has the name of a partition field|only its own identity partition)"),
    ),
    Difference(
        "Reserved properties and those that move files are refused.",
        we_refuse(r"(is reserved: it|decides where files)"),
    ),
    Difference("Elements of lists and maps have no order among rows.", we_refuse(r"outside lists and maps")),
]


@dataclasses.dataclass(frozen=True)
class MemberDifference:
    """Members that may differ when one of some actions is in the commit; no actions: always."""

    why: str
    members: frozenset[str]
    actions: frozenset[str] = frozenset()

    def covers(self, outcome: Outcome) -> frozenset[str]:
        applies = not self.actions or bool(self.actions & outcome.actions())
        return self.members & outcome.members if applies else frozenset()


MEMBERS = [
    MemberDifference(
        "The members that only readers of the first format know follow the current schema and spec; PyIceberg leaves them, and "
        "counts last-partition-id from them.",
        frozenset({"schema", "partition-spec", "last-partition-id"}),
    ),
    MemberDifference(
        "last-sequence-number never goes down, though a snapshot without a parent may have a lower one.",
        frozenset({"last-sequence-number"}),
        frozenset({"add-snapshot"}),
    ),
    MemberDifference(
        "A commit that changes nothing writes nothing; one that reuses what is there changes less.",
        frozenset({"last-updated-ms", "metadata-log"}),
    ),
    MemberDifference(
        "A schema that says the same as an earlier one is that one.",
        frozenset({"schemas", "current-schema-id"}),
        frozenset({"add-schema"}),
    ),
    MemberDifference(
        "A spec that partitions as an earlier one is that one, and a field that computes the same keeps its id.",
        frozenset({"partition-specs", "default-spec-id"}),
        frozenset({"add-spec"}),
    ),
    MemberDifference(
        "A sort order that sorts as an earlier one is that one.",
        frozenset({"sort-orders", "default-sort-order-id"}),
        frozenset({"add-sort-order"}),
    ),
    MemberDifference(
        "The log leaves out what a commit both added and superseded, and cuts history before a gap, as Iceberg's library does.",
        frozenset({"snapshot-log"}),
        frozenset({"set-snapshot-ref", "remove-snapshots"}),
    ),
    MemberDifference(
        "A snapshot keeps the parent it was written with, and statistics go with their snapshot, as in Iceberg's library.",
        frozenset({"snapshots", "statistics", "partition-statistics"}),
        frozenset({"remove-snapshots"}),
    ),
]


def implemented(step: Step) -> bool:
    newer = any(update.get("format-version", 0) > 2 for update in step.updates)
    return (
        step.base["format-version"] < 3 and not newer and not any("encryption" in action for action in step.actions())
    )


def ask(step: Step) -> dict[str, Any]:
    """PyIceberg's answer; every error of its is a refusal, since it raises what its models and checks happen to raise."""
    reading_updates = pydantic.TypeAdapter(updates_module.TableUpdate)
    reading_requirements = pydantic.TypeAdapter(updates_module.TableRequirement)
    try:
        base = metadata_module.TableMetadataUtil.parse_obj(step.base)
        for requirement in step.requirements:
            reading_requirements.validate_python(requirement).validate(base)
        updates = tuple(reading_updates.validate_python(update) for update in step.updates)
        made = updates_module.update_table_metadata(base, updates, metadata_location=step.previous)
        return {"metadata": json.loads(made.model_dump_json())}
    except Exception as error:  # noqa: BLE001 - see the docstring
        return {"error": f"{type(error).__name__}: {error}"}


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    steps = [tables.step() for tables in map(Tables, range(SEQUENCES)) for _ in range(STEPS)]
    return [compare(step, ask(step), frozenset()) for step in steps if implemented(step)]


def test_every_commit_does_what_pyiceberg_does_but_for_the_listed_differences(outcomes: list[Outcome]) -> None:
    refused = [outcome for outcome in outcomes if outcome.kind != "differ"]
    left = unexplained(refused, REFUSALS)
    for outcome in outcomes:
        if outcome.kind == "differ":
            covered = frozenset().union(*(known.covers(outcome) for known in MEMBERS))
            left += [outcome] if outcome.members - covered else []
    assert not left, f"{len(left)} unexplained\n" + "\n\n".join(str(outcome) for outcome in left[:5])


def test_every_listed_difference_is_still_there(outcomes: list[Outcome]) -> None:
    assert unseen([outcome for outcome in outcomes if outcome.kind != "differ"], REFUSALS) == []
    differing = [outcome for outcome in outcomes if outcome.kind == "differ"]
    assert [known.why for known in MEMBERS if not any(known.covers(outcome) for outcome in differing)] == []


def test_most_commits_that_both_take_are_the_same(outcomes: list[Outcome]) -> None:
    same = sum(outcome.kind == "same" for outcome in outcomes)
    assert same > 2 * sum(outcome.kind == "differ" for outcome in outcomes)


# Types of format version 3 that PyIceberg has not built, whoever wrote them.
_NOT_BUILT = re.compile(r"variant|geometry|geography")


def test_pyiceberg_reads_what_is_written_at_the_ends_of_what_numbers_texts_and_types_can_be() -> None:
    """As a file, and one level deeper, as the reply to a load."""
    tables = [body for body in map(json.dumps, written_tables(3 * SEQUENCES)) if not _NOT_BUILT.search(body)]
    assert len(tables) > SEQUENCES
    for body in tables:
        metadata_module.TableMetadataUtil.parse_raw(body)
        rest_module.TableResponse.model_validate_json(
            f'{{"metadata-location": "x", "config": {{}}, "metadata": {body}}}'
        )
