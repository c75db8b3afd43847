"""What the use cases of roles ask of the rows of roles."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from lakeward_authz.domain.permissions.objects import Subject
from lakeward_authz.domain.roles import Role, RoleIdent
from lakeward_servicekit.idempotency import Record


@dataclasses.dataclass(frozen=True, slots=True)
class RoleFilter:
    """Which roles of a project are meant: one of each, where any is named."""

    role_ids: tuple[UUID, ...] = ()
    provider_ids: tuple[str, ...] = ()
    source_ids: tuple[str, ...] = ()


ALL_ROLES: Final = RoleFilter()


class RoleStore(Protocol):
    """The rows of roles. Every method raises Refusal DATABASE_UNAVAILABLE."""

    async def find(self, role_id: UUID) -> Role | None:
        """A role of whatever project."""
        ...

    async def page(self, project_id: str, wanted: RoleFilter, *, after: str, limit: int) -> Sequence[Role]:
        """A project's roles behind an id, by id; "" is before all of them."""
        ...

    async def search(self, project_id: str, text: str) -> Sequence[Role]:
        """At most ten of a project's roles: that of the id, those of the source id, then those likest by name.

        For no text, the first ones by id.
        """
        ...

    async def add(self, role: Role, *, owner: Subject | None, record: Record | None) -> bool:
        """Add a role to its project's objects, with what its owner is given; False where there is no such project.

        Raises:
            Refusal: ROLE_EXISTS, ROLE_IDENT_TAKEN; REQUEST_IN_PROGRESS, where the record's key was kept by another.
        """
        ...

    async def describe(self, role_id: UUID, *, name: str, description: str | None, at: datetime) -> Role | None:
        """Give a role another name and description; None where there is none.

        Raises:
            Refusal: ROLE_EXISTS.
        """
        ...

    async def bind(self, role_id: UUID, ident: RoleIdent, *, at: datetime) -> Role | None:
        """Give a role another ident; None where there is none.

        Raises:
            Refusal: ROLE_IDENT_TAKEN.
        """
        ...

    async def remove(self, role: Role, *, record: Record | None) -> bool:
        """Remove a role with all that was granted to it and on it, in one transaction; False where it is gone.

        Raises:
            Refusal: REQUEST_IN_PROGRESS, where the record's key was kept by another.
        """
        ...
