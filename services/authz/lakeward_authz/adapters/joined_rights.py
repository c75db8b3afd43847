"""Questions about rights that arrive together, asked as one statement for each subject."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeAlias

from lakeward_authz.application.permissions import Rights, RightsReader, Shown
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject
from lakeward_servicekit.coalescing import Coalescer

_Question: TypeAlias = tuple[Subject, tuple[ObjectKey, ...]]


class JoinedRights:
    """The `RightsReader` that asks another one, once for all who ask about one subject at one moment.

    A statement costs little more for the objects of many questions than for those of one. A question joins only a statement that
    was not sent yet, so no answer is older than its question.

    Args:
        rights: answers.
    """

    def __init__(self, rights: RightsReader) -> None:
        """Ask `rights`."""
        self._rights = rights
        self._joined = Coalescer[_Question, Rights](self._ask, alike=True)

    async def of(self, subject: Subject, objects: Sequence[ObjectKey]) -> Rights:
        """See `RightsReader`."""
        return await self._joined((subject, tuple(objects)))

    async def shown(self, subject: Subject, scope: ObjectKey, type_name: str) -> Shown:
        """See `RightsReader`."""
        return await self._rights.shown(subject, scope, type_name)

    async def _ask(self, questions: Sequence[_Question]) -> Sequence[Rights | Exception]:
        """One statement for each subject; what one raises is raised for the questions about that subject."""
        places: dict[Subject, dict[ObjectKey, int]] = {}
        for subject, objects in questions:
            asked = places.setdefault(subject, {})
            for key in objects:
                asked.setdefault(key, len(asked))
        if len(places) == 1:
            ((subject, asked),) = places.items()
            found: dict[Subject, Rights | BaseException] = {subject: await self._rights.of(subject, [*asked])}
        else:
            answers = await asyncio.gather(
                *(self._rights.of(subject, [*asked]) for subject, asked in places.items()), return_exceptions=True
            )
            found = dict(zip(places, answers, strict=True))
        return [_part(found[subject], [places[subject][key] for key in objects]) for subject, objects in questions]


def _part(found: Rights | BaseException, places: Sequence[int]) -> Rights | Exception:
    if isinstance(found, Rights):
        return Rights(
            [found.held[place] for place in places], [found.glimpsed[place] for place in places], found.revision
        )
    if isinstance(found, Exception):
        return found
    raise found
