"""Roles that follow a directory: read whole, compared, and changed in one transaction, or left as they are."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime, timedelta
from typing import Final, Protocol

from lakeward_authz.domain.directories import DirectoryContents, SourcedGroup, with_everybody
from lakeward_authz.domain.roles import RoleIdent, check_role
from lakeward_authz.domain.user_ids import user_id_of
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.leases import Lease
from lakeward_servicekit.system import Clock

_LOG: Final = logging.getLogger(__name__)


class Unreadable(Exception):  # noqa: N818 - what happened to the reading
    """A directory was not read whole; the message says why and has no secret."""


class WouldEmpty(Exception):  # noqa: N818 - what would happen
    """A directory that had members shows none any more, which is more likely a mistake than the truth."""


class Directory(Protocol):
    """A directory."""

    async def read(self) -> DirectoryContents:
        """All that it has.

        Raises:
            Unreadable: it was not read whole.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class RoleMembers:
    """A role of a provider as it is to be."""

    ident: RoleIdent
    name: str
    users: frozenset[UserId]


@dataclasses.dataclass(frozen=True, slots=True)
class Synchronised:
    """What came of it.

    Attributes:
        roles: that were made.
        given: memberships that are new.
        taken: memberships that are gone.
    """

    roles: int = 0
    given: int = 0
    taken: int = 0


class SourcedRoleStore(Protocol):
    """The roles that follow a directory. Raises Refusal DATABASE_UNAVAILABLE."""

    async def apply(
        self, provider: str, project_id: str, wanted: Collection[RoleMembers], *, may_empty: bool, at: datetime
    ) -> Synchronised | None:
        """Have a provider's roles in a project be as they are wanted, in one transaction; None where there is no such project.

        Roles that are not wanted stay and have no members: what people gave to them is theirs to take. Users who were never
        recorded are, without a name; those who were deleted are passed over.

        Raises:
            WouldEmpty: there were members and would be none, unless they may go.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class SynchroniseRoles:
    """Reads a directory and has the roles of a project follow it. No permission: it acts for nobody, as it is configured.

    Attributes:
        provider: of the roles.
        project_id: whose roles they are.
        idp_id: whose users its people are.
        nested: whether who is in a group is in those that this one is in.
        may_empty: whether all members may go at once.
    """

    directory: Directory
    roles: SourcedRoleStore
    clock: Clock
    provider: str
    project_id: str
    idp_id: str
    nested: bool
    may_empty: bool

    async def __call__(self) -> Synchronised | None:
        """Once; None where the project is not there.

        Raises:
            Unreadable: nothing was changed.
            WouldEmpty: nothing was changed.
            Refusal: DATABASE_UNAVAILABLE.
        """
        contents = await self.directory.read()
        wanted = [self._role(group) for group in with_everybody(contents, nested=self.nested)]
        return await self.roles.apply(
            self.provider, self.project_id, wanted, may_empty=self.may_empty, at=self.clock.now()
        )

    def _role(self, group: SourcedGroup) -> RoleMembers:
        """A group as a role.

        Raises:
            Unreadable: it can't be one.
        """
        try:
            check_role(group.name, None)
            ident = RoleIdent.of(self.provider, group.source_id)
            return RoleMembers(ident, group.name, frozenset(user_id_of(self.idp_id, each) for each in group.subjects))
        except Refusal as refusal:
            raise Unreadable(f"the group {group.name[:64]!r} can't be a role: {refusal.message}") from refusal


async def keep_synchronised(
    lease: Lease, *, synchronise: SynchroniseRoles, every: timedelta, pause: Callable[[timedelta], Awaitable[None]]
) -> None:
    """Synchronise at once and then after each pause, while the lease is held; what fails leaves what stood."""
    del lease  # what is written is compared with what stands, so one who is late writes what it read and nothing worse
    provider = synchronise.provider
    while True:
        try:
            done = await synchronise()
        except (Unreadable, WouldEmpty) as error:
            _LOG.warning("roles do not follow their directory", extra={"provider": provider, "why": str(error)})
        except Refusal as refusal:
            _LOG.warning("roles do not follow their directory", extra={"provider": provider, "why": refusal.message})
        else:
            if done is None:
                _LOG.warning("the project of a directory's roles is not there", extra={"provider": provider})
            elif done != Synchronised():
                _LOG.info("roles follow their directory", extra={"provider": provider, **dataclasses.asdict(done)})
        await pause(every)
