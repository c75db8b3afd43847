"""Whether a change keeps what a contract promises.

A rule is asked about what a change changes: what a table was before its contract came stays as it is, and data can be committed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from lakeward_catalog.domain.contracts.contract import Operation, Rules
from lakeward_catalog.domain.contracts.shapes import Column, Shape
from lakeward_catalog.domain.model import Kind

_PROMOTIONS: Final = frozenset({("int", "long"), ("float", "double"), ("date", "timestamp"), ("date", "timestamp_ns")})
_DECIMAL: Final = re.compile(r"decimal\((\d+),(\d+)\)")
_NO_COLUMNS: Final[Mapping[int, Column]] = {}


def broken_by_operation(rules: Rules, operation: Operation) -> str | None:
    """Why an operation may not be done at all; None: it may."""
    return f"it refuses every {operation}" if operation in rules.refused_operations else None


def looks(rules: Rules) -> bool:
    """Whether metadata has to be read for these rules."""
    return Rules(refused_operations=rules.refused_operations) != rules


def broken_by_shape(rules: Rules, kind: Kind, old: Shape | None, new: Shape) -> str | None:
    """Why metadata may not become this; None: it may.

    Args:
        rules: of a contract that counts for it.
        kind: whose metadata it is.
        old: what it was; None for what is new.
        new: what it is to be.
    """
    return next(_problems(rules, kind, old, new), None)


def _problems(rules: Rules, kind: Kind, old: Shape | None, new: Shape) -> Iterator[str]:
    before, after = None if old is None else old.columns, new.columns
    if old is not None:
        yield from _properties(rules, old.properties, new.properties)
    if after is not None and before is not None and before != after:
        yield from _evolved(rules, before, after)
    if kind is not Kind.TABLE:
        return
    if before != after:
        yield from _missing(rules, after or _NO_COLUMNS)
    allowed = rules.allowed_partitionings
    partitioning = new.partitioning or ()
    if allowed is not None and (old is None or (old.partitioning or ()) != partitioning):
        wanted = [_spelt(each) for each in partitioning]
        if not any([_spelt(each) for each in option] == wanted for option in allowed):
            options = "; ".join(_shown(each) for each in allowed) or "none at all"
            yield f"partitioning {_shown(partitioning)} is not among those that it allows: {options}"


def _spelt(transform: str) -> str:
    """A transform over a column; that of a plain column may be left out."""
    spelt = transform.replace(" ", "")
    return spelt if "(" in spelt else f"identity({spelt})"


def _shown(partitioning: tuple[str, ...]) -> str:
    return f"[{', '.join(partitioning)}]"


def _properties(rules: Rules, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    for key in rules.properties_stay:
        if key in old and new.get(key) != old[key]:
            yield f"property {key!r} stays, and would be {'changed' if key in new else 'removed'}"


def _evolved(rules: Rules, before: Mapping[int, Column], after: Mapping[int, Column]) -> Iterator[str]:
    for field_id, was in before.items():
        now = after.get(field_id)
        if now is None:
            if rules.columns_stay:
                yield f"column {was.path!r} stays, and would be dropped"
            continue
        if rules.names_stay and now.path != was.path:
            yield f"column {was.path!r} keeps its name, and would be {now.path!r}"
        if rules.types_only_widen and not _widens(was.type, now.type):
            yield f"column {was.path!r} of type {was.type} can't become {now.type}, which does not hold all of its values"
        if rules.optional_stays and now.required and not was.required:
            yield f"column {was.path!r} is optional and stays so, and would be required"
    if rules.optional_stays:
        for field_id, now in after.items():
            if field_id not in before and now.required and not now.defaulted and not _inside_new(now, before, after):
                yield f"column {now.path!r} would be required, and older rows have no value for it; make it optional"


def _inside_new(column: Column, before: Mapping[int, Column], after: Mapping[int, Column]) -> bool:
    """Whether it is a part of what is new itself, so that that is judged."""
    above = column.path.rpartition(".")[0]
    return any(each.path == above and field_id not in before for field_id, each in after.items())


def _widens(old: str, new: str) -> bool:
    if old == new or (old, new) in _PROMOTIONS or old == "unknown":
        return True
    was, now = _DECIMAL.fullmatch(old), _DECIMAL.fullmatch(new)
    return was is not None and now is not None and was[2] == now[2] and int(was[1]) <= int(now[1])


def _missing(rules: Rules, columns: Mapping[int, Column]) -> Iterator[str]:
    by_path = {column.path: column for column in columns.values()}
    for wanted in rules.required_columns:
        column = by_path.get(wanted.name)
        if column is None:
            yield f"column {wanted.name!r} is missing"
        elif wanted.type is not None and column.type != wanted.type.replace(" ", ""):
            yield f"column {wanted.name!r} is {column.type}; it has to be {wanted.type}"
        elif wanted.required and not column.required:
            yield f"column {wanted.name!r} is optional; it has to be required"
