"""Default values of columns: the JSON form of a single value, by type.

Source: "JSON single-value serialization" of the Iceberg specification, appendix D.
"""

from __future__ import annotations

import datetime as dt
import decimal
import re
from collections.abc import Callable
from typing import Final

from lakeward_catalog.domain.iceberg.documents import Invalid
from lakeward_catalog.domain.iceberg.types import Primitive

_CLOCK: Final = r"\d{2}:\d{2}:\d{2}"
_MICROS: Final = rf"{_CLOCK}(\.\d{{1,6}})?"
_NANOS: Final = rf"{_CLOCK}(\.\d{{1,9}})?"
_DAY: Final = r"[+-]?\d{4,}-\d{2}-\d{2}"
_UTC: Final = r"(\+00:00|Z)"
_PATTERNS: Final = {
    "date": re.compile(_DAY),
    "time": re.compile(_MICROS),
    "timestamp": re.compile(f"{_DAY}T{_MICROS}"),
    "timestamptz": re.compile(f"{_DAY}T{_MICROS}{_UTC}"),
    "timestamp_ns": re.compile(f"{_DAY}T{_NANOS}"),
    "timestamptz_ns": re.compile(f"{_DAY}T{_NANOS}{_UTC}"),
    "uuid": re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    "binary": re.compile(r"([0-9a-fA-F]{2})*"),
    "fixed": re.compile(r"([0-9a-fA-F]{2})*"),
}
_WITHOUT_DEFAULT: Final = frozenset({"unknown", "variant", "geometry", "geography"})


def check_default(kind: Primitive | None, value: object) -> None:
    """Refuse a default that readers could not read as the column's type.

    Args:
        kind: the column's type; None for a struct, list or map.
        value: the decoded JSON value, not null.

    Raises:
        Invalid: the value is not one of that type, or the type has no defaults but null.
    """
    if kind is None or kind.kind in _WITHOUT_DEFAULT:
        shown = "a nested type" if kind is None else kind.text
        raise Invalid("", f"a default of {shown} must be null")
    if not _CHECKS.get(kind.kind, _is_text)(kind, value):
        raise Invalid("", f"{str(value)[:100]!r} is not a JSON value of type {kind.text}")


def _is_text(kind: Primitive, value: object) -> bool:
    pattern = _PATTERNS.get(kind.kind)
    if not isinstance(value, str) or (pattern is not None and pattern.fullmatch(value) is None):
        return False
    if kind.kind == "fixed":
        return len(value) == 2 * kind.first
    return kind.kind not in {"date", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"} or _is_day(value)


def _is_day(value: str) -> bool:
    day = value.split("T", maxsplit=1)[0]
    if not day[0].isdigit() or len(day) > len("2017-11-16"):
        return True  # years beyond four digits are beyond Python's calendar; the pattern has to do
    try:
        dt.date.fromisoformat(day)
    except ValueError:
        return False
    return True


def _is_integer(bits: int) -> Callable[[Primitive, object], bool]:
    return lambda _, value: type(value) is int and -(1 << (bits - 1)) <= value < (1 << (bits - 1))


def _is_number(_: Primitive, value: object) -> bool:
    return type(value) in {int, float}


def _is_decimal(kind: Primitive, value: object) -> bool:
    if not isinstance(value, str) or re.fullmatch(r"[+-]?\d{1,60}(\.\d{0,60})?([eE][+-]?\d{1,3})?", value) is None:
        return False
    parts = decimal.Decimal(value).as_tuple()
    return -int(parts.exponent) == kind.second and len(parts.digits) <= max(kind.first, kind.second)


_CHECKS: Final[dict[str, Callable[[Primitive, object], bool]]] = {
    "boolean": lambda _, value: isinstance(value, bool),
    "int": _is_integer(32),
    "long": _is_integer(64),
    "float": _is_number,
    "double": _is_number,
    "decimal": _is_decimal,
}
