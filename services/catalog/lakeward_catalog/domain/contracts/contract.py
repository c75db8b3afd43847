"""Contracts as a warehouse keeps them: a document that is set whole, and which of its contracts a change concerns.

A contract names a namespace by its path, or none for the whole warehouse, and counts for everything below. What lies in two
contracts' namespaces keeps both.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Sequence
from typing import Annotated, Final

import msgspec

from lakeward_catalog.domain.names import MAX_DEPTH, NamespaceIdent, name_key
from lakeward_servicekit.errors import Reason, Refusal

MOST_CONTRACTS: Final = 200
MOST_ENTRIES: Final = 200
MOST_BYTES: Final = 256 * 1024

_Word = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
_Words = Annotated[tuple[_Word, ...], msgspec.Meta(max_length=MOST_ENTRIES)]


class Operation(enum.StrEnum):
    """What is about to be done."""

    CREATE = "create"
    COMMIT = "commit"
    RENAME = "rename"
    DROP = "drop"
    UNDROP = "undrop"
    CREATE_NAMESPACE = "create-namespace"
    UPDATE_NAMESPACE = "update-namespace"
    MOVE_NAMESPACE = "move-namespace"
    DROP_NAMESPACE = "drop-namespace"


class RequiredColumn(msgspec.Struct, frozen=True, rename="kebab", forbid_unknown_fields=True, omit_defaults=True):
    """A column that every table has.

    Attributes:
        name: of a top-level column, or a dotted path into structs; with the casing it is to have.
        type: as Iceberg writes it, as "long" or "decimal(10,2)"; None: any.
        required: it may hold no null.
    """

    name: _Word
    type: _Word | None = None
    required: bool = False


class Rules(msgspec.Struct, frozen=True, rename="kebab", forbid_unknown_fields=True, omit_defaults=True):
    """What is promised without asking anybody; what is left out is not promised.

    Attributes:
        columns_stay: no column is dropped.
        names_stay: no column is renamed, or moved into another struct.
        types_only_widen: a column's type only changes as Iceberg promotes types.
        optional_stays: no optional column becomes required, and no required one is added without a value for older rows.
        required_columns: columns of every table.
        allowed_partitionings: how a table may be partitioned, each a list such as ["day(ts)", "bucket[16](id)"], the empty one
            for not at all; None: in any way.
        properties_stay: keys whose values, once set, stay.
        refused_operations: what is not done at all.
    """

    columns_stay: bool = False
    names_stay: bool = False
    types_only_widen: bool = False
    optional_stays: bool = False
    required_columns: Annotated[tuple[RequiredColumn, ...], msgspec.Meta(max_length=MOST_ENTRIES)] = ()
    allowed_partitionings: Annotated[tuple[_Words, ...], msgspec.Meta(max_length=MOST_ENTRIES)] | None = None
    properties_stay: _Words = ()
    refused_operations: Annotated[tuple[Operation, ...], msgspec.Meta(max_length=len(Operation))] = ()


class Contract(msgspec.Struct, frozen=True, rename="kebab", forbid_unknown_fields=True, omit_defaults=True):
    """One promise.

    Attributes:
        name: what refusals call it; unique in its warehouse.
        namespace: path of the namespace that it counts in and below; empty: the whole warehouse.
        names: tables and views that it counts for; empty: all of them.
        checkers: names of services, as the settings have them, that are asked too.
    """

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    namespace: Annotated[tuple[_Word, ...], msgspec.Meta(max_length=MAX_DEPTH)] = ()
    names: _Words = ()
    rules: Rules = Rules()
    checkers: Annotated[tuple[_Word, ...], msgspec.Meta(max_length=10)] = ()

    def concerns(self, namespace: NamespaceIdent, name: str) -> bool:
        """Whether it counts for a table or view."""
        if self.names and name_key(name) not in {name_key(each) for each in self.names}:
            return False
        return self.around(namespace)

    def touches(self, namespace: NamespaceIdent) -> bool:
        """Whether it counts for a namespace, or for something in one below it."""
        return self.around(namespace) or self._keys[: len(namespace.parts)] == _keys(namespace.parts)

    def around(self, namespace: NamespaceIdent) -> bool:
        """Whether it counts for a namespace and everything below it."""
        mine = self._keys
        return _keys(namespace.parts[: len(mine)]) == mine

    @property
    def _keys(self) -> tuple[str, ...]:
        return _keys(self.namespace)


def _keys(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(name_key(part) for part in parts)


_decoder: Final = msgspec.json.Decoder(tuple[Contract, ...])


def stored(document: bytes | str) -> tuple[Contract, ...]:
    """Contracts from a warehouse's row."""
    return _decoder.decode(document)


def encoded(contracts: Sequence[Contract]) -> bytes:
    """Contracts as JSON."""
    return msgspec.json.encode(contracts)


def parsed(document: bytes, *, checkers: Collection[str]) -> tuple[Contract, ...]:
    """Contracts as somebody wants them.

    Args:
        document: JSON, a list of contracts.
        checkers: names of the services that the settings have.

    Raises:
        Refusal: TOO_LARGE, INVALID_CONTRACT.
    """
    if len(document) > MOST_BYTES:
        raise Refusal(
            Reason.REASON_TOO_LARGE,
            f"the contracts have {len(document)} bytes; a warehouse keeps at most {MOST_BYTES}",
            what="contracts",
            limit=str(MOST_BYTES),
        )
    try:
        contracts = _decoder.decode(document)
    except msgspec.DecodeError as unusable:
        raise _invalid("", str(unusable)) from None
    if len(contracts) > MOST_CONTRACTS:
        raise _invalid("", f"there are {len(contracts)}; a warehouse has at most {MOST_CONTRACTS}")
    seen: set[str] = set()
    for contract in contracts:
        _check(contract, seen, checkers)
    return contracts


def _check(contract: Contract, seen: set[str], checkers: Collection[str]) -> None:
    name = contract.name
    if name in seen:
        raise _invalid(name, "there are two of this name; give each its own")
    seen.add(name)
    if contract.namespace:
        NamespaceIdent.of(contract.namespace)
    for checker in contract.checkers:
        if checker not in checkers:
            known = ", ".join(sorted(checkers)) or "none"
            raise _invalid(name, f"checker {checker!r} is not in the settings; those that are: {known}")
    if contract.rules == Rules() and not contract.checkers:
        raise _invalid(
            name, "it has neither a rule nor a checker, and so promises nothing; give it one, or leave it out"
        )


def _invalid(name: str, problem: str) -> Refusal:
    which = f"contract {name!r}" if name else "the list of contracts"
    return Refusal(Reason.REASON_INVALID_CONTRACT, f"{which} can't be set: {problem}"[:1000], contract=name)
