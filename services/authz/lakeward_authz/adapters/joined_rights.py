"""Questions about rights that arrive together, asked as one statement for each subject."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Mapping, Sequence
from typing import Final, TypeAlias

from lakeward_authz.application.permissions import Asked, Rights, RightsTogether, Shown
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject
from lakeward_servicekit.coalescing import Coalescer
from lakeward_servicekit.errors import Refusal

# All as whom is asked: a subject, and the roles that it has for this question alone.
_Asking: TypeAlias = tuple[Subject, tuple[Subject, ...]]
_MANY: Final = 64
"""Objects of a question that is a statement by itself: to find out whether another asks the same costs more than it saves."""
_Question: TypeAlias = tuple[_Asking, tuple[ObjectKey, ...]]


class JoinedRights:
    """The `RightsTogether` that asks another one, once for all who ask about one subject at one moment.

    A statement costs little more for the objects of many questions than for those of one. A question joins only a statement that
    was not sent yet, so no answer is older than its question.

    Args:
        rights: answers.
    """

    def __init__(self, rights: RightsTogether) -> None:
        """Ask `rights`."""
        self._rights = rights
        self._joined = Coalescer[_Question, Rights](self._ask, alike=True)
        self._revision = Coalescer[None, int](self._ask_revision, alike=True)

    async def bound(self, token_roles: Sequence[str], project_ids: Collection[str] | None) -> Sequence[Subject]:
        """See `RightsReader`."""
        return await self._rights.bound(token_roles, project_ids)

    async def of(self, subject: Subject, objects: Sequence[ObjectKey], *, also: Sequence[Subject] = ()) -> Rights:
        """See `RightsReader`."""
        if len(objects) > _MANY:
            return (await self._rights.of_apart([(subject, objects, also)]))[0]
        return await self._joined(((subject, tuple(also)), tuple(objects)))

    async def revision(self) -> int:
        """See `RightsTogether`."""
        return await self._revision(None)

    async def of_each(self, asked: Sequence[Asked]) -> Sequence[Rights]:
        """See `RightsTogether`; never joined."""
        return await self._rights.of_each(asked)

    async def of_apart(self, asked: Sequence[Asked]) -> Sequence[Rights]:
        """See `RightsTogether`."""
        return await asyncio.gather(*(self.of(subject, objects, also=also) for subject, objects, also in asked))

    def glimpsed(
        self, subject: Subject, objects: Sequence[ObjectKey], *, also: Sequence[Subject] = ()
    ) -> Rights | None:
        """See `RightsTogether`."""
        return self._rights.glimpsed(subject, objects, also=also)

    async def shown(self, subject: Subject, scope: ObjectKey, type_name: str, *, also: Sequence[Subject] = ()) -> Shown:
        """See `RightsReader`."""
        return await self._rights.shown(subject, scope, type_name, also=also)

    async def _ask_revision(self, questions: Sequence[None]) -> Sequence[int]:
        return [await self._rights.revision()] * len(questions)

    async def _ask(self, questions: Sequence[_Question]) -> Sequence[Rights | Exception]:
        """One statement, or one for each subject where that fails; what one raises is raised for the questions about it."""
        if len(questions) == 1:
            ((subject, also), objects) = questions[0]
            return await self._rights.of_apart([(subject, objects, also)])
        places: dict[_Asking, dict[ObjectKey, int]] = {}
        for asking, objects in questions:
            asked = places.setdefault(asking, {})
            for key in objects:
                asked.setdefault(key, len(asked))
        found = dict(zip(places, await self._answers(places), strict=True))
        return [_part(found[asking], [places[asking][key] for key in objects]) for asking, objects in questions]

    async def _answers(self, places: Mapping[_Asking, Mapping[ObjectKey, int]]) -> Sequence[Rights | BaseException]:
        asked = [(subject, [*keys], also) for (subject, also), keys in places.items()]
        if len(asked) > 1:
            with contextlib.suppress(Refusal):
                return await self._rights.of_apart(asked)
        alone = await asyncio.gather(*(self._rights.of_apart([each]) for each in asked), return_exceptions=True)
        return [found if isinstance(found, BaseException) else found[0] for found in alone]


def _part(found: Rights | BaseException, places: Sequence[int]) -> Rights | Exception:
    if isinstance(found, Rights):
        return Rights(
            [found.held[place] for place in places], [found.glimpsed[place] for place in places], found.revision
        )
    if isinstance(found, Exception):
        return found
    raise found
