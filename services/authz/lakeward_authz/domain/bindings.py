"""Identity providers that are a project's own: their users are somebody there, and nobody elsewhere."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final

from lakeward_servicekit.authorization.principals import Principal, PrincipalKind

_USER: Final = "user:"


@dataclasses.dataclass(frozen=True, slots=True)
class Bindings:
    """Which projects each provider is for.

    Attributes:
        projects: by provider; one that is not here is for all of them, and for the server.
    """

    projects: Mapping[str, Collection[str]] = dataclasses.field(default_factory=lambda: MappingProxyType({}))

    def admit(self, principal: Principal, project_id: str) -> bool:
        """Whether somebody may hold anything in a project, whatever role they assume; "" is the server."""
        if not self.projects or principal.kind not in {PrincipalKind.USER, PrincipalKind.ROLE}:
            return True
        return self._admits(principal.user_id, project_id)

    def admit_subject(self, subject: str, project_id: str) -> bool:
        """The same of a user, or a role, which is of one project anyhow."""
        return not subject.startswith(_USER) or self._admits(subject.removeprefix(_USER), project_id)

    def _admits(self, user_id: str, project_id: str) -> bool:
        own = self.projects.get(user_id.partition("~")[0])
        return own is None or project_id in own


NONE: Final = Bindings()
