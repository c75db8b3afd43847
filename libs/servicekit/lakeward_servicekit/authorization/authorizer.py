"""The role that every use case asks before it does anything, and how an answer becomes a refusal."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Sequence
from typing import Protocol
from uuid import UUID

import msgspec

from lakeward_protocol.authz.v1 import decisions_pb2 as pb
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.errors import Reason, Refusal


class Outcome(enum.IntEnum):
    """What authz answers to a demand; the numbers are the contract's."""

    HIDDEN = pb.OUTCOME_HIDDEN
    DENIED = pb.OUTCOME_DENIED
    ALLOWED = pb.OUTCOME_ALLOWED


class Demand(msgspec.Struct, frozen=True, gc=False):
    """One thing that a principal wants to do; the action is of the object's kind."""

    object: ObjectRef
    action: Action


class Turn(msgspec.Struct, frozen=True):
    """What one principal wants to do of something that several do their parts of.

    Attributes:
        as_owner: a view names the principal as its owner, and no token does: it may what it was granted, and powers that come
            with a token, as an instance administrator's, don't count.
    """

    principal: Principal
    demands: Sequence[Demand]
    as_owner: bool = False


class Need(msgspec.Struct, frozen=True):
    """A demand that a use case can't do without.

    Attributes:
        absent: makes the refusal of an object that is not there, which is also what who may not see it gets.
    """

    demand: Demand
    absent: Callable[[], Refusal]


@dataclasses.dataclass(frozen=True, slots=True)
class VisibleSet:
    """What of one kind shows in a scope.

    Attributes:
        everything: no filter; the sets are empty then.
        containers: namespaces below which everything shows.
        objects: single warehouses, namespaces or incarnations that show.
        projects: those that show, by their ids, which need not be UUIDs.
    """

    everything: bool
    containers: frozenset[UUID] = frozenset()
    objects: frozenset[UUID] = frozenset()
    projects: frozenset[str] = frozenset()


class Authorizer(Protocol):
    """What principals may do and see. Every method raises Refusal AUTHORIZATION_UNAVAILABLE; none ever guesses."""

    async def decide(self, principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
        """One outcome for each demand, in their order, all under one state of the grants; 1 to 4000 demands.

        An object that the principal may not see is HIDDEN whatever the action, so an answer never tells that it exists; one of
        the actions of `SHOWING` is sight enough for itself.
        """
        ...

    async def decide_each(self, turns: Sequence[Turn]) -> Sequence[Sequence[Outcome]]:
        """The outcomes of each turn, in their order, all under one state of the grants; 1 to 256 turns.

        For what only holds if several principals may each do their part of it: asked one after another, a right that was taken
        and one that was given later would be answered as if there had been a moment with both.
        """
        ...

    async def visible(self, principal: Principal, scope: ObjectRef, kind: ObjectKind) -> VisibleSet:
        """Which direct children of one kind show in a listing of `scope`: the server, a project, warehouse or namespace."""
        ...


def refuse(need: Need, outcome: Outcome) -> None:
    """Raise what `outcome` means for `need`; nothing where it is allowed.

    For use cases that ask more in the same question than they need, such as what a reply's shape depends on.
    """
    if outcome is Outcome.ALLOWED:
        return
    if outcome is Outcome.DENIED:
        raise forbidden(need.demand.action)
    raise need.absent()


def forbidden(action: Action) -> Refusal:
    """The refusal of an action on an object that the caller sees."""
    kind, word = action.kind.word, action.word
    return Refusal(
        Reason.REASON_FORBIDDEN,
        f"you see this {kind.replace('_', ' ')} and may not {word.replace('_', ' ')}; ask who manages its grants",
        kind=kind,
        action=word,
    )
