"""A model as tables: sets of relations are integers, one bit a relation, and what follows from a set is looked up.

Objects hang from one another by one link each, so an object stands at the end of a chain: table, namespaces, warehouse,
project, server. What a caller holds on an object follows from two numbers: what was given to it there, and what it holds on
the object above. Few pairs of numbers ever occur, so each is worked out once, and a decision costs a look-up for each link.
"""

from __future__ import annotations

import dataclasses
import functools
import graphlib
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from lakeward_authz.domain.permissions.language import (
    AllOf,
    AnyOf,
    Computed,
    Direct,
    Except,
    MalformedModel,
    Rule,
    Through,
    Types,
    direct,
    parts,
)

_SUBJECTS: Final = frozenset({"user", "role"})
# Pairs of numbers that are remembered; beyond it the oldest are worked out again.
_REMEMBERED: Final = 65_536
_Held: TypeAlias = Callable[[int, int, int, int], int]
NOTHING: Final = -1


@dataclasses.dataclass(frozen=True, slots=True)
class ObjectType:
    """A type of objects.

    Attributes:
        index: its place among the types.
        bits: each relation's bit.
        given: relations that tuples give to users and roles, in the order of the text.
        link: the relation that names the object above; "" for none.
        above: types that the link may name.
    """

    name: str
    index: int
    bits: Mapping[str, int]
    given: tuple[str, ...]
    link: str
    above: tuple[str, ...]
    _named: dict[int, frozenset[str]] = dataclasses.field(default_factory=dict, compare=False, repr=False)

    def mask(self, *relations: str) -> int:
        """The set of some relations."""
        return functools.reduce(lambda found, relation: found | self.bits[relation], relations, 0)

    def names(self, mask: int) -> frozenset[str]:
        """The relations of a set; of sets as of pairs few ever occur."""
        found = self._named.get(mask)
        if found is None:
            found = frozenset(relation for relation, bit in self.bits.items() if mask & bit)
            if len(self._named) >= _REMEMBERED:
                self._named.clear()
            self._named[mask] = found
        return found


class Model:
    """What follows from what was given.

    Args:
        types: as `parse` gives them.

    Raises:
        MalformedModel: a relation follows from itself on the same object, or a type has two links.
    """

    def __init__(self, types: Types) -> None:
        """Compile `types`."""
        self.types: Final[Mapping[str, ObjectType]] = {
            name: _object_type(name, index, relations) for index, (name, relations) in enumerate(types.items())
        }
        self.rules: Final = types
        self.held: Final[_Held] = _holding(types, tuple(self.types.values()))
        """What a caller holds on an object: (type's index, what it was given there, index of the type above or NOTHING, what
        it holds there)."""

    def alone(self, type_name: str, relation: str) -> frozenset[str]:
        """The given relations any one of which, with nothing above, brings `relation`."""
        found = self.types[type_name]
        return frozenset(
            given
            for given in found.given
            if self.held(found.index, found.bits[given], NOTHING, 0) & found.bits[relation]
        )


def _object_type(name: str, index: int, relations: Mapping[str, Rule]) -> ObjectType:
    links = {
        relation: tuple(one.type for one in direct(rule))
        for relation, rule in relations.items()
        if isinstance(rule, Direct) and not any(one.type in _SUBJECTS for one in rule.restrictions)
    }
    used = {part.link for rule in relations.values() for part in parts(rule) if isinstance(part, Through)}
    if len(used) > 1:
        raise MalformedModel(f"{name} hangs from {' and '.join(sorted(used))}; an object has one place")
    link = next(iter(used), "")
    return ObjectType(
        name=name,
        index=index,
        bits={relation: 1 << place for place, relation in enumerate(relations)},
        given=tuple(
            relation
            for relation, rule in relations.items()
            if any(one.type == "user" and not one.wildcard and _is_role(rule) for one in direct(rule))
        ),
        link=link,
        above=links.get(link, ()),
    )


def _is_role(rule: Rule) -> bool:
    """Whether roles' members may be given it, as everything that people give can be."""
    return any(one.type == "role" and one.relation for one in direct(rule))


def _holding(types: Types, compiled: tuple[ObjectType, ...]) -> _Held:
    ordered = [_ordered(found.name, types[found.name]) for found in compiled]

    @functools.lru_cache(maxsize=_REMEMBERED)
    def held(index: int, own: int, above_index: int, above: int) -> int:
        here = compiled[index]
        upper = None if above_index == NOTHING else compiled[above_index].bits
        found = 0
        for relation, rule in ordered[index]:
            if _holds(rule, relation, _Place(own, found, here.bits, above, upper)):
                found |= here.bits[relation]
        return found

    return held


@dataclasses.dataclass(frozen=True, slots=True)
class _Place:
    """Where a rule is asked: what was given there, what is known to follow so far, and what is held above."""

    own: int
    found: int
    bits: Mapping[str, int]
    above: int
    upper: Mapping[str, int] | None


def _holds(rule: Rule, relation: str, place: _Place) -> bool:
    match rule:
        case Direct():
            return bool(place.own & place.bits[relation])
        case Computed(other):
            return bool(place.found & place.bits[other])
        case Through(other, _):
            return place.upper is not None and bool(place.above & place.upper.get(other, 0))
        case AnyOf(operands):
            return any(_holds(operand, relation, place) for operand in operands)
        case AllOf(operands):
            return all(_holds(operand, relation, place) for operand in operands)
        case Except(base, without):
            return _holds(base, relation, place) and not _holds(without, relation, place)


def _ordered(name: str, relations: Mapping[str, Rule]) -> list[tuple[str, Rule]]:
    """The relations, each behind those that it follows from."""
    needs = {
        relation: [part.relation for part in parts(rule) if isinstance(part, Computed)]
        for relation, rule in relations.items()
    }
    try:
        return [(relation, relations[relation]) for relation in graphlib.TopologicalSorter(needs).static_order()]
    except graphlib.CycleError as error:
        raise MalformedModel(f"{name} has relations that follow from themselves: {error.args[1]}") from error
