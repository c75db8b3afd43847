"""The installation: what it is, and opening it for use."""

from __future__ import annotations

import dataclasses
from typing import Final

from lakeward_catalog.application.announcements import Announcer, ProjectChange, ServerChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.domain.model import Project
from lakeward_servicekit.authorization.registrar import Presented, Registrar
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.system import Clock

DEFAULT_PROJECT_NAME: Final = "Default Project"


@dataclasses.dataclass(frozen=True, slots=True)
class Facts:
    """What a server says of itself and knows from its settings.

    Attributes:
        version: ours, as in "0.1.0".
        authz_backend: "allow-all", "builtin" or "openfga".
        aws_system_identities: whether warehouses may use the process's own AWS identity; azure and gcp alike.
        queues: names of the task queues.
    """

    version: str
    authz_backend: str
    aws_system_identities: bool
    azure_system_identities: bool
    gcp_system_identities: bool
    queues: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Bootstrap:
    """Open the server for use.

    Attributes:
        accept_terms_of_use: must be true.
        is_operator: the caller becomes an operator instead of an administrator.
    """

    accept_terms_of_use: bool
    is_operator: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class ServerBootstrap:
    """Makes the caller the first administrator, then closes bootstrap and makes the default project.

    No permission: it works once. A saga of two steps. The first may be repeated by its caller, and by nobody else, so a crash
    between them is mended by the same caller's next attempt; the second is one transaction.
    """

    doors: Doors
    registrar: Registrar
    changes: Changes
    announcer: Announcer
    clock: Clock
    rules: Rules

    async def __call__(self, command: Bootstrap, *, caller: Caller, presented: Presented) -> None:
        """Open the server for use.

        Raises:
            Refusal: TERMS_NOT_ACCEPTED, ALREADY_BOOTSTRAPPED; what `Registrar.bootstrap_administrator` raises.
        """
        if not command.accept_terms_of_use:
            raise Refusal(
                Reason.REASON_TERMS_NOT_ACCEPTED, "the terms of use were not accepted; send accept-terms-of-use as true"
            )
        if (await self.doors.servers.server()).bootstrapped:
            raise _done_already()
        await self.registrar.bootstrap_administrator(presented, is_operator=command.is_operator)
        default = self.rules.default_project
        project = None if default is None else Project(default, DEFAULT_PROJECT_NAME)
        when = occasion(caller, self.clock.now())
        async with self.changes.change() as change:
            if not await change.server.bootstrap(default_project=project, owner=caller.principal):
                raise _done_already()
            said = {"is-operator": command.is_operator}
            change.ledger.emit(self.announcer.server(ServerChange.BOOTSTRAPPED, when, data=said))
            if project is not None:
                change.ledger.emit(self.announcer.project(ProjectChange.CREATED, project, when))


def _done_already() -> Refusal:
    return Refusal(Reason.REASON_ALREADY_BOOTSTRAPPED, "the server has been bootstrapped already; it happens once")
