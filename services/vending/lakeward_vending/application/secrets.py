"""Storage secrets: staged by who may, kept when a warehouse refers to them, swept when none does."""

from __future__ import annotations

import datetime as dt
from functools import partial
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Need, Outcome, refuse
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.domain import credentials

if TYPE_CHECKING:
    from uuid import UUID

    from lakeward_servicekit.authorization.authorizer import Authorizer
    from lakeward_servicekit.authorization.principals import Principal
    from lakeward_vending.application.ports import Clock, Ids, SecretStore
    from lakeward_vending.domain.credentials import CredentialKind

STAGED_FOR: Final = dt.timedelta(hours=1)
SWEPT_AT_ONCE: Final = 500
REENCRYPTED_AT_ONCE: Final = 100


async def stage_credential(
    text: bytes,
    *,
    project_id: str,
    warehouse_id: UUID | None,
    caller: Principal,
    authorizer: Authorizer,
    secrets: SecretStore,
    clock: Clock,
    ids: Ids,
) -> tuple[UUID, CredentialKind]:
    """Take a credential in, before the warehouse that refers to it is made or changed.

    Args:
        text: JSON of the public API's storage credential.
        project_id: whose warehouse it will be.
        warehouse_id: the only warehouse that may keep it; None for one that is to be made.
        caller: who stages it.
        authorizer: asked whether they may.
        secrets: where it is kept.
        clock: the time.
        ids: makes its id.

    Returns:
        The secret's id and the credential's kind.

    Raises:
        Refusal: MALFORMED_DOCUMENT, INVALID_STORAGE_PROFILE, NO_SUCH_PROJECT, NO_SUCH_WAREHOUSE, FORBIDDEN.
    """
    await _require(project_id, warehouse_id, caller=caller, authorizer=authorizer)
    credential = credentials.parse(text)
    secret_id = ids.uuid4()
    await secrets.stage(secret_id, credential, staged_by=caller.key, warehouse_id=warehouse_id, now=clock.now())
    return secret_id, credential.kind


async def keep_secret(secret_id: UUID, *, warehouse_id: UUID, secrets: SecretStore, clock: Clock) -> None:
    """Keep a staged secret, now that a warehouse refers to it.

    Raises:
        Refusal: NO_SUCH_SECRET.
    """
    await secrets.keep(secret_id, warehouse_id=warehouse_id, now=clock.now())


async def forget_secret(secret_id: UUID, *, secrets: SecretStore) -> None:
    """Forget a secret that no warehouse refers to any more."""
    await secrets.forget(secret_id)


async def sweep_staged(*, secrets: SecretStore, clock: Clock) -> int:
    """Delete what was staged and never kept; how many it were. A background loop calls this."""
    return await secrets.sweep(staged_before=clock.now() - STAGED_FOR, limit=SWEPT_AT_ONCE)


async def reencrypt_secrets(*, secrets: SecretStore) -> int:
    """Encrypt every secret with the ring's first key; how many had another. After this, older keys can be taken away.

    Raises:
        Refusal: SECRET_UNREADABLE where a key is gone already.
    """
    done = 0
    while page := await secrets.reencrypt(limit=REENCRYPTED_AT_ONCE):
        done += page
    return done


async def _require(project_id: str, warehouse_id: UUID | None, *, caller: Principal, authorizer: Authorizer) -> None:
    if warehouse_id is None:
        project = ObjectRef.project(project_id)
        need = Need(Demand(project, Action.PROJECT_CREATE_WAREHOUSE), lambda: _no_such_project(project_id))
        (outcome,) = await authorizer.decide(caller, [need.demand])
        refuse(need, outcome)
        return
    warehouse = ObjectRef.warehouse(project_id, warehouse_id)
    absent = partial(_no_such_warehouse, warehouse_id)
    needs = [
        Need(Demand(warehouse, action), absent)
        for action in (Action.WAREHOUSE_MODIFY_STORAGE, Action.WAREHOUSE_MODIFY_STORAGE_CREDENTIAL)
    ]
    outcomes = await authorizer.decide(caller, [need.demand for need in needs])
    # a credential can be changed with the profile or alone; who may do either may stage it
    if Outcome.ALLOWED not in outcomes:
        refuse(needs[-1], outcomes[-1])


def _no_such_project(project_id: str) -> Refusal:
    return Refusal(Reason.REASON_NO_SUCH_PROJECT, f"there is no project {project_id}", project=project_id)


def _no_such_warehouse(warehouse_id: UUID) -> Refusal:
    return Refusal(
        Reason.REASON_NO_SUCH_WAREHOUSE, f"there is no warehouse {warehouse_id}", warehouse=str(warehouse_id)
    )
