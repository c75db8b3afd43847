"""Commits like those that the oracles are asked about, with numbers and texts at the ends of what a format can hold."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from lakeward_catalog.domain.iceberg import TableMetadata, register_table, register_view
from lakeward_catalog.domain.iceberg.documents import MAX_MEMBER_NAME, MAX_TEXT
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.json_bounds import REQUEST_LIMITS
from tests.integration.iceberg_oracle.generated import Tables, Views
from tests.unit.catalog.iceberg.given import Json, a_table, commit, document, field, properties, schema

NUMBERS: Final = (
    -1,
    0,
    1,
    2**31 - 1,
    2**31,
    -(2**31),
    -(2**31) - 1,
    2**63 - 2,
    2**63 - 1,
    2**63,
    -(2**63),
    -(2**63) - 1,
)
DIGITS: Final = tuple(str(number) for number in NUMBERS)


def strained(value: Any, random: Random, chance: float) -> Any:
    """A copy of a document in which some numbers, and texts that are numbers, are extreme ones."""
    if isinstance(value, dict):
        return {name: strained(member, random, chance) for name, member in value.items()}
    if isinstance(value, list):
        return [strained(item, random, chance) for item in value]
    if isinstance(value, bool) or random.random() >= chance:
        return value
    if isinstance(value, int):
        return random.choice(NUMBERS)
    if isinstance(value, str) and value.isdigit():
        return random.choice(DIGITS)
    return value


def one_strained(value: Any, random: Random) -> Any:
    """A copy in which at most one number is an extreme one, so that the rest of the document is as it should be."""
    places = list(_numbers(value, ()))
    if not places or random.random() < 0.4:
        return value
    copy = json.loads(json.dumps(value))
    *way, last = random.choice(places)
    holder = copy
    for step in way:
        holder = holder[step]
    holder[last] = random.choice(NUMBERS)
    return copy


def _numbers(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        if isinstance(member, int) and not isinstance(member, bool):
            yield (*path, name)
        else:
            yield from _numbers(member, (*path, name))


class StrainedTables(Tables):
    """Strained commits to a table that may have come here as a strained file."""

    def __init__(self, random: Random) -> None:
        super().__init__(random.randrange(2**32))
        self.random = random
        file = strained(document(self.table), random, random.choice((0, 0.02, 0.1)))
        with contextlib.suppress(Refusal):  # then no such table is there to be committed to
            self.table = register_table(
                json.dumps(file).encode(), fresh_uuid="fresh", allowed_format_versions={1, 2, 3}
            )

    def update(self) -> list[Json]:
        return list(one_strained(strained(super().update(), self.random, 0.01), self.random))


class StrainedViews(Views):
    """The same of a view."""

    def __init__(self, random: Random) -> None:
        super().__init__(random.randrange(2**32))
        self.random = random
        file = strained(document(self.view), random, random.choice((0, 0.1)))
        with contextlib.suppress(Refusal):
            self.view = register_view(json.dumps(file).encode())

    def update(self) -> list[Json]:
        return list(one_strained(strained(super().update(), self.random, 0.01), self.random))


def lists(levels: int) -> object:
    """A type of so many lists, one inside the other."""
    kind: object = "int"
    for level in range(levels):
        kind = {"type": "list", "element-id": level + 10, "element": kind, "element-required": False}
    return kind


def extreme_tables() -> list[TableMetadata]:
    """Tables at the ends of depth and length that a request may have."""
    deepest = REQUEST_LIMITS.depth - 4  # the request, the schema, its fields and the field stand around the lists
    long = commit(a_table(), properties(**{"k" * MAX_MEMBER_NAME: "v", "a": "v" * MAX_TEXT})).metadata
    return [a_table(schema=schema(field(1, "deep", lists(deepest)))), long]


def written_tables(count: int) -> list[Json]:
    """What strained commits to so many tables wrote, the extreme ones among them."""
    tables = [StrainedTables(Random(seed)) for seed in range(count)]
    written = [step.metadata for each in tables for step in (each.step() for _ in range(4))]
    return [*map(document, extreme_tables()), *(metadata for metadata in written if metadata is not None)]


def written_views(count: int) -> list[Json]:
    """What strained commits to so many views wrote."""
    views = [StrainedViews(Random(seed)) for seed in range(count)]
    written = [step.metadata for each in views for step in (each.step() for _ in range(4))]
    return [metadata for metadata in written if metadata is not None]
