"""Query strings, and the typed parameters that operations declare: what reads a value also documents it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar, Final, TypeAlias

from lakeward_gateway.percent import decode_form
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.remembering import remembered

Query: TypeAlias = Mapping[str, Sequence[str]]

_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_MAX_PARAMETERS: Final = 1000
_LARGEST_PAGE: Final = 2**31 - 1
_LONGEST_SPAN: Final = timedelta(days=7)


@remembered(entries=1024, longest=256)
def parse_query(query_string: bytes) -> Query:
    """The values of each name, in the order in which they stood; others may get the same, and nobody changes them.

    Raises:
        Refusal: INVALID_FIELD, for an escape that does not hold or text that is not UTF-8.
    """
    values: dict[str, list[str]] = {}
    if query_string:
        count = query_string.count(b"&") + 1
        if count > _MAX_PARAMETERS:
            raise invalid_field("query", f"{count} parameters", f"at most {_MAX_PARAMETERS} parameters")
        for part in query_string.split(b"&"):
            if part:
                name, _, value = part.partition(b"=")
                values.setdefault(decode_form(name, "query"), []).append(decode_form(value, "query"))
    return values


@dataclasses.dataclass(frozen=True, slots=True)
class Parameter:
    """A query parameter.

    Attributes:
        name: as it stands in the query.
        description: for the API's documentation.
        deprecated: whether the documentation advises against it.
    """

    name: str
    description: str
    deprecated: bool = dataclasses.field(default=False, kw_only=True)
    schema: ClassVar[Mapping[str, Any]] = {"type": "string"}

    def _one(self, query: Query) -> str | None:
        values = query.get(self.name)
        if values is None:
            return None
        if len(values) > 1:
            raise invalid_field(self.name, ", ".join(values), "given once")
        return values[0]


class Text(Parameter):
    """Any text."""

    __slots__ = ()

    def read(self, query: Query) -> str | None:
        """The value; None where it is not given."""
        return self._one(query)


class Texts(Parameter):
    """Any number of texts, each given as `name=value`."""

    __slots__ = ()
    schema: ClassVar[Mapping[str, Any]] = {"type": "array", "items": {"type": "string"}}

    def read(self, query: Query) -> Sequence[str]:
        """The values; empty where none is given."""
        return query.get(self.name, ())


class Flag(Parameter):
    """A boolean, in any of the spellings that clients write."""

    __slots__ = ()
    schema: ClassVar[Mapping[str, Any]] = {"type": "boolean"}

    def read(self, query: Query) -> bool | None:
        """The value; None where it is not given.

        Raises:
            Refusal: INVALID_FIELD.
        """
        value = self._one(query)
        if value is None:
            return None
        if value in _TRUE:
            return True
        if value in _FALSE:
            return False
        raise invalid_field(self.name, value, "true or false")


class PageSize(Parameter):
    """A wanted number of entries; what is out of bounds is cut to them."""

    __slots__ = ()
    schema: ClassVar[Mapping[str, Any]] = {"type": "integer"}

    def read(self, query: Query) -> int | None:
        """The value, at least 1; None where it is not given.

        Raises:
            Refusal: INVALID_FIELD.
        """
        value = self._one(query)
        if value is None:
            return None
        digits = value.removeprefix("-").removeprefix("+")
        if not digits.isascii() or not digits.isdigit():
            raise invalid_field(self.name, value, "a whole number of at least 1")
        if value.startswith("-"):
            return 1
        significant = digits.lstrip("0")
        return min(max(int(significant[:11] or "0"), 1), _LARGEST_PAGE)


class Milliseconds(Parameter):
    """A span of time; what is longer than a week is cut to it."""

    __slots__ = ()
    schema: ClassVar[Mapping[str, Any]] = {"type": "integer", "format": "int64", "minimum": 0}

    def read(self, query: Query) -> timedelta | None:
        """The value; None where it is not given.

        Raises:
            Refusal: INVALID_FIELD.
        """
        value = self._one(query)
        if value is None:
            return None
        if not value.isascii() or not value.isdigit():
            raise invalid_field(self.name, value, "a whole number of milliseconds, 0 or more")
        return min(timedelta(milliseconds=int(value.lstrip("0")[:11] or "0")), _LONGEST_SPAN)
