"""What people give one another, and who may see that."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

from lakeward_authz.application.directory_doors import ManagedRoles
from lakeward_authz.application.doors import READS_GRANTS, Doors, absent
from lakeward_authz.application.permissions import ALL, Given, Grant, GrantStore, Named, Wanted, subject_of
from lakeward_authz.domain.permissions.lakeward import ASSIGNEE, granting
from lakeward_authz.domain.permissions.objects import ANYBODY, Subject, role_subject
from lakeward_authz.domain.permissions.privileges import VOCABULARY, Privilege
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.errors import Reason, Refusal, invalid_field

MOST: Final = 100
LONGEST: Final = 256
"""Characters of a privilege."""
_SHOWN: Final = 5
# Who takes a privilege that this release does not know, and so has no right of its own.
_STRONGEST: Final = {"server": "can_grant_admin", "project": "can_grant_project_admin"}


@dataclasses.dataclass(frozen=True, slots=True)
class GrantChange:
    """Grants on one object to give and to take, all or none; 1 to 100 together.

    Attributes:
        exact: whether what is given, or gone, already is refused instead of passed over.
    """

    object: Named
    writes: tuple[Grant, ...] = ()
    deletes: tuple[Grant, ...] = ()
    exact: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class ChangeGrants:
    """Gives and takes. Taking a privilege asks for the same right as giving it.

    Attributes:
        managed: which roles' members are kept by a provider alone; None: no role's.
    """

    doors: Doors
    grants: GrantStore
    managed: ManagedRoles | None = None

    async def __call__(self, command: GrantChange, *, caller: Principal) -> None:
        """Make the change.

        Raises:
            Refusal: PERMISSIONS_INVALID, for what can't be given; FORBIDDEN, which names every privilege that is not the caller's
                to give; ROLE_MANAGED; NO_SUCH_…, as `Doors`; and as `GrantStore.change`.
        """
        asked = _checked(command)
        opened = await self.doors.open(command.object, *asked, caller=caller)
        if self.managed is not None and opened.key.type == "role" and _moves_members(command):
            await self.managed.check(opened.key.id)
        if not await self.grants.change(
            opened.key, writes=command.writes, deletes=command.deletes, exact=command.exact
        ):
            # it was there when the caller's rights were read
            raise absent(command.object)


@dataclasses.dataclass(frozen=True, slots=True)
class Listing:
    """Which grants on an object to show."""

    object: Named
    wanted: Wanted = ALL


@dataclasses.dataclass(frozen=True, slots=True)
class ListGrants:
    """Shows what was given on an object: all of it to who may read grants, and to everyone what is its own."""

    doors: Doors
    grants: GrantStore

    async def __call__(self, command: Listing, *, caller: Principal) -> Sequence[Given]:
        """The grants, by subject and relation.

        Raises:
            Refusal: FORBIDDEN; NO_SUCH_…, as `Doors`.
        """
        needs = () if _own(command.wanted.subject, caller) else (READS_GRANTS,)
        opened = await self.doors.open(command.object, *needs, caller=caller, powers=True)
        return await self.grants.on(opened.key, command.wanted)


@dataclasses.dataclass(frozen=True, slots=True)
class Holdings:
    """Which grants of one principal to show."""

    project_id: str
    subject: Subject
    wanted: Wanted = ALL


@dataclasses.dataclass(frozen=True, slots=True)
class ListGrantsOfPrincipal:
    """Shows what one principal was given in a project: to itself, and to who may read the project's grants."""

    doors: Doors
    grants: GrantStore

    async def __call__(self, command: Holdings, *, caller: Principal) -> Sequence[Given]:
        """The grants, by object and relation.

        Raises:
            Refusal: FORBIDDEN, NO_SUCH_PROJECT.
        """
        needs = () if _own(command.subject, caller) else (READS_GRANTS,)
        project = Named("project", command.project_id)
        await self.doors.open(project, *needs, caller=caller, powers=True)
        return await self.grants.granted_to(command.subject, command.project_id, command.wanted)


