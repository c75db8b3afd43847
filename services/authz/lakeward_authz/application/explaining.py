"""Why somebody may do something, or may not: told to everybody about themselves, and about others to who may read grants."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from lakeward_authz.application.doors import ACTION, READS_GRANTS, Doors, absent
from lakeward_authz.application.permissions import Given, Grant, Named, subject_of
from lakeward_authz.domain.permissions.explaining import Lacking, Right, Way, causes, lacking, managing
from lakeward_authz.domain.permissions.lakeward import CONTROLS, MODEL, granting
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.errors import invalid_field

_GIVERS: Final = 20


@dataclasses.dataclass(frozen=True, slots=True)
class Trail:
    """What is known of the way to an object.

    Attributes:
        way: from the server, for the one whom it is about.
        named: its links as people name them.
        rights: what they were given on it, by themselves and by their roles.
        roles: each role that they hold, and through whom: themselves, or another role.
        inside: some of what shows them the object from within.
        others: what anybody was given on it.
    """

    way: Way
    named: Sequence[Named]
    rights: Sequence[Right]
    roles: Mapping[Subject, Subject]
    inside: Sequence[Given]
    others: Sequence[Right]


class Trails(Protocol):
    """The rows that an answer follows from."""

    async def of(self, key: ObjectKey, subject: Subject) -> Trail | None:
        """What is known; None where the object is gone. Raises Refusal DATABASE_UNAVAILABLE."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Question:
    """Why somebody may take an action, or may not.

    Attributes:
        action: in a word such as "read_data".
        subject: by whom; None for the caller.
    """

    object: Named
    action: str
    subject: Subject | None = None


class Ground(enum.Enum):
    """What an answer rests on."""

    GRANTS = enum.auto()
    # Everybody may do everything.
    OPEN = enum.auto()
    # They administer the instance, by its configuration.
    INSTANCE = enum.auto()


@dataclasses.dataclass(frozen=True, slots=True)
class Source:
    """A grant that an answer follows from.

    Attributes:
        named: what it is on.
        grant: None where who asks may not read grants there.
        roles: from whom it is about to whom it was given; empty where it was given to them.
    """

    named: Named
    grant: Grant | None
    roles: Sequence[Subject] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Remedy:
    """A grant that would do.

    Attributes:
        giving: the right that who gives it must have, in a word such as "grant_select".
        givers: some of those who were given what brings that right; empty where who asks may not read grants there.
    """

    named: Named
    privilege: str
    giving: str
    givers: Sequence[Subject] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Explanation:
    """An answer.

    Attributes:
        because: grants that it follows from: each group by itself.
        inside: what shows the object from within, where that is why it is seen.
        managed_by: where managed access keeps it from being allowed.
        remedies: grants that would do, nearest first.
    """

    allowed: bool
    ground: Ground = Ground.GRANTS
    because: Sequence[Sequence[Source]] = ()
    inside: Sequence[Source] = ()
    managed_by: Sequence[Named] = ()
    remedies: Sequence[Remedy] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class ExplainAccess:
    """Explains.

    Attributes:
        open_to_all: whether everybody may do everything.
    """

    doors: Doors
    trails: Trails
    open_to_all: bool

    async def __call__(self, command: Question, *, caller: Principal) -> Explanation:
        """Why they may, or may not.

        Raises:
            Refusal: INVALID_FIELD for an action that the object's type has not; FORBIDDEN, about another on an object whose
                grants the caller may not read; NO_SUCH_…, as `Doors`.
        """
        named, relation = command.object, f"{ACTION}{command.action}"
        if relation not in MODEL.types[named.type].bits:
            raise invalid_field("action", command.action, f"an action on a {named.type.replace('_', ' ')}")
        own = subject_of(caller)
        subject = own if command.subject is None else command.subject
        if subject == own:
            opened = await self.doors.open(named, caller=caller, powers=True)
        else:
            opened = await self.doors.open(named, READS_GRANTS, caller=caller)
        if self.open_to_all:
            return Explanation(allowed=True, ground=Ground.OPEN)
        trail = await self.trails.of(opened.key, subject)
        if trail is None:
            raise absent(named)
        if subject == own and self.doors.passes(caller) and relation in CONTROLS[named.type]:
            return Explanation(allowed=True, ground=Ground.INSTANCE)
        reads = await self._reads(trail, caller) if subject != own else [True] * len(trail.named)
        return self._explained(trail, relation, subject, reads, givers=READS_GRANTS in opened.held)

    async def _reads(self, trail: Trail, caller: Principal) -> Sequence[bool]:
        """Of each link whether the caller may read its grants."""
        return [READS_GRANTS in held for held in await self.doors.holdings(trail.named, caller=caller)]

    def _explained(
        self, trail: Trail, relation: str, subject: Subject, reads: Sequence[bool], *, givers: bool
    ) -> Explanation:
        way, rights = trail.way, trail.rights
        if way.holds(rights, relation):
            because = [
                [_source(trail, right, subject, shown=reads[right.place]) for right in group]
                for group in causes(way, rights, relation)
            ]
            inside = [Source(given.named, given.grant if all(reads) else None) for given in trail.inside]
            return Explanation(allowed=True, because=because, inside=[] if because else inside)
        return Explanation(
            allowed=False,
            managed_by=[trail.named[place] for place in managing(way, rights, relation)],
            remedies=[
                _remedy(trail, each, givers=givers and reads[each.place]) for each in lacking(way, rights, relation)
            ],
        )


def _source(trail: Trail, right: Right, subject: Subject, *, shown: bool) -> Source:
    chain: list[Subject] = []
    at = right.subject
    while at != subject:
        chain.append(at)
        at = trail.roles[at]
    grant = Grant(right.subject, right.relation) if shown else None
    return Source(trail.named[right.place], grant, chain[::-1] if shown else ())


def _remedy(trail: Trail, each: Lacking, *, givers: bool) -> Remedy:
    named = trail.named[each.place]
    giving = granting(named.type, each.privilege)
    assert giving is not None
    found: list[Subject] = []
    if givers:
        # of everybody by what was given to them alone: who gives by a role is found as the role
        way = dataclasses.replace(trail.way, shown=(), assumed=False)
        by_subject: dict[Subject, list[Right]] = {}
        for right in trail.others:
            by_subject.setdefault(right.subject, []).append(right)
        found = [who for who, given in by_subject.items() if way.holds(given, giving, place=each.place)][:_GIVERS]
    return Remedy(named, each.privilege, giving.removeprefix(ACTION), found)
