"""What has to be allowed of tasks: of a tabular that is there, its own action; of anything else, the warehouse's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar
from uuid import UUID

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.ports.tasks import TaskRecord
from lakeward_catalog.application.refs import tabular_ref, warehouse_ref
from lakeward_catalog.application.tabulars.demands import DEMANDS, Demands
from lakeward_catalog.domain.model import Tabular, TabularKey, Warehouse, WarehouseId
from lakeward_catalog.domain.wording import no_such_tabular, no_such_task, no_such_warehouse
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Outcome, forbidden
from lakeward_servicekit.errors import Reason, Refusal

Key = TypeVar("Key")

AT_ONCE: Final = 100


async def decide_on_tasks(
    doors: Doors,
    warehouse_id: WarehouseId,
    wanted: Mapping[UUID, TaskRecord | None],
    *,
    all_tasks: Action,
    one: Callable[[Demands], Action],
    caller: Caller,
) -> None:
    """Whether the caller may take an action on each of these tasks; one question, however many.

    Who may not take it on all of the warehouse's tasks is told the same of a task that is absent, one of a tabular that is gone,
    and one of a tabular that is hidden.

    Args:
        doors: to what the tasks are about.
        warehouse_id: of an active warehouse.
        wanted: by the id that the caller wrote; None for what is absent.
        all_tasks: the action of the warehouse.
        one: the action of a tabular, by its kind.
        caller: who asks.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TASK, FORBIDDEN.
    """
    warehouse = await doors.found_warehouse(warehouse_id)
    about = {each.tabular for each in wanted.values() if each is not None and each.tabular is not None}
    there = await _there(doors, warehouse_id, [*about])
    asked: dict[UUID, Demand] = {}
    for task_id, record in wanted.items():
        tabular = there.get(record.tabular) if record is not None and record.tabular is not None else None
        if record is not None and tabular is not None and tabular.incarnation == record.incarnation:
            asked[task_id] = _demand(warehouse, tabular, one)
    everything, outcomes = await _outcomes(doors, warehouse, all_tasks, asked, caller)
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


async def decide_on_entities(
    doors: Doors, warehouse_id: WarehouseId, named: Sequence[TabularKey] | None, *, nothing_too: bool, caller: Caller
) -> None:
    """Whether the caller may list the tasks of these tabulars; None: of everything.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN; NO_SUCH_TABLE or NO_SUCH_VIEW for one that is hidden, and for one that is gone
            where the caller may not see all tasks.
    """
    warehouse, all_tasks = await doors.found_warehouse(warehouse_id), Action.WAREHOUSE_GET_ALL_TASKS
    there = await _there(doors, warehouse_id, named or ())
    asked = {key: _demand(warehouse, tabular, lambda demands: demands.see_tasks) for key, tabular in there.items()}
    everything, outcomes = await _outcomes(doors, warehouse, all_tasks, asked, caller)
    if not everything and (named is None or nothing_too):
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


def _demand(warehouse: Warehouse, tabular: Tabular, one: Callable[[Demands], Action]) -> Demand:
    return Demand(tabular_ref(warehouse, tabular), one(DEMANDS[tabular.kind]))


async def _outcomes(
    doors: Doors, warehouse: Warehouse, all_tasks: Action, asked: Mapping[Key, Demand], caller: Caller
) -> tuple[bool, Mapping[Key, Outcome]]:
    """Whether all tasks are allowed, and what was said of each demand; refused where the warehouse is hidden."""
    ref = warehouse_ref(warehouse)
    demands = [Demand(ref, Action.WAREHOUSE_USE), Demand(ref, all_tasks), *asked.values()]
    use, everything, *each = await doors.authorizer.decide(caller.principal, demands)
    if use is not Outcome.ALLOWED:
        raise no_such_warehouse(warehouse.warehouse_id)
    return everything is Outcome.ALLOWED, dict(zip(asked, each, strict=True))


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
