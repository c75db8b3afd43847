"""Where Lakeward does not do as Iceberg's compatibility kit expects: the whole list, each with its argument.

A test of the kit that fails and is not here fails the suite, and so does one that is here and passes, or fails for another
reason than the one that is given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tests.conformance.kit.java_kit import Result

VERSIONS: Final = ("1.10.1", "1.11.0")


@dataclass(frozen=True, slots=True)
class Difference:
    """Tests that fail, and why that is as it should be.

    Attributes:
        tests: their names.
        says: what each of them fails with, as a pattern.
        documented: id of the difference in docs/upstream-differences.md.
        why: the argument.
        versions: of Iceberg.
    """

    tests: tuple[str, ...]
    says: str
    documented: str
    why: str
    versions: tuple[str, ...] = VERSIONS


DIFFERENCES: Final[Sequence[Difference]] = (
    Difference(
        ("Tables.testNamespaceWithDot",),
        r"namespace part 'new\.db' contains a dot",
        "no-dots-in-namespaces",
        "Levels of a namespace are joined by dots in messages, events and engines; upstream refuses one too.",
    ),
    Difference(
        ("Tables.testCompleteReplaceTransaction", "Tables.testCompleteCreateOrReplaceTransactionReplace"),
        r"Access ?Denied|outside",
        "tables-stay-themselves",
        "The replacement moves the table. A table never moves here, so the client's access ends at its location.",
    ),
    Difference(
        ("Views.createViewWithCustomMetadataLocation",),
        r"property 'write\.metadata\.path' can't be set",
        "forbidden-properties-are-400",
        "The catalog writes the metadata, and decides where.",
        versions=("1.11.0",),
    ),
    Difference(
        (
            "Views.completeCreateView",
            "Views.createAndReplaceViewWithLocation",
            "Views.createViewWithCustomMetadataLocation",
            "Views.updateViewLocation",
        ),
        r"'file:/.*' is not a location",
        "kit-1-10-views-lie-on-a-disk",
        "1.10.1 puts these views into a folder of its own machine and can't be told otherwise; 1.11.0 asks where, and passes.",
        versions=("1.10.1",),
    ),
    Difference(
        ("Tables.testLoadTableWithMissingMetadataFile",),
        r"NoSuchFileException: .* -> s3:/",
        "kit-moves-files-on-a-disk",
        "It moves the metadata file away on a local disk. In a store there is none to move, and a load would not miss it.",
        versions=("1.11.0",),
    ),
    Difference(
        ("Views.registerView", "Views.registerExistingView", "Views.registerViewThatAlreadyExistsAsTable"),
        r"Server does not support endpoint: POST \S+/register-view",
        "register-view-is-not-served",
        "Neither upstream nor Lakeward serves it, and the configuration does not list it.",
        versions=("1.11.0",),
    ),
)

# What the kit leaves out by itself for every REST catalog, Iceberg's own included: the empty namespace has no path.
NOT_ASKED: Final = frozenset(
    {
        "Tables.createAndDropEmptyNamespace",
        "Tables.listNamespacesWithEmptyNamespace",
        "Tables.listTablesInEmptyNamespace",
        "Tables.namespacePropertiesOnEmptyNamespace",
        "Views.listViewsInEmptyNamespace",
    }
)


def expected(version: str) -> Mapping[str, Difference]:
    """The tests of a version that fail, with their difference."""
    return {test: known for known in DIFFERENCES if version in known.versions for test in known.tests}


def surprises(version: str, results: Sequence[Result]) -> Sequence[str]:
    """What became of tests otherwise than it is said here, a line each."""
    known, seen = expected(version), {result.test for result in results}
    found = [f"{test} did not run" for test in sorted((known.keys() | NOT_ASKED) - seen)]
    for result in results:
        difference = known.get(result.test)
        if difference is None:
            wanted = "skipped" if result.test in NOT_ASKED else "passed"
            if result.outcome != wanted:
                found.append(f"{result.test} {result.outcome}: {result.said}")
        elif result.outcome != "failed":
            found.append(f"{result.test} {result.outcome}, though {difference.why}")
        elif not re.search(difference.says, result.said):
            found.append(f"{result.test} fails for another reason than {difference.says!r}: {result.said}")
    return found
