"""The authorizer whose answers stand in a table, for tests: hidden, seen but denied, and allowed are a line each."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from uuid import UUID

from lakeward_authz.domain.outcomes import outcome_of
from lakeward_servicekit.authorization.actions import SEEING, SHOWING, Action
from lakeward_servicekit.authorization.authorizer import Demand, Outcome, Turn, VisibleSet
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal

_LISTED = {
    ObjectKind.PROJECT: Action.PROJECT_GET_METADATA,
    ObjectKind.WAREHOUSE: Action.WAREHOUSE_INCLUDE_IN_LIST,
    ObjectKind.NAMESPACE: Action.NAMESPACE_INCLUDE_IN_LIST,
    ObjectKind.TABLE: Action.TABLE_INCLUDE_IN_LIST,
    ObjectKind.VIEW: Action.VIEW_INCLUDE_IN_LIST,
    ObjectKind.GENERIC_TABLE: Action.GENERIC_TABLE_INCLUDE_IN_LIST,
}
_LISTS_EVERYTHING = {
    ObjectKind.SERVER: Action.SERVER_LIST_ALL_PROJECTS,
    ObjectKind.WAREHOUSE: Action.WAREHOUSE_LIST_EVERYTHING,
    ObjectKind.NAMESPACE: Action.NAMESPACE_LIST_EVERYTHING,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """A line: to whom, on what, doing what, it says yes or no. What is None matches anything.

    To hide a thing, refuse its every action, as in `Rule(allows=False, kind=ObjectKind.TABLE)`; to show it and refuse one
    action, refuse that action.

    Attributes:
        principal: a `Principal.key`.
        id: a project's id as text; a warehouse's or namespace's id, or an incarnation.
    """

    allows: bool
    principal: str | None = None
    kind: ObjectKind | None = None
    id: UUID | str | None = None
    action: Action | None = None

    def matches(self, principal: str, kind: ObjectKind, object_id: UUID | str | None, action: Action) -> bool:
        """Whether the line is about this question; an `object_id` of None is an object that no line names."""
        return (
            self.principal in {None, principal}
            and self.kind in {None, kind}
            and (self.id is None or self.id == object_id)
            and self.action in {None, action}
        )


class TableAuthorizer:
    """The first line that matches decides; where none does, nothing is allowed and so nothing is seen.

    Args:
        rules: the lines.

    Attributes:
        asked: the actions of each question.
    """

    def __init__(self, *rules: Rule) -> None:
        """Answer from `rules`."""
        self.asked: list[list[Action]] = []
        self._rules = rules
        self._replaced = 0

    @property
    def revision(self) -> str:
        """How often the table was replaced."""
        return f"table-{self._replaced}"

    def replace(self, *rules: Rule) -> None:
        """Answer from other lines from now on."""
        self._rules = rules
        self._replaced += 1

    async def decide(self, principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
        """See `Authorizer`."""
        self.asked.append([demand.action for demand in demands])
        return [self._outcome(principal.key, demand) for demand in demands]

    async def decide_each(self, turns: Sequence[Turn]) -> Sequence[Sequence[Outcome]]:
        """See `Authorizer`."""
        self.asked.append([demand.action for each in turns for demand in each.demands])
        return [[self._outcome(each.principal.key, demand) for demand in each.demands] for each in turns]

    async def visible(self, principal: Principal, scope: ObjectRef, kind: ObjectKind) -> VisibleSet:
        """See `Authorizer`.

        Raises:
            ValueError: the table hides some objects of the kind by id and shows those it does not name, which no set of
                what shows can say; let it name what shows.
        """
        key = principal.key
        named = {rule.id for rule in self._rules if rule.id is not None and rule.kind in {None, kind}}
        shown = {object_id for object_id in named if self._shows(key, kind, object_id)}
        if not (self._lists_everything(key, scope) or self._shows(key, kind, None)):
            return VisibleSet(
                everything=False,
                objects=frozenset(object_id for object_id in shown if isinstance(object_id, UUID)),
                projects=frozenset(object_id for object_id in shown if isinstance(object_id, str)),
            )
        if hidden := named - shown:
            raise ValueError(f"the table hides {hidden} and shows other objects of the kind without naming them")
        return VisibleSet(everything=True)

    def _outcome(self, principal: str, demand: Demand) -> Outcome:
        ref = demand.object
        object_id = _id_of(ref)
        may = self._allows(principal, ref.kind, object_id, demand.action)
        return outcome_of(
            sees=(may and demand.action in SHOWING)
            or self._allows(principal, ref.kind, object_id, demand.action.sight),
            may=may,
        )

    def _shows(self, principal: str, kind: ObjectKind, object_id: UUID | str | None) -> bool:
        return all(self._allows(principal, kind, object_id, action) for action in (SEEING[kind], _LISTED[kind]))

    def _lists_everything(self, principal: str, scope: ObjectRef) -> bool:
        action = _LISTS_EVERYTHING.get(scope.kind)
        return action is not None and self._allows(principal, scope.kind, _id_of(scope), action)

    def _allows(self, principal: str, kind: ObjectKind, object_id: UUID | str | None, action: Action) -> bool:
        first = next((rule for rule in self._rules if rule.matches(principal, kind, object_id, action)), None)
        return first is not None and first.allows


def _id_of(ref: ObjectRef) -> UUID | str | None:
    if ref.id:
        return UUID(bytes=ref.id)
    if ref.warehouse_id:
        return UUID(ref.warehouse_id)
    return ref.project_id or None
