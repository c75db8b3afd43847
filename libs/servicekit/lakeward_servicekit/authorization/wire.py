"""Questions and answers as messages, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

import msgspec
from asyncpg.pgproto.pgproto import UUID as RowId  # noqa: N811 - it is no constant

from lakeward_protocol.authz.v1 import decisions_pb2, principals_pb2
from lakeward_servicekit.authorization.authorizer import Demand, Outcome, Turn, VisibleSet
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind, RoleId, UserId

_OUTCOMES: Final = {int(outcome): outcome for outcome in Outcome}
_PRINCIPAL_KINDS: Final = {int(kind): kind for kind in PrincipalKind}


def principal_message(principal: Principal) -> principals_pb2.Principal:
    """A principal as it travels."""
    message = principals_pb2.Principal()
    _fill(message, principal)
    return message


def principal_of(message: principals_pb2.Principal) -> Principal:
    """The principal of a message.

    Raises:
        ValueError: of no kind that this build knows.
    """
    kind = _PRINCIPAL_KINDS.get(message.kind)
    if kind is None:
        raise ValueError(f"principal of kind {message.kind}")
    engines = tuple(message.engines) if message.engines else ()
    token_roles = tuple(message.token_roles) if message.token_roles else ()
    return Principal(kind, UserId(message.user_id), RoleId(message.role_id), engines, token_roles)


def object_message(ref: ObjectRef) -> principals_pb2.ObjectRef:
    """An object as it travels."""
    return principals_pb2.ObjectRef(
        kind=cast("principals_pb2.ObjectKind.ValueType", ref.kind),
        project_id=ref.project_id,
        warehouse_id=ref.warehouse_id,
        id=ref.id,
        parent_id=ref.parent_id,
    )


def decide_request(principal: Principal, demands: Sequence[Demand]) -> decisions_pb2.DecideRequest:
    """The question whether a principal may."""
    # Messages are filled in place: constructors that take messages copy them twice, and this is made for every request.
    request = decisions_pb2.DecideRequest()
    _fill(request.principal, principal)
    add = request.demands.add
    last: ObjectRef | None = None
    message = _NO_OBJECT
    for demand in demands:
        # What is seen, read and written is mostly one object.
        if demand.object is not last:
            last = demand.object
            message = object_message(last)
        added = add()
        added.object.CopyFrom(message)
        added.action = cast("principals_pb2.Action.ValueType", demand.action)
    return request


def turns_request(turns: Sequence[Turn]) -> decisions_pb2.BatchDecideRequest:
    """What is decided together."""
    request = decisions_pb2.BatchDecideRequest(together=True)
    for turn in turns:
        item = decide_request(turn.principal, turn.demands)
        item.as_owner = turn.as_owner
        request.items.append(item)
    return request


class Question(msgspec.Struct, frozen=True, gc=False):
    """A DecideRequest that stays in this process: the values that its message would be written from and read into again.

    Over a wire it is the message. It was made of values that can't be wrong, so who takes it has nothing to check but how many
    they are.
    """

    principal: Principal
    demands: tuple[Demand, ...]

    def message(self) -> decisions_pb2.DecideRequest:
        """As it travels."""
        return decide_request(self.principal, self.demands)

    def written(self) -> bytes:
        """As a wire takes it."""
        return self.message().SerializeToString()


class Decided(msgspec.Struct, frozen=True, gc=False):
    """A DecideResponse that stays in this process; see `Question`."""

    outcomes: tuple[Outcome, ...]
    revision: str


class Listing(msgspec.Struct, frozen=True, gc=False):
    """A VisibleRequest that stays in this process; see `Question`.

    Attributes:
        known: the state of the answer that the asker has; "" for none.
    """

    principal: Principal
    scope: ObjectRef
    kind: ObjectKind
    known: str = ""

    def written(self) -> bytes:
        """As a wire takes it."""
        return visible_request(self.principal, self.scope, self.kind, known=self.known).SerializeToString()


class Shown(msgspec.Struct, frozen=True):
    """A VisibleResponse that stays in this process: ten thousand ids are not written and read for each who asks.

    Attributes:
        visible: None: as what the asker has.
    """

    visible: VisibleSet | None
    state: str


def shown_of(response: decisions_pb2.VisibleResponse | Shown) -> Shown:
    """What shows, as values."""
    if isinstance(response, Shown):
        return response
    return Shown(None if response.unchanged else visible_of(response), response.state)


def outcomes_of(response: decisions_pb2.DecideResponse | Decided) -> tuple[Outcome, ...]:
    """The answers to a question.

    Raises:
        KeyError: an outcome that this build does not know, which must count as no answer.
    """
    if isinstance(response, Decided):
        return response.outcomes
    known = _OUTCOMES
    return tuple([known[value] for value in response.outcomes])


def visible_request(
    principal: Principal, scope: ObjectRef, kind: ObjectKind, *, known: str = ""
) -> decisions_pb2.VisibleRequest:
    """The question what shows in a listing; `known` is the state of the answer that the asker has."""
    return decisions_pb2.VisibleRequest(
        principal=principal_message(principal),
        scope=object_message(scope),
        kind=cast("principals_pb2.ObjectKind.ValueType", kind),
        known=known,
    )


def visible_of(response: decisions_pb2.VisibleResponse) -> VisibleSet:
    """The answer to it."""
    if response.everything:
        return _EVERYTHING
    return VisibleSet(
        everything=False,
        # the driver's own kind of UUID, which is what rows are compared by: there may be ten thousand, and it is made, hashed and
        # compared several times as fast
        containers=frozenset(map(RowId, response.containers)),
        objects=frozenset(map(RowId, response.objects)),
        projects=frozenset(response.projects),
    )


def _fill(message: principals_pb2.Principal, principal: Principal) -> None:
    message.kind = cast("principals_pb2.PrincipalKind.ValueType", principal.kind)
    message.user_id = principal.user_id
    if principal.role_id:
        message.role_id = principal.role_id
    if principal.engines:
        message.engines.extend(principal.engines)
    if principal.token_roles:
        message.token_roles.extend(principal.token_roles)


_EVERYTHING: Final = VisibleSet(everything=True)
_NO_OBJECT: Final = principals_pb2.ObjectRef()
