"""Thrift's compact protocol, in which Parquet says what its files hold. Source: Thrift's compact protocol."""

from __future__ import annotations

from typing import Any, Final

STOP: Final = 0
I64: Final = 6
_TRUE, _FALSE, _BYTE, _I16, _I32, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = (
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    9,
    10,
    11,
    12,
    13,
)
_DEPTH: Final = 16
_INTEGERS: Final = frozenset({_I16, _I32, I64})
_FIXED: Final = {_BYTE: 1, _DOUBLE: 8, _UUID: 16}
_LONG: Final = 15  # a list whose length stands by itself
_VARINT_BITS: Final = 70

Struct = dict[int, Any]  # fields by number: integers, bytes, booleans, lists and structs; other kinds are left out


class Compact:
    """Reads forward. Every method raises IndexError where the bytes end, ValueError for what can't be."""

    def __init__(self, content: bytes, at: int = 0) -> None:
        self._content = content
        self.at = at

    def field(self, last: int) -> tuple[int, int]:
        """The next field's number and type; a struct ends with the type 0."""
        byte = self._byte()
        step, kind = byte >> 4, byte & 15
        if kind == STOP:
            return last, STOP
        return (last + step if step else self.integer()), kind

    def integer(self) -> int:
        """A number, zigzag."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def varint(self) -> int:
        """A number that is not negative."""
        value = 0
        for shift in range(0, _VARINT_BITS, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:  # noqa: PLR2004 - the bit that says that more follows
                return value
        raise ValueError("a number does not end")

    def struct(self, depth: int = 0) -> Struct:
        """A whole struct; of its size in bytes, as each value takes one at least."""
        _check(depth)
        found: Struct = {}
        field, kind = self.field(0)
        while kind != STOP:
            found[field] = self._value(kind, depth)
            field, kind = self.field(field)
        return found

    def take(self, count: int) -> bytes:
        """So many bytes."""
        self._pass(count)
        return self._content[self.at - count : self.at]

    def _value(self, kind: int, depth: int) -> Any:  # noqa: ANN401 - whatever a struct may hold
        found: Any = None
        if kind in {_TRUE, _FALSE}:
            found = kind == _TRUE
        elif kind in _INTEGERS:
            found = self.integer()
        elif kind == _BINARY:
            found = self.take(self.varint())
        elif kind == _STRUCT:
            found = self.struct(depth + 1)
        elif kind in {_LIST, _SET}:
            _check(depth)
            inner, count = self._list()
            flags = inner in {_TRUE, _FALSE}
            found = [self._byte() == _TRUE if flags else self._value(inner, depth + 1) for _ in range(count)]
        else:
            self.skip(kind, depth)
        return found

    def skip(self, kind: int, depth: int = 0) -> None:
        """Pass over a value of a field."""
        _check(depth)
        if kind in {_TRUE, _FALSE}:
            return  # the type is the value
        if kind in _INTEGERS:
            self.varint()
        elif kind in _FIXED:
            self._pass(_FIXED[kind])
        elif kind == _BINARY:
            self._pass(self.varint())
        else:
            self._skip_nested(kind, depth)

    def _skip_nested(self, kind: int, depth: int) -> None:
        if kind in {_LIST, _SET}:
            inner, count = self._list()
            for _ in range(count):
                self._skip_element(inner, depth)
        elif kind == _MAP:
            count = self.varint()
            kinds = self._byte() if count else 0
            for _ in range(count):
                self._skip_element(kinds >> 4, depth)
                self._skip_element(kinds & 15, depth)
        elif kind == _STRUCT:
            field, inner = self.field(0)
            while inner != STOP:
                self.skip(inner, depth + 1)
                field, inner = self.field(field)
        else:
            raise ValueError(f"there is no type {kind}")

    def _list(self) -> tuple[int, int]:
        header = self._byte()
        count = header >> 4
        return header & 15, self.varint() if count == _LONG else count

    def _skip_element(self, kind: int, depth: int) -> None:
        if kind in {_TRUE, _FALSE}:
            self._pass(1)
        else:
            self.skip(kind, depth + 1)

    def _byte(self) -> int:
        byte = self._content[self.at]
        self.at += 1
        return byte

    def _pass(self, count: int) -> None:
        self.at += count
        if self.at > len(self._content):
            raise IndexError


def _check(depth: int) -> None:
    if depth > _DEPTH:
        raise ValueError("it is nested too deep")
