"""Sets of what shows, as authz told them, for those who ask again from page to page.

Nothing is answered from here unless authz was asked and said that nothing changed.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from typing import Final, TypeAlias
from uuid import UUID
from weakref import WeakValueDictionary

from lakeward_servicekit.authorization.authorizer import VisibleSet
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal

Asked: TypeAlias = tuple[Principal, ObjectRef, ObjectKind]

_MOST: Final = 800_000
"""Ids in all sets together, of about 100 bytes each: 80 MB at most. One set that is larger is not kept."""
_ITSELF: Final = 8
"""What a set counts as beside its ids."""


@dataclasses.dataclass(frozen=True, slots=True)
class KnownSet:
    """A set, and the word of authz's for what it depends on."""

    state: str
    shown: VisibleSet


class KnownSets:
    """The sets that were asked for last, as many as fit.

    Args:
        most: ids that are kept, where each set counts as a few.
    """

    def __init__(self, *, most: int = _MOST) -> None:
        """Know none."""
        self._most: Final = most
        self._sets: Final[OrderedDict[Asked, KnownSet]] = OrderedDict()
        # by length and hash: who sees the same by the same roles has one set, which is held and looked through once for all
        self._alike: Final[WeakValueDictionary[tuple[int, int], frozenset[UUID]]] = WeakValueDictionary()
        self._size = 0

    def find(self, asked: Asked) -> KnownSet | None:
        """The set that a question was last answered with, if it is still here."""
        found = self._sets.get(asked)
        if found is not None:
            self._sets.move_to_end(asked)
        return found

    def keep(self, asked: Asked, known: KnownSet) -> KnownSet:
        """Keep what a question was answered with; what was asked for longest ago makes room.

        Returns:
            An equal one, to be used from here on: its ids may be those of another that is kept.
        """
        objects = known.shown.objects
        twin = self._alike.setdefault((len(objects), hash(objects)), objects)
        if twin is not objects and twin == objects:
            known = KnownSet(known.state, dataclasses.replace(known.shown, objects=twin))
        before = self._sets.pop(asked, None)
        if before is not None:
            self._size -= _size(before)
        size = _size(known)
        if size > self._most:
            return known
        self._sets[asked] = known
        self._size += size
        while self._size > self._most:
            _, oldest = self._sets.popitem(last=False)
            self._size -= _size(oldest)
        return known


def _size(known: KnownSet) -> int:
    shown = known.shown
    return _ITSELF + len(shown.containers) + len(shown.objects) + len(shown.projects)
