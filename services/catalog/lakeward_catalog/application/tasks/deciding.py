"""What has to be allowed of tasks: of a tabular that is there, its own action; of anything else, the warehouse's or project's."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar
from uuid import UUID

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.ports.tasks import TaskFilter, TaskRecord
from lakeward_catalog.application.refs import nobodys_tabular, tabular_ref, warehouse_ref
from lakeward_catalog.application.tabulars.demands import DEMANDS, Demands
from lakeward_catalog.domain.model import Kind, ProjectId, Tabular, TabularKey, Warehouse, WarehouseId
from lakeward_catalog.domain.tasks import Owner
from lakeward_catalog.domain.wording import no_such_tabular, no_such_task, no_such_warehouse
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Outcome, forbidden
from lakeward_servicekit.errors import Reason, Refusal

Key = TypeVar("Key")

AT_ONCE: Final = 100


@dataclasses.dataclass(frozen=True, slots=True)
class Manner:
    """What is done with tasks, by whose they are, or which tabular they are about."""

    of_project: Action
    of_warehouse: Action
    of_tabular: Callable[[Demands], Action]


SEE: Final = Manner(Action.PROJECT_GET_PROJECT_TASKS, Action.WAREHOUSE_GET_ALL_TASKS, lambda demands: demands.see_tasks)
CONTROL: Final = Manner(
    Action.PROJECT_CONTROL_PROJECT_TASKS, Action.WAREHOUSE_CONTROL_ALL_TASKS, lambda demands: demands.control_tasks
)


async def decide_on_tasks(
    doors: Doors, owner: Owner, wanted: Mapping[UUID, TaskRecord | None], manner: Manner, *, caller: Caller
) -> None:
    """Whether the caller may do something with each of these tasks; one question, however many.

    Who may not do it with all of a warehouse's tasks is told the same of a task that is absent, one of a tabular that is gone,
    and one of a tabular that is hidden.

    Args:
        doors: to what the tasks are about.
        owner: an active warehouse, or a project.
        wanted: by the id that the caller wrote; None for what is absent.
        manner: what is done.
        caller: who asks.

    Raises:
        Refusal: NO_SUCH_PROJECT, NO_SUCH_WAREHOUSE, NO_SUCH_TASK, FORBIDDEN.
    """
    if isinstance(owner, UUID):
        await _decide_in_warehouse(doors, WarehouseId(owner), wanted, manner, caller=caller)
        return
    await doors.project(manner.of_project, caller=caller, project_id=ProjectId(owner))
    for task_id, record in wanted.items():
        if record is None:
            raise no_such_task(task_id)


async def _decide_in_warehouse(
    doors: Doors,
    warehouse_id: WarehouseId,
    wanted: Mapping[UUID, TaskRecord | None],
    manner: Manner,
    *,
    caller: Caller,
) -> None:
    warehouse, all_tasks = await doors.found_warehouse(warehouse_id, caller=caller), manner.of_warehouse
    about = {each.tabular for each in wanted.values() if each is not None and each.tabular is not None}
    there = await _there(doors, warehouse_id, [*about])
    asked: dict[UUID, Demand] = {}
    for task_id, record in wanted.items():
        tabular = there.get(record.tabular) if record is not None and record.tabular is not None else None
        if record is not None and tabular is not None and tabular.incarnation == record.incarnation:
            asked[task_id] = _demand(warehouse, tabular, manner)
    nobodys = [_nobodys(warehouse, manner) for task_id in wanted if task_id not in asked]
    everything, outcomes = await _outcomes(doors, warehouse, all_tasks, asked, caller, beside=nobodys)
    for task_id, record in wanted.items():
        outcome = outcomes.get(task_id)
        if outcome is Outcome.ALLOWED:
            continue
        if outcome is Outcome.DENIED:
            raise forbidden(asked[task_id].action)
        if not everything:
            raise forbidden(all_tasks)
        if record is None or outcome is Outcome.HIDDEN:
            raise no_such_task(task_id)


async def decide_on_listing(doors: Doors, owner: Owner, which: TaskFilter, *, caller: Caller) -> None:
    """Whether the caller may list these tasks.

    Raises:
        Refusal: NO_SUCH_PROJECT, NO_SUCH_WAREHOUSE, FORBIDDEN; NO_SUCH_TABLE or NO_SUCH_VIEW for one that is hidden, and for one
            that is gone where the caller may not see all tasks.
    """
    if not isinstance(owner, UUID):
        await doors.project(SEE.of_project, caller=caller, project_id=ProjectId(owner))
        return
    warehouse_id, named = WarehouseId(owner), which.tabulars
    warehouse, all_tasks = await doors.found_warehouse(warehouse_id, caller=caller), SEE.of_warehouse
    there = await _there(doors, warehouse_id, [*(named or ())])
    asked = {key: _demand(warehouse, tabular, SEE) for key, tabular in there.items()}
    nobodys = [_nobodys(warehouse, SEE) for key in named or () if key not in asked]
    everything, outcomes = await _outcomes(doors, warehouse, all_tasks, asked, caller, beside=nobodys)
    if not everything and (named is None or which.about_nothing):
        raise forbidden(all_tasks)
    for key in named or ():
        outcome = outcomes.get(key)
        if outcome is Outcome.DENIED:
            raise forbidden(asked[key].action)
        if outcome is Outcome.HIDDEN or (outcome is None and not everything):
            raise no_such_tabular(*key)


async def _there(doors: Doors, warehouse_id: WarehouseId, keys: Sequence[TabularKey]) -> Mapping[TabularKey, Tabular]:
    rows = await doors.tabulars.by_ids(warehouse_id, [key.tabular_id for key in keys])
    found = {TabularKey(row.kind, row.tabular_id): row for row in rows}
    return {key: found[key] for key in keys if key in found}


def _demand(warehouse: Warehouse, tabular: Tabular, manner: Manner) -> Demand:
    return Demand(tabular_ref(warehouse, tabular), manner.of_tabular(DEMANDS[tabular.kind]))


def _nobodys(warehouse: Warehouse, manner: Manner) -> Demand:
    return Demand(nobodys_tabular(warehouse, Kind.TABLE), manner.of_tabular(DEMANDS[Kind.TABLE]))


async def _outcomes(
    doors: Doors,
    warehouse: Warehouse,
    all_tasks: Action,
    asked: Mapping[Key, Demand],
    caller: Caller,
    *,
    beside: Sequence[Demand],
) -> tuple[bool, Mapping[Key, Outcome]]:
    """Whether all tasks are allowed, and what was said of each demand; refused where the warehouse is hidden.

    What is asked `beside` stands for what is not there, and its answers are nobody's.
    """
    ref = warehouse_ref(warehouse)
    demands = [Demand(ref, Action.WAREHOUSE_USE), Demand(ref, all_tasks), *asked.values(), *beside]
    use, everything, *each = await doors.authorizer.decide(caller.principal, demands)
    if use is not Outcome.ALLOWED:
        raise no_such_warehouse(warehouse.warehouse_id)
    return everything is Outcome.ALLOWED, dict(zip(asked, each[: len(asked)], strict=True))


def check_number(what: str, count: int) -> None:
    """Whether a call may name so many.

    Raises:
        Refusal: TOO_MANY_NAMED.
    """
    if count > AT_ONCE:
        raise Refusal(
            Reason.REASON_TOO_MANY_NAMED,
            f"{count} {what} are named; at most {AT_ONCE} may be",
            what=what,
            count=str(count),
            limit=str(AT_ONCE),
        )