@dataclasses.dataclass(frozen=True, slots=True)
class Inspection:
    """A question about what somebody may do or give.

    Attributes:
        subject: whom it is about; None for the caller.
    """

    object: Named
    subject: Subject | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class GrantablePrivileges:
    """Says which privileges on an object may be given and taken, by the caller or by another."""

    doors: Doors

    async def __call__(self, command: Inspection, *, caller: Principal) -> Sequence[tuple[Privilege, bool]]:
        """Every privilege of the object's type, and whether.

        Raises:
            Refusal: FORBIDDEN, about another on an object whose grants the caller may not read; NO_SUCH_…, as `Doors`.
        """
        opened = await self.doors.open(command.object, caller=caller, subject=command.subject)
        return [
            (privilege, granting(privilege.type, privilege.name) in opened.held)
            for privilege in VOCABULARY[command.object.type]
        ]


def _own(subject: Subject | None, caller: Principal) -> bool:
    return subject is not None and subject == subject_of(caller)


def _moves_members(command: GrantChange) -> bool:
    return any(grant.relation == ASSIGNEE for grant in (*command.writes, *command.deletes))


def _checked(command: GrantChange) -> Sequence[str]:
    """The rights that a change asks for."""
    named, writes, deletes = command.object, command.writes, command.deletes
    every = [*writes, *deletes]
    if not every:
        raise invalid("EmptyGrantDiff", "nothing is given and nothing is taken; name 1 to 100 grants")
    if len(every) > MOST:
        raise invalid("GrantDiffTooLarge", f"{len(every)} grants are named at once; name at most {MOST}")
    lengths = [not 1 <= len(grant.relation) <= LONGEST for grant in every]
    _none_of(command, "InvalidGrantPrivilegeLength", f"a privilege has 1 to {LONGEST} characters", lengths)
    both = {*writes} & {*deletes}
    _none_of(command, "ContradictoryGrantDiff", "a grant is given or taken, not both", [each in both for each in every])
    repeated = [*_repeated(writes), *_repeated(deletes)]
    _none_of(command, "DuplicateGrantEntry", "a grant is named once", repeated)
    known = ", ".join(privilege.name for privilege in VOCABULARY.get(named.type, ()))
    right = f"what can be given on a {named.type.replace('_', ' ')} is {known or 'nothing'}"
    unknown = [granting(named.type, grant.relation) is None for grant in writes]
    _none_of(command, "InvalidGrantPrivilege", right, unknown)
    if any(grant.subject == ANYBODY for grant in every):
        raise invalid_field("grants.subject", ANYBODY, "a user or a role")
    if named.type == "role" and named.id is not None:
        itself = role_subject(named.id)
        _none_of(command, "SelfAssignment", "a role can't hold itself", [each.subject == itself for each in writes])
    strongest = _STRONGEST.get(named.type, "can_change_ownership")
    return [*dict.fromkeys(granting(named.type, grant.relation) or strongest for grant in every)]


def _repeated(grants: Sequence[Grant]) -> Sequence[bool]:
    return [grant in grants[:place] for place, grant in enumerate(grants)]


def _none_of(command: GrantChange, cause: str, right: str, wrong: Sequence[bool]) -> None:
    """Raise where an entry is wrong; `wrong` is of the writes and then of the deletes."""
    paths = [
        f"writes[{place}]" if place < len(command.writes) else f"deletes[{place - len(command.writes)}]"
        for place, is_wrong in enumerate(wrong)
        if is_wrong
    ]
    if paths:
        raise invalid(cause, f"{right}: see {named_few(paths)}")


def named_few(paths: Sequence[str]) -> str:
    """Up to five paths, and how many more there are."""
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return f"{', '.join(paths[:_SHOWN])}{more}"


def invalid(cause: str, message: str) -> Refusal:
    """The refusal of a request about permissions that can't be meant, in one of the words that the API documents."""
    return Refusal(Reason.REASON_PERMISSIONS_INVALID, message, cause=cause)
