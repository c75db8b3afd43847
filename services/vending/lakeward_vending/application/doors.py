"""Who may read what is told of credentials."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lakeward_servicekit.authorization.authorizer import Demand, Need, forbidden, refuse
from lakeward_servicekit.authorization.objects import SERVER, ObjectRef
from lakeward_vending.application.secrets import no_such_project

if TYPE_CHECKING:
    from lakeward_servicekit.authorization.actions import Action
    from lakeward_servicekit.authorization.authorizer import Authorizer
    from lakeward_vending.application.caller import Caller


@dataclasses.dataclass(frozen=True, slots=True)
class Doors:
    """Opens the server and projects for a caller, or refuses; which projects there are is known to authz alone."""

    authorizer: Authorizer

    async def server(self, action: Action, *, caller: Caller) -> None:
        """The server, which is there for everybody.

        Raises:
            Refusal: FORBIDDEN.
        """
        await self._need(caller, Need(Demand(SERVER, action), lambda: forbidden(action)))

    async def project_id(self, action: Action, *, caller: Caller, project_id: str | None = None) -> str:
        """A project's id: of the one that is given, else that the call names, else of the default one.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN.
        """
        named = project_id or caller.chosen_project
        demand = Demand(ObjectRef.project(named), action)
        await self._need(caller, Need(demand, lambda: no_such_project(named)))
        return named

    async def _need(self, caller: Caller, need: Need) -> None:
        (outcome,) = await self.authorizer.decide(caller.principal, [need.demand])
        refuse(need, outcome)
