"""The authorizer that allows everything to everyone."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Final

from lakeward_authz.application.permissions import Rights, RightsReader, Shown
from lakeward_authz.domain.permissions.lakeward import MODEL
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject
from lakeward_servicekit.authorization.authorizer import Demand, Outcome, Turn, VisibleSet
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal

_REVISION: Final = "allow-all"
_EVERYTHING: Final = VisibleSet(everything=True)


class AllowAll:
    """Allows everything; knows nobody and nothing."""

    __slots__ = ()

    @property
    def revision(self) -> str:
        """Always the same."""
        return _REVISION

    async def decide(self, principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
        """See `Authorizer`."""
        del principal
        return (Outcome.ALLOWED,) * len(demands)

    async def decide_each(self, turns: Sequence[Turn]) -> Sequence[Sequence[Outcome]]:
        """See `Authorizer`."""
        return [(Outcome.ALLOWED,) * len(turn.demands) for turn in turns]

    async def visible(self, principal: Principal, scope: ObjectRef, kind: ObjectKind) -> VisibleSet:
        """See `Authorizer`."""
        del principal, scope, kind
        return _EVERYTHING


_EVERY_ACTION: Final = {
    name: found.mask(*(relation for relation in found.bits if relation.startswith("can_")))
    for name, found in MODEL.types.items()
}


class EveryRight:
    """The `RightsReader` where everything is allowed: everybody may do everything to what is there.

    What else follows from the rows stays as it is, as whether access is managed, so that grants that are kept meanwhile hold once
    something decides by them.

    Args:
        rows: knows what is there.
    """

    def __init__(self, rows: RightsReader) -> None:
        """Allow everything on what `rows` has."""
        self._rows = rows

    async def bound(self, token_roles: Sequence[str], project_ids: Collection[str] | None) -> Sequence[Subject]:
        """See `RightsReader`."""
        return await self._rows.bound(token_roles, project_ids)

    async def of(self, subject: Subject, objects: Sequence[ObjectKey], *, also: Sequence[Subject] = ()) -> Rights:
        """See `RightsReader`."""
        rights = await self._rows.of(subject, objects, also=also)
        held = [
            None if mask is None else mask | _EVERY_ACTION[key.type]
            for key, mask in zip(objects, rights.held, strict=True)
        ]
        return dataclasses.replace(rights, held=held)

    async def shown(self, subject: Subject, scope: ObjectKey, type_name: str, *, also: Sequence[Subject] = ()) -> Shown:
        """See `RightsReader`."""
        return await self._rows.shown(subject, scope, type_name, also=also)
