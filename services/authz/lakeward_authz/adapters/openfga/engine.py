"""The engine that asks OpenFGA for point decisions.

Sets, and what a container shows because of something in it, come from authz's own rows: OpenFGA would walk everything below a
container to say no. It is told of the latter with each question, as a tuple beside the stored ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lakeward_authz.adapters.builtin import Builtin
from lakeward_authz.adapters.openfga.connection import OpenFga
from lakeward_authz.adapters.openfga.feeding import Feeder
from lakeward_authz.application.permissions import RightsReader, key_of, subject_of, token_roles_of
from lakeward_authz.domain.outcomes import outcome_of
from lakeward_authz.domain.permissions.lakeward import ASSIGNEE, GLIMPSE, MODEL, RELATION_OF
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject
from lakeward_authz.domain.permissions.tuples import FgaTuple, caller_name, object_name
from lakeward_servicekit.authorization.actions import SHOWING
from lakeward_servicekit.authorization.authorizer import Demand, Outcome, VisibleSet
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal

_ROLE: Final = "role:"


class OpenFgaEngine:
    """Decides by OpenFGA, which is brought up to date before it is asked: a right that was taken is not answered any more.

    Args:
        openfga: a store that holds this release's model.
        feeder: brings the rows into it.
        rights: reads the same rows.
    """

    def __init__(self, openfga: OpenFga, feeder: Feeder, rights: RightsReader) -> None:
        """Ask `openfga`."""
        self._openfga = openfga
        self._feeder = feeder
        self._rights = rights
        self._builtin = Builtin(rights)

    @property
    def revision(self) -> str:
        """As of the rows."""
        return self._builtin.revision

    async def decide(self, principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
        """See `Authorizer`."""
        asked: dict[tuple[ObjectRef, str], int] = {}
        for demand in demands:
            for action in (demand.action.sight, demand.action):
                asked.setdefault((demand.object, RELATION_OF[action]), len(asked))
        keys = {ref: key_of(ref) for ref, _ in asked}
        also = await token_roles_of(principal, self._rights, {ref.project_id for ref in keys})
        may = await self.holds(subject_of(principal), [(keys[ref], relation) for ref, relation in asked], also=also)
        return [
            outcome_of(
                sees=may[asked[demand.object, RELATION_OF[demand.action.sight]]]
                or (demand.action in SHOWING and may[asked[demand.object, RELATION_OF[demand.action]]]),
                may=may[asked[demand.object, RELATION_OF[demand.action]]],
            )
            for demand in demands
        ]

    async def visible(self, principal: Principal, scope: ObjectRef, kind: ObjectKind) -> VisibleSet:
        """See `Authorizer`."""
        return await self._builtin.visible(principal, scope, kind)

    async def holds(
        self, subject: Subject, asked: Sequence[tuple[ObjectKey, str]], *, also: Sequence[Subject] = ()
    ) -> Sequence[bool]:
        """Whether a subject holds each relation on its object, by itself or by roles that it has for this question alone.

        Raises:
            Refusal: AUTHORIZATION_UNAVAILABLE, DATABASE_UNAVAILABLE.
        """
        await self._feeder.catch_up()
        caller = caller_name(subject)
        beside = [FgaTuple(caller, ASSIGNEE, caller)] if subject.startswith(_ROLE) else []
        beside += [FgaTuple(caller, ASSIGNEE, caller_name(role)) for role in also]
        shown = await self._glimpses(subject, [key for key, _ in asked], also=also)
        return await self._openfga.allowed(
            [
                (
                    FgaTuple(caller, relation, object_name(key)),
                    [*beside, *(FgaTuple(caller, GLIMPSE, object_name(each)) for each in shown.get(key, ()))],
                )
                for key, relation in asked
            ]
        )

    async def _glimpses(
        self, subject: Subject, keys: Sequence[ObjectKey], *, also: Sequence[Subject]
    ) -> dict[ObjectKey, list[ObjectKey]]:
        """For each object, what of it and of the project that it looks up to is shown by something inside."""
        looks_at = {key: _looks_at(key) for key in keys}
        containers = [*{each: None for found in looks_at.values() for each in found}]
        if not containers:
            return {}
        rights = await self._rights.of(subject, containers, also=also)
        shown = {each for each, glimpsed in zip(containers, rights.glimpsed, strict=True) if glimpsed}
        return {key: [each for each in found if each in shown] for key, found in looks_at.items()}


def _looks_at(key: ObjectKey) -> list[ObjectKey]:
    if GLIMPSE in MODEL.types[key.type].bits:
        return [key]
    # roles and tags ask what may be listed in their project
    return [ObjectKey("project", key.project_id)] if MODEL.types[key.type].link == "project" else []
