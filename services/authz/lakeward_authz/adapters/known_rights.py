"""What callers held under the grants as they are, so that what nothing can have changed is not looked up again.

What somebody holds on an object is remembered under the revision that it was read with, and is an answer where that revision is
read after the question as well: by one small statement for all who ask at that moment, whoever they are. All that gives or takes
a right on what is there moves the revision in its own transaction, on whatever replica. What is made moves none, and may show a
container to its owner: so what is held on a container is remembered only where that would add nothing, and of what is not there
nothing is.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from typing import Final, TypeAlias

from lakeward_authz.application.permissions import Asked, Rights, RightsTogether, Shown
from lakeward_authz.domain.permissions.compiled import NOTHING
from lakeward_authz.domain.permissions.lakeward import GLIMPSE, MODEL
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject

_MOST: Final = 65_536  # of about 300 bytes each
_Held: TypeAlias = tuple[int, bool]
_Key: TypeAlias = tuple[Subject, tuple[Subject, ...], ObjectKey]


class KnownRights:
    """The `RightsTogether` that remembers what another one said, in memory.

    Args:
        rights: answers.
        most: of what is remembered; with one more all is forgotten.
    """

    def __init__(self, rights: RightsTogether, *, most: int = _MOST) -> None:
        """Know nothing."""
        self._rights: Final = rights
        self._most: Final = most
        self._revision = -1
        self._known: dict[_Key, _Held] = {}

    async def bound(self, token_roles: Sequence[str], project_ids: Collection[str] | None) -> Sequence[Subject]:
        """See `RightsReader`."""
        return await self._rights.bound(token_roles, project_ids)

    async def revision(self) -> int:
        """See `RightsTogether`."""
        return await self._rights.revision()

    async def of(self, subject: Subject, objects: Sequence[ObjectKey], *, also: Sequence[Subject] = ()) -> Rights:
        """See `RightsReader`."""
        keys: list[_Key] = [(subject, tuple(also), key) for key in objects]
        revision, known = self._revision, self._known
        found = [known[key] for key in keys if key in known]
        if len(found) == len(keys) and await self._rights.revision() == revision:
            return Rights([held for held, _ in found], [glimpsed for _, glimpsed in found], revision)
        rights = await self._rights.of(subject, objects, also=also)
        self._keep(keys, rights)
        return rights

    async def of_each(self, asked: Sequence[Asked]) -> Sequence[Rights]:
        """See `RightsTogether`; never remembered."""
        return await self._rights.of_each(asked)

    async def shown(self, subject: Subject, scope: ObjectKey, type_name: str, *, also: Sequence[Subject] = ()) -> Shown:
        """See `RightsReader`."""
        return await self._rights.shown(subject, scope, type_name, also=also)

    def _keep(self, keys: Sequence[_Key], rights: Rights) -> None:
        if rights.revision > self._revision:
            self._revision, self._known = rights.revision, {}
        if rights.revision < self._revision:
            return  # it was overtaken
        if len(self._known) + len(keys) > self._most:
            self._known = {}
        for key, held, glimpsed in zip(keys, rights.held, rights.glimpsed, strict=True):
            if held is not None and _lasts(key[2].type, held, glimpsed=glimpsed):
                self._known[key] = (held, glimpsed)


def _lasts(type_name: str, held: int, *, glimpsed: bool) -> bool:
    """Whether nothing that is made can add to what somebody holds."""
    found = MODEL.types[type_name]
    if found.link == "project" and GLIMPSE not in found.bits:
        return False  # roles and tags ask what may be listed in their project
    return GLIMPSE not in found.bits or glimpsed or not _by_glimpse(type_name) & ~held


@functools.cache
def _by_glimpse(type_name: str) -> int:
    """What follows from being shown a container by something in it, that itself left out."""
    found = MODEL.types[type_name]
    glimpse = found.bits[GLIMPSE]
    return MODEL.held(found.index, glimpse, NOTHING, 0) & ~glimpse
