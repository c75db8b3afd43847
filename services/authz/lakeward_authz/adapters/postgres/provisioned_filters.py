"""Filters of people and groups as SQL: names of columns are ours, and every value is an argument."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, assert_never

from lakeward_authz.domain.provisioning import All, AnyOf, Attribute, Comparison, Condition, Filter, Not
from lakeward_authz.domain.search import folded

_COMPARED: Final[Mapping[Comparison, str]] = {
    Comparison.EQUAL: "{column} = {given}",
    Comparison.UNEQUAL: "{column} is distinct from {given}",
    Comparison.CONTAINS: "position({given} in {column}) > 0",
    Comparison.STARTS: "starts_with({column}, {given})",
    Comparison.ENDS: "right({column}, length({given})) = {given}",
    Comparison.GREATER: "{column} > {given}",
    Comparison.AT_LEAST: "{column} >= {given}",
    Comparison.LESS: "{column} < {given}",
    Comparison.AT_MOST: "{column} <= {given}",
}
# Attributes of text that compare without case. A user name's key is folded as Python folds, the others as Postgres does.
_FOLDED: Final = frozenset({Attribute.USER_NAME})
_LOWERED: Final = frozenset({Attribute.DISPLAY_NAME, Attribute.EMAIL})
_NUL: Final = "\0"


class Wording:
    """Words one filter.

    Args:
        columns: what each attribute is in the statement; one that is an `exists` question has "{}" for the value.
        first: number of the first argument that is free.
    """

    def __init__(self, columns: Mapping[Attribute, str], *, first: int) -> None:
        """Word nothing yet."""
        self._columns = columns
        self._first = first
        self.arguments: list[object] = []

    def of(self, wanted: Filter | None) -> str:
        """The condition, whose arguments are in `arguments` then; "true" for none."""
        match wanted:
            case None:
                return "true"
            case Condition():
                return self._condition(wanted)
            case Not(inner):
                return f"not coalesce({self.of(inner)}, false)"
            case All(inner):
                return f"({' and '.join(map(self.of, inner))})"
            case AnyOf(inner):
                return f"({' or '.join(map(self.of, inner))})"
            case _:
                assert_never(wanted)

    def _argument(self, value: object, type_name: str) -> str:
        self.arguments.append(value)
        return f"${self._first + len(self.arguments) - 1}::{type_name}"

    def _condition(self, condition: Condition) -> str:
        attribute, comparison, value = condition.attribute, condition.comparison, condition.value
        column = self._columns[attribute]
        if attribute is Attribute.MEMBER:
            wanted = None if comparison is Comparison.PRESENT else _text(value)
            return column.format(self._argument(wanted, "text"))
        if comparison is Comparison.PRESENT:
            return f"coalesce({column}::text, '') <> ''"
        if isinstance(value, datetime):
            given = self._argument(value, "timestamptz")
        elif isinstance(value, bool):
            given = self._argument(value, "boolean")
        else:
            column, given = self._texts(attribute, column, _text(value))
        return _COMPARED[comparison].format(column=column, given=given)

    def _texts(self, attribute: Attribute, column: str, value: str) -> tuple[str, str]:
        """The two sides of a comparison of texts, in the one collation that orders them the same everywhere."""
        if attribute in _FOLDED:
            return f'({column} collate "C")', self._argument(folded(value), "text")
        if attribute in _LOWERED:
            return f'(lower({column}) collate "C")', f"lower({self._argument(value, 'text')})"
        return f'({column}::text collate "C")', self._argument(value, "text")


def _text(value: object) -> str:
    """Text that Postgres takes: one with a NUL is nobody's, and becomes one that is nobody's either."""
    text = str(value)
    return "￿" if _NUL in text else text
