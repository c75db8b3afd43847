"""The engine that decides from authz's own rows; no other server is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from lakeward_authz.application.permissions import Asked, Rights, RightsTogether, key_of, subject_of, token_roles_of
from lakeward_authz.domain.permissions.lakeward import ALLOWS, MODEL, SIGHT, TABULARS
from lakeward_servicekit.authorization.authorizer import Demand, Outcome, Turn, VisibleSet
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal

_EVERYTHING: Final = VisibleSet(everything=True)
_NOTHING: Final = VisibleSet(everything=False)
# What is listed in a scope, by the types that lie between the two.
_LISTED: Final = {
    (ObjectKind.SERVER, ObjectKind.PROJECT): ("project",),
    (ObjectKind.PROJECT, ObjectKind.WAREHOUSE): ("warehouse",),
    (ObjectKind.WAREHOUSE, ObjectKind.NAMESPACE): ("namespace",),
    (ObjectKind.NAMESPACE, ObjectKind.NAMESPACE): ("namespace",),
    **{(ObjectKind.WAREHOUSE, kind): ("namespace", kind.word) for kind in TABULARS},
    **{(ObjectKind.NAMESPACE, kind): (kind.word,) for kind in TABULARS},
}


class Builtin:
    """Decides by the model, from rows that one statement gathers for a whole batch.

    Args:
        rights: reads them.
    """

    def __init__(self, rights: RightsTogether) -> None:
        """Decide by what `rights` says."""
        self._rights = rights
        self._revision = 0

    @property
    def revision(self) -> str:
        """The newest state of the grants that an answer came from; every later answer knows of it."""
        return f"grants-{self._revision}"

    async def decide(self, principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
        """See `Authorizer`."""
        places = _places(demands)
        subject, objects, also = await self._asked(principal, places)
        return self._outcomes(demands, places, await self._rights.of(subject, objects, also=also))

    async def decide_each(self, turns: Sequence[Turn]) -> Sequence[Sequence[Outcome]]:
        """See `Authorizer`."""
        places = [_places(turn.demands) for turn in turns]
        asked = [await self._asked(turn.principal, own) for turn, own in zip(turns, places, strict=True)]
        rights = await self._rights.of_each(asked)
        return [self._outcomes(turn.demands, own, its) for turn, own, its in zip(turns, places, rights, strict=True)]

    async def visible(self, principal: Principal, scope: ObjectRef, kind: ObjectKind) -> VisibleSet:
        """See `Authorizer`."""
        between = _LISTED.get((scope.kind, kind))
        if between is None:
            return _NOTHING
        subject, key = subject_of(principal), key_of(scope)
        # What is in the server are projects, each of which counts the roles of its own; on the server none of them counts.
        also = await token_roles_of(principal, self._rights, [key.project_id])
        rights = await self._rights.of(subject, [key], also=also)
        held = rights.held[0]
        if held is None:
            return _NOTHING
        above = MODEL.types[key.type]
        for name in between:
            here = MODEL.types[name]
            held = MODEL.held(here.index, 0, above.index, held)
            above = here
        if held & above.bits[SIGHT]:
            return _EVERYTHING
        if kind is ObjectKind.PROJECT:
            also = await token_roles_of(principal, self._rights, None)
        shown = await self._rights.shown(subject, key, kind.word, also=also)
        return VisibleSet(everything=False, containers=shown.containers, objects=shown.objects, projects=shown.projects)

    async def _asked(self, principal: Principal, places: Mapping[ObjectRef, int]) -> Asked:
        also = await token_roles_of(principal, self._rights, {ref.project_id for ref in places})
        return subject_of(principal), [key_of(ref) for ref in places], also

    def _outcomes(self, demands: Sequence[Demand], places: Mapping[ObjectRef, int], rights: Rights) -> list[Outcome]:
        self._revision = max(self._revision, rights.revision)
        held = rights.held
        return [outcome(held[places[demand.object]], demand) for demand in demands]


def _places(demands: Sequence[Demand]) -> dict[ObjectRef, int]:
    """The objects that demands are about, each once, in the order in which they are asked after."""
    places: dict[ObjectRef, int] = {}
    for demand in demands:
        places.setdefault(demand.object, len(places))
    return places


def outcome(held: int | None, demand: Demand) -> Outcome:
    """What a caller is told that holds these relations; None is of an object that is not there."""
    sees, may = ALLOWS[demand.action]
    if held is None or not held & sees:
        return Outcome.HIDDEN
    return Outcome.ALLOWED if held & may else Outcome.DENIED
