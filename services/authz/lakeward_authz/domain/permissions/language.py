"""OpenFGA's modelling language, as far as our model uses it: schema 1.1, without conditions.

definition   define NAME: EXPRESSION
expression   operands joined by one of `or`, `and`, `but not`; parentheses group, and mixing the three needs them
operand      [RESTRICTION, …]   whom tuples may name: user, role#assignee, user:*
             NAME               a relation of the same object
             NAME from LINK     a relation of the object that LINK names
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Final, NoReturn, TypeAlias

_TOKEN: Final = re.compile(r"\s*(?:([A-Za-z_][A-Za-z0-9_]*(?:#[A-Za-z0-9_]+|:\*)?)|([\[\](),]))")
_OPERATORS: Final = frozenset({"or", "and", "but"})


class MalformedModel(ValueError):  # noqa: N818 - what it is, not what it does
    """A text that is no model, with the line it goes wrong at."""


@dataclasses.dataclass(frozen=True, slots=True)
class Restriction:
    """Whom a tuple may name.

    Attributes:
        type: of the subject.
        relation: of that subject, as in "role#assignee"; "" for the subject itself.
        wildcard: everyone of the type, as in "user:*".
    """

    type: str
    relation: str = ""
    wildcard: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Direct:
    """Holds for whom a tuple names."""

    restrictions: tuple[Restriction, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Computed:
    """Holds for whom another relation of the object holds."""

    relation: str


@dataclasses.dataclass(frozen=True, slots=True)
class Through:
    """Holds for whom a relation of a linked object holds; an object whose type lacks the relation adds nobody."""

    relation: str
    link: str


@dataclasses.dataclass(frozen=True, slots=True)
class AnyOf:
    """Holds where one operand does."""

    operands: tuple[Rule, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class AllOf:
    """Holds where every operand does."""

    operands: tuple[Rule, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Except:
    """Holds where the first does and the second does not."""

    base: Rule
    without: Rule


Rule: TypeAlias = Direct | Computed | Through | AnyOf | AllOf | Except
Types: TypeAlias = Mapping[str, Mapping[str, Rule]]


def parse(text: str) -> Types:
    """The types of a model, with the rule of each relation, in the order of the text.

    Raises:
        MalformedModel: what stands there is not of the language above, or names what is not there.
    """
    types: dict[str, dict[str, Rule]] = {}
    relations: dict[str, Rule] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        match words:
            case [] | ["model"] | ["schema", "1.1"] | ["relations"]:
                continue
            case [first, *_] if first.startswith("#"):
                continue
            case ["type", name] if name not in types:
                relations = types.setdefault(name, {})
            case ["define", name, *_] if relations is not None and name.endswith(":") and name[:-1] not in relations:
                relations[name[:-1]] = _Expression(line.partition(":")[2], number).rule()
            case _:
                raise MalformedModel(f"line {number}: {line.strip()!r} is neither a type nor a new relation of one")
    _check(types)
    return types


def direct(rule: Rule) -> tuple[Restriction, ...]:
    """Whom tuples of a relation may name; empty for one that can't be written."""
    return next((part.restrictions for part in parts(rule) if isinstance(part, Direct)), ())


def parts(rule: Rule) -> Iterator[Rule]:
    """A rule and all that it is made of."""
    yield rule
    match rule:
        case AnyOf(operands) | AllOf(operands):
            for operand in operands:
                yield from parts(operand)
        case Except(base, without):
            yield from parts(base)
            yield from parts(without)
        case _:
            return


class _Expression:
    """Reads one expression from its text."""

    def __init__(self, text: str, line: int) -> None:
        self._line = line
        self._tokens: list[str] = []
        at = 0
        while text[at:].strip():
            found = _TOKEN.match(text, at)
            if found is None:
                self._fail(f"{text[at:].strip()!r} is not of the language")
            self._tokens.append(found.group(1) or found.group(2))
            at = found.end()

    def rule(self) -> Rule:
        """The whole text's."""
        rule = self._joined()
        if self._tokens:
            self._fail(f"{self._tokens[0]!r} follows a whole expression; parentheses group what is mixed")
        return rule

    def _joined(self) -> Rule:
        operands = [self._operand()]
        operator = self._tokens[0] if self._tokens and self._tokens[0] in _OPERATORS else ""
        while operator and self._tokens[:1] == [operator]:
            self._take()
            if operator == "but":
                self._expect("not")
                return Except(operands[0], self._operand())
            operands.append(self._operand())
        if not operator:
            return operands[0]
        return AnyOf(tuple(operands)) if operator == "or" else AllOf(tuple(operands))

    def _operand(self) -> Rule:
        first = self._take()
        if first == "(":
            rule = self._joined()
            self._expect(")")
            return rule
        if first == "[":
            return self._restrictions()
        if not first.isidentifier() or first in _OPERATORS:
            self._fail(f"{first!r} stands where a relation should")
        if self._tokens[:1] == ["from"]:
            self._take()
            return Through(first, self._take())
        return Computed(first)

    def _restrictions(self) -> Direct:
        found: list[Restriction] = []
        separator = ","
        while separator == ",":
            subject = self._take()
            named, _, relation = subject.partition("#")
            found.append(Restriction(named.removesuffix(":*"), relation, subject.endswith(":*")))
            separator = self._take()
        if separator != "]":
            self._fail(f"{separator!r} stands where ']' should")
        return Direct(tuple(found))

    def _expect(self, right: str) -> None:
        if (found := self._take()) != right:
            self._fail(f"{found!r} stands where {right!r} should")

    def _take(self) -> str:
        if not self._tokens:
            self._fail("the expression ends too early")
        return self._tokens.pop(0)

    def _fail(self, why: str) -> NoReturn:
        raise MalformedModel(f"line {self._line}: {why}")


def _check(types: Types) -> None:
    """Refuse names that lead nowhere."""
    for type_name, relations in types.items():
        for name, rule in relations.items():
            for missing in _missing(rule, relations, types):
                raise MalformedModel(f"{type_name}#{name} names {missing}, which is not there")


def _missing(rule: Rule, relations: Mapping[str, Rule], types: Types) -> Iterator[str]:
    for part in parts(rule):
        match part:
            case Computed(relation) if relation not in relations:
                yield relation
            case Direct(restrictions):
                yield from (
                    f"{one.type}#{one.relation}"
                    for one in restrictions
                    if one.type not in types or (one.relation and one.relation not in types[one.type])
                )
            case Through(relation, link):
                linked = [one.type for one in direct(relations[link])] if link in relations else []
                if not any(relation in types.get(above, {}) for above in linked):
                    yield f"{relation} from {link}"
            case _:
                continue
