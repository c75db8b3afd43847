"""Storage secrets: staged by who may, kept when a warehouse refers to them, swept when none does."""

from __future__ import annotations

import dataclasses
import datetime as dt
from functools import partial
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Need, Outcome, refuse
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.application.storages import no_such_secret
from lakeward_vending.domain import credentials

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from lakeward_servicekit.authorization.authorizer import Authorizer
    from lakeward_servicekit.system import Clock, Ids
    from lakeward_vending.application.caller import Caller
    from lakeward_vending.application.ports import SecretStore
    from lakeward_vending.domain.credentials import CredentialKind

STAGED_FOR: Final = dt.timedelta(hours=1)
SWEPT_AT_ONCE: Final = 500
REENCRYPTED_AT_ONCE: Final = 100
MOVED_AT_ONCE: Final = 100


@dataclasses.dataclass(frozen=True, slots=True)
class StageCredential:
    """A credential before the warehouse that refers to it is made or changed.

    Attributes:
        text: JSON of the public API's storage credential.
        warehouse_id: the only warehouse that may keep it; None for one that is to be made.
    """

    text: bytes
    warehouse_id: UUID | None


@dataclasses.dataclass(frozen=True, slots=True)
class CredentialStagings:
    """Take a credential in for a warehouse of the caller's project: its secret's id and its kind.

    Raises:
        Refusal: PROJECT_MISSING, MALFORMED_DOCUMENT, INVALID_STORAGE_PROFILE, NO_SUCH_PROJECT, NO_SUCH_WAREHOUSE, FORBIDDEN.
    """

    authorizer: Authorizer
    secrets: SecretStore
    clock: Clock
    ids: Ids

    async def __call__(self, command: StageCredential, *, caller: Caller) -> tuple[UUID, CredentialKind]:
        """See the class."""
        project_id = caller.chosen_project
        await self._require(caller, project_id, command.warehouse_id)
        parsed, secret_id, now = credentials.parse(command.text), self.ids.uuid4(), self.clock.now()
        await self.secrets.stage(
            secret_id,
            parsed,
            staged_by=caller.principal.key,
            project_id=project_id,
            warehouse_id=command.warehouse_id,
            now=now,
        )
        return secret_id, parsed.kind

    async def _require(self, caller: Caller, project_id: str, warehouse_id: UUID | None) -> None:
        if warehouse_id is None:
            project = ObjectRef.project(project_id)
            need = Need(Demand(project, Action.PROJECT_CREATE_WAREHOUSE), lambda: no_such_project(project_id))
            (outcome,) = await self.authorizer.decide(caller.principal, [need.demand])
            refuse(need, outcome)
            return
        warehouse = ObjectRef.warehouse(project_id, warehouse_id)
        absent = partial(_no_such_warehouse, warehouse_id)
        needs = [
            Need(Demand(warehouse, action), absent)
            for action in (Action.WAREHOUSE_MODIFY_STORAGE, Action.WAREHOUSE_MODIFY_STORAGE_CREDENTIAL)
        ]
        outcomes = await self.authorizer.decide(caller.principal, [need.demand for need in needs])
        # a credential can be changed with the profile or alone; who may do either may stage it
        if Outcome.ALLOWED not in outcomes:
            refuse(needs[-1], outcomes[-1])


@dataclasses.dataclass(frozen=True, slots=True)
class SecretBindings:
    """Keep a staged secret, now that a warehouse refers to it.

    Raises:
        Refusal: NO_SUCH_SECRET, also for another warehouse's.
    """

    secrets: SecretStore
    clock: Clock

    async def __call__(self, secret_id: UUID, *, warehouse_id: UUID) -> None:
        """See the class."""
        if not await self.secrets.keep(secret_id, warehouse_id=warehouse_id, now=self.clock.now()):
            raise no_such_secret(secret_id)


@dataclasses.dataclass(frozen=True, slots=True)
class SecretDeletions:
    """Forget a secret that no warehouse refers to any more."""

    secrets: SecretStore

    async def __call__(self, secret_id: UUID) -> None:
        """See the class."""
        await self.secrets.forget(secret_id)


@dataclasses.dataclass(frozen=True, slots=True)
class StagedSweeps:
    """Delete what was staged and never kept; how many it were. A background loop calls this."""

    secrets: SecretStore
    clock: Clock

    async def __call__(self) -> int:
        """See the class."""
        return await self.secrets.sweep(staged_before=self.clock.now() - STAGED_FOR, limit=SWEPT_AT_ONCE)


@dataclasses.dataclass(frozen=True, slots=True)
class SecretReencryptions:
    """Encrypt every secret with the ring's first key; how many had another. After this, older keys can be taken away.

    They are refused from the first moment on, so that nothing comes to be under one behind its back. One that is cut short is
    begun again, and goes on.

    Raises:
        Refusal: SECRET_UNREADABLE where a key is gone already.
    """

    secrets: SecretStore

    async def __call__(self) -> int:
        """See the class."""
        await self.secrets.retire()
        done = 0
        while page := await self.secrets.reencrypt(limit=REENCRYPTED_AT_ONCE):
            done += page
        return done


@dataclasses.dataclass(frozen=True, slots=True)
class SecretMoves:
    """Bring every secret to where new ones are kept: how many were moved, and the ids of those that were not to be found.

    May run while others serve, once they can use both places; one that is cut short is begun again, and goes on.

    Raises:
        Refusal: SECRET_UNREADABLE, SECRET_STORE_UNAVAILABLE; what was moved until then is moved.
    """

    secrets: SecretStore

    async def __call__(self) -> tuple[int, Sequence[UUID]]:
        """See the class."""
        moved = 0
        lost: list[UUID] = []
        after: UUID | None = None
        while True:
            page = await self.secrets.move(after=after, limit=MOVED_AT_ONCE)
            moved, after = moved + page.moved, page.last
            lost += page.lost
            if after is None:
                return moved, lost


def no_such_project(project_id: str) -> Refusal:
    """The refusal of a project that is absent or hidden."""
    return Refusal(Reason.REASON_NO_SUCH_PROJECT, f"there is no project {project_id}", project=project_id)


def _no_such_warehouse(warehouse_id: UUID) -> Refusal:
    return Refusal(
        Reason.REASON_NO_SUCH_WAREHOUSE, f"there is no warehouse {warehouse_id}", warehouse=str(warehouse_id)
    )
