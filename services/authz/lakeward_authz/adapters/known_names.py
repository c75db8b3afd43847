"""Which objects people called how, remembered under the revision of the grants: policy engines ask about the same ones all day.

What goes, and what a warehouse that is switched hides, moves the revision in its own transaction; what is made moves none. So
what was found in its warehouse is called so while the revision stands. Of what was not found nothing is remembered, nor of what
was named by its id alone, which something that is made may have as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias
from uuid import UUID

from lakeward_authz.application.permissions import Named, ObjectNames, RightsTogether
from lakeward_authz.domain.permissions.objects import ObjectKey

_MOST: Final = 65_536  # of about 400 bytes each
_Name: TypeAlias = tuple[str, str, UUID | None, UUID | None]


class KnownNames:
    """The `ObjectNames` that remembers what another one found, in memory.

    Args:
        names: finds.
        rights: says which state of the grants there is.
        most: of what is remembered; with one more all is forgotten.
    """

    def __init__(self, names: ObjectNames, rights: RightsTogether, *, most: int = _MOST) -> None:
        """Know nothing."""
        self._names: Final = names
        self._rights: Final = rights
        self._most: Final = most
        self._revision = -1
        self._known: dict[_Name, ObjectKey] = {}

    async def find(self, named: Sequence[Named]) -> Sequence[ObjectKey | None]:
        """See `ObjectNames`."""
        keys = [(each.type, each.project_id, each.warehouse_id, each.id) for each in named]
        known = self._known
        found = [known.get(key) for key in keys]
        # read before anything is found, so that nothing is kept under a state that it is older than
        revision = await self._rights.revision()
        if None not in found and revision == self._revision and known is self._known:
            return found
        fresh = await self._names.find(named)
        self._keep(keys, fresh, revision)
        return fresh

    def _keep(self, keys: Sequence[_Name], found: Sequence[ObjectKey | None], revision: int) -> None:
        if revision > self._revision or len(self._known) + len(keys) > self._most:
            self._known = {}
        self._revision = max(self._revision, revision)
        if revision == self._revision:
            named = zip(keys, found, strict=True)
            self._known |= {key: each for key, each in named if each is not None and key[2] is not None}
