"""Asking for a cascade: what it would take, and the task that does it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes, Contents
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.namespaces.dropping import check_protection, drop_of
from lakeward_catalog.application.ports.gates import ChangeGate
from lakeward_catalog.application.ports.stores import After, Visibility
from lakeward_catalog.domain.model import Kind, Namespace, NamespaceId, State, Warehouse, WarehouseId
from lakeward_catalog.domain.tasks import NewTask, Owner, Queue
from lakeward_catalog.domain.wording import no_such_namespace, no_such_warehouse, task_active, warehouse_protected
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.system import Clock

_EVERYTHING: Final = Visibility(everything=True)
_PAGE: Final = 100
_SHOWN: Final = 100
"""How many of what is protected are named."""


@dataclasses.dataclass(frozen=True, slots=True)
class DropTree:
    """Drop a namespace, or a whole warehouse, with everything inside.

    Attributes:
        namespace_id: None: the whole warehouse.
        force: overrides protection and soft deletion.
        purge: files go too, but for tables that keep theirs.
        dry_run: nothing is queued; it is only said what would go.
    """

    warehouse_id: WarehouseId
    namespace_id: NamespaceId | None
    force: bool = False
    purge: bool = False
    dry_run: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Extent:
    """What a cascade takes, as it is now.

    Attributes:
        namespaces: the one that is asked for among them.
        live: tables and views by kind.
        restorable: tables and views that were dropped before and can be restored.
        protected: paths of what is protected, the first hundred.
    """

    namespaces: int
    live: Mapping[Kind, int]
    restorable: int
    protected: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class TreeDrops:
    """Queues cascades. What is protected refuses them here already, and the task asks again."""

    doors: Doors
    changes: Changes
    once: Once
    clock: Clock
    gate: ChangeGate

    async def __call__(self, command: DropTree, *, caller: Caller) -> tuple[Extent, UUID | None]:
        """What it takes, and the task; None for a dry run.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN, WAREHOUSE_MANAGED; NAMESPACE_PROTECTED,
                CHILD_NAMESPACE_PROTECTED, CHILD_TABULAR_PROTECTED, WAREHOUSE_PROTECTED; CONTRACT_VIOLATED,
                CONTRACT_CHECK_FAILED; TASK_ACTIVE.
        """
        if command.dry_run:
            warehouse, tops = await self._open(command, caller)
            return await self._extent(warehouse, tops, command, refuse=False), None
        asked = {"namespace": str(command.namespace_id), "force": command.force, "purge": command.purge}
        return await self.once(
            Keyed(of_warehouse(command.warehouse_id), "drop-tree", asked),
            caller=caller,
            do=lambda keeper: self._queue(command, caller, keeper),
            again=lambda kept: self._again(command, kept, caller),
        )

    async def _queue(self, command: DropTree, caller: Caller, keeper: Keeper) -> tuple[Extent, UUID]:
        warehouse, tops = await self._open(command, caller)
        for top in tops:
            await self.gate.check(drop_of(warehouse, top, caller))
        extent = await self._extent(warehouse, tops, command, refuse=not command.force)
        task = _task(command, warehouse, tops, caller, self.clock)
        async with self.changes.change() as change:
            if await change.warehouses.lock(warehouse.warehouse_id) is None:
                raise no_such_warehouse(warehouse.warehouse_id)
            active = await change.tasks.active(task.owner, task.queue, task.subject)
            if active is not None:
                raise task_active(task.queue, active)
            task_id = await change.tasks.enqueue(task)
            await keeper.keep(change, task_id=str(task_id))
        return extent, task_id

    async def _again(self, command: DropTree, kept: Mapping[str, str], caller: Caller) -> tuple[Extent, UUID]:
        await self.doors.still_used(command.warehouse_id, caller=caller)
        return Extent(0, {}, 0, ()), UUID(kept["task_id"])

    async def _open(self, command: DropTree, caller: Caller) -> tuple[Warehouse, Sequence[Namespace]]:
        warehouse_id = command.warehouse_id
        if command.namespace_id is not None:
            action = Action.NAMESPACE_DELETE
            opened = await self.doors.namespace_by_id(warehouse_id, command.namespace_id, action, caller=caller)
            namespace = opened.namespace
            return await self.doors.found_warehouse(warehouse_id, caller=caller), [namespace]
        action = Action.WAREHOUSE_DELETE
        warehouse = await self.doors.specified(warehouse_id, action, caller=caller, inactive_too=True)
        return warehouse, await top_namespaces(self.doors, warehouse_id)

    async def _extent(
        self, warehouse: Warehouse, tops: Sequence[Namespace], command: DropTree, *, refuse: bool
    ) -> Extent:
        if refuse and command.namespace_id is None and warehouse.protected:
            raise warehouse_protected(warehouse.name)
        namespaces, restorable, live = 0, 0, dict.fromkeys(Kind, 0)
        guarded = [warehouse.name] if command.namespace_id is None and warehouse.protected else []
        for top in tops:
            async with self.changes.change() as change:
                namespace = await change.namespaces.lock(top.warehouse_id, top.ident, exclusively=False)
                if namespace is None or namespace.namespace_id != top.namespace_id:
                    if command.namespace_id is not None:
                        raise no_such_namespace(command.namespace_id)
                    continue
                contents = await change.namespaces.contents(top.warehouse_id, top.namespace_id)
            if refuse:
                check_protection(namespace, contents)
            namespaces += 1 + len(contents.namespaces)
            for tabular in contents.tabulars:
                restorable += tabular.state is State.DROPPED
                live[tabular.kind] += tabular.state is State.LIVE
            guarded += _guarded(namespace, contents)
        return Extent(namespaces, live, restorable, tuple(guarded[:_SHOWN]))


async def top_namespaces(doors: Doors, warehouse_id: WarehouseId) -> Sequence[Namespace]:
    """Namespaces of a warehouse that are in no other."""
    found: list[Namespace] = []
    after: After | None = None
    while True:
        page = await doors.namespaces.children(warehouse_id, None, visible=_EVERYTHING, after=after, limit=_PAGE)
        for listed in page:
            _, namespace = await doors.namespaces.find_by_id(warehouse_id, listed.namespace_id)
            found += [] if namespace is None else [namespace]
        if len(page) < _PAGE:
            return found
        after = After(page[-1].created_at, page[-1].namespace_id)


def _guarded(namespace: Namespace, contents: Contents) -> list[str]:
    protected = [str(each.ident) for each in (namespace, *contents.namespaces) if each.protected]
    return protected + [str(each.ident) for each in contents.tabulars if each.protected]


def _task(command: DropTree, warehouse: Warehouse, tops: Sequence[Namespace], caller: Caller, clock: Clock) -> NewTask:
    now = clock.now()
    plan: dict[str, Any] = {
        "warehouse": str(warehouse.warehouse_id),
        "force": command.force,
        "purge": command.purge,
        "user": caller.actor.principal,
        "role": caller.actor.assumed_role,
        "request": caller.request_id,
    }
    whole = command.namespace_id is None
    owner: Owner = warehouse.project_id if whole else warehouse.warehouse_id
    return NewTask(
        queue=Queue.WAREHOUSE_DROP if whole else Queue.NAMESPACE_DROP,
        owner=owner,
        subject=warehouse.warehouse_id if whole else command.namespace_id,
        name=warehouse.name if whole else str(tops[0].ident),
        location=None,
        tabular=None,
        path=(warehouse.name,) if whole else tops[0].ident.parts,
        created_at=now,
        scheduled_for=now,
        purge=command.purge,
        plan=plan,
    )
