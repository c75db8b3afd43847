"""Who calls, and what is known of a call beside what it asks for."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lakeward_servicekit.authorization.principals import PrincipalKind
from lakeward_servicekit.errors import Reason, Refusal

if TYPE_CHECKING:
    from uuid import UUID

    from lakeward_authz.domain.profiles import Profile
    from lakeward_servicekit.authorization.principals import Principal, UserId


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """One call's caller, settled.

    Attributes:
        principal: whom rights are asked for.
        profile: what the token says of the user; None for the anonymous caller.
        project: the project that the call names, else the default one; None where there is neither.
        idempotency_key: None where the call has none.
    """

    principal: Principal
    profile: Profile | None = None
    project: str | None = None
    idempotency_key: UUID | None = None

    @property
    def user_id(self) -> UserId | None:
        """The user behind the principal, whatever role it assumes; None for the anonymous caller."""
        known = self.principal.kind in {PrincipalKind.USER, PrincipalKind.ROLE}
        return self.principal.user_id if known else None

    @property
    def chosen_project(self) -> str:
        """The project that the call is about; nothing is decided of it.

        Raises:
            Refusal: PROJECT_MISSING.
        """
        if self.project is None:
            raise Refusal(
                Reason.REASON_PROJECT_MISSING,
                "no project was named and there is no default project; send x-project-id",
            )
        return self.project
