"""Why somebody may do something, or what they would have to be given: the model is asked what follows from less and from more."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from lakeward_authz.domain.permissions.compiled import NOTHING
from lakeward_authz.domain.permissions.lakeward import ASSIGNEE, GLIMPSE, MANAGED_ACCESS, MODEL
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject

# Grants beyond these are not tried in pairs.
_PAIRED: Final = 60


@dataclasses.dataclass(frozen=True, slots=True)
class Link:
    """An object on the way from the server to what is asked about.

    Attributes:
        managed: whether access is managed from it on.
    """

    key: ObjectKey
    managed: bool = False


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Right:
    """A privilege that somebody was given on the way.

    Attributes:
        place: on which link.
    """

    place: int
    subject: Subject
    relation: str


@dataclasses.dataclass(frozen=True, slots=True)
class Way:
    """From the server to what is asked about.

    Attributes:
        links: the server first.
        shown: places of containers that something inside shows to whom it is about.
        assumed: whether what is asked about is the role that asks.
    """

    links: Sequence[Link]
    shown: Collection[int] = ()
    assumed: bool = False

    def holds(self, rights: Collection[Right], relation: str, *, place: int = -1, managed: bool = True) -> bool:
        """Whether a relation to a link, the last one unless another is meant, follows from rights alone.

        Args:
            rights: that count.
            relation: is asked about.
            place: on which link.
            managed: whether managed access counts.
        """
        above, held = NOTHING, 0
        last = len(self.links) - 1 if place < 0 else place
        for here, link in enumerate(self.links[: last + 1]):
            found = MODEL.types[link.key.type]
            own = found.mask(
                *{right.relation for right in rights if right.place == here and right.relation in found.bits}
            )
            if managed and link.managed:
                own |= found.bits[MANAGED_ACCESS]
            if here in self.shown:
                own |= found.bits[GLIMPSE]
            if self.assumed and here == len(self.links) - 1:
                own |= found.bits[ASSIGNEE]
            above, held = found.index, MODEL.held(found.index, own, above, held)
        return bool(held & MODEL.types[self.links[last].key.type].bits[relation])


def causes(way: Way, rights: Sequence[Right], relation: str) -> Sequence[Sequence[Right]]:
    """The rights that a relation follows from: each by itself, or two together where no one does; all of them, beyond that.

    None at all where it follows without any, or does not follow.
    """
    if way.holds((), relation) or not way.holds(rights, relation):
        return []
    for count in (1, 2):
        tried = itertools.combinations(rights[: _PAIRED if count > 1 else None], count)
        if found := [some for some in tried if way.holds(some, relation)]:
            return found
    return [tuple(rights)]


@dataclasses.dataclass(frozen=True, slots=True)
class Lacking:
    """A privilege on a link that would do."""

    place: int
    privilege: str


def lacking(way: Way, rights: Sequence[Right], relation: str) -> Sequence[Lacking]:
    """What would have to be given: of each link that has such a privilege the one that brings least, nearest link first."""
    found: list[Lacking] = []
    for place in range(len(way.links) - 1, -1, -1):
        doing = [
            (_weight(way, place, privilege), privilege)
            for privilege in MODEL.types[way.links[place].key.type].given
            if way.holds([*rights, Right(place, Subject(""), privilege)], relation)
        ]
        if doing:
            found.append(Lacking(place, min(doing)[1]))
    return found


def _weight(way: Way, place: int, privilege: str) -> int:
    """How much a privilege brings, on its own link and on all behind it."""
    rights = [Right(place, Subject(""), privilege)]
    return sum(
        way.holds(rights, each, place=behind)
        for behind in range(place, len(way.links))
        for each in MODEL.types[way.links[behind].key.type].bits
    )


def managing(way: Way, rights: Sequence[Right], relation: str) -> Iterator[int]:
    """Places where managed access keeps it from following."""
    if not way.holds(rights, relation) and way.holds(rights, relation, managed=False):
        yield from (place for place, link in enumerate(way.links[:-1]) if link.managed)
