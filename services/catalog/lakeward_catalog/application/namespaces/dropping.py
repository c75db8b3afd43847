"""Dropping a namespace, alone or with everything inside."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime

from lakeward_catalog.application.announcements import Announcer, NamespaceChange, Occasion, TabularChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Change, Changes, Contents
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.garbage import Garbage
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.opened import OpenedNamespace
from lakeward_catalog.application.ports.gates import ChangeGate, ProposedChange
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.domain.contracts.contract import Operation
from lakeward_catalog.domain.model import Kind, Namespace, State, Warehouse, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent, check_not_reserved
from lakeward_catalog.domain.tasks import NewTask, Queue
from lakeward_catalog.domain.wording import no_such_namespace
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.system import Clock


@dataclasses.dataclass(frozen=True, slots=True)
class DropNamespace:
    """Drop a namespace.

    Attributes:
        recursive: with everything inside.
        force: overrides protection; with `recursive` soft deletion too.
        purge: with `recursive`, files of what was inside are removed later.
    """

    warehouse_id: WarehouseId
    ident: NamespaceIdent
    recursive: bool = False
    force: bool = False
    purge: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class NamespaceDrops:
    """Drops namespaces. Their rows are locked first, so nothing can be made inside meanwhile."""

    doors: Doors
    documents: Documents
    changes: Changes
    once: Once
    announcer: Announcer
    clock: Clock
    rules: Rules
    gate: ChangeGate

    async def __call__(self, command: DropNamespace, *, caller: Caller) -> None:
        """Drop one.

        Raises:
            Refusal: RESERVED_NAMESPACE; NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN; NAMESPACE_PROTECTED,
                NAMESPACE_DROP_NOT_ALLOWED, NAMESPACE_NOT_EMPTY, CHILD_NAMESPACE_PROTECTED, CHILD_TABULAR_PROTECTED;
                GC_DISABLED where a purge was asked for; CONTRACT_VIOLATED, CONTRACT_CHECK_FAILED; CONCURRENT_CHANGE.
        """
        check_not_reserved(command.ident, self.rules.reserved_namespaces)
        flags = {"recursive": command.recursive, "force": command.force, "purge": command.purge}
        keyed = Keyed(of_warehouse(command.warehouse_id), "drop-namespace", {"namespace": command.ident.parts, **flags})
        await self.once(
            keyed,
            caller=caller,
            do=lambda keeper: self._drop(command, caller, keeper),
            again=lambda _: self.doors.still_used(command.warehouse_id, caller=caller),
        )

    async def _drop(self, command: DropNamespace, caller: Caller, keeper: Keeper) -> None:
        opened = await self.doors.namespace(command.warehouse_id, command.ident, Action.NAMESPACE_DELETE, caller=caller)
        await self.gate.check(drop_of(opened.warehouse, opened.namespace, caller))
        garbage = Garbage(self.documents)
        await garbage.settled(lambda: self._take_out(command, opened, garbage, caller, keeper))

    async def _take_out(
        self, command: DropNamespace, opened: OpenedNamespace, garbage: Garbage, caller: Caller, keeper: Keeper
    ) -> None:
        async with self.changes.change() as change:
            namespace = await change.namespaces.lock(command.warehouse_id, command.ident, exclusively=True)
            if namespace is None or namespace.namespace_id != opened.namespace.namespace_id:
                raise no_such_namespace(command.ident)  # what was decided on is gone
            contents = await change.namespaces.contents(command.warehouse_id, namespace.namespace_id)
            check_droppable(command, opened.warehouse, namespace, contents)
            if command.recursive and command.purge:
                garbage.check(contents.tabulars)
            now = self.clock.now()
            await _enqueue_purges(command, change, contents, garbage, now=now, at=now + self.rules.purge_after)
            await change.namespaces.delete(namespace)
            told = {"purge": command.recursive and command.purge, "force": command.force, "soft": False}
            warehouse, when = opened.warehouse, occasion(caller, now)
            change.ledger.emit(
                *dropped_events(
                    self.announcer, when, warehouse=warehouse, namespace=namespace, contents=contents, told=told
                )
            )
            await keeper.keep(change, namespace_id=namespace.namespace_id)


def drop_of(warehouse: Warehouse, namespace: Namespace, caller: Caller) -> ProposedChange:
    """A namespace's drop, for who may object."""
    return ProposedChange(
        warehouse=warehouse,
        operation=Operation.DROP_NAMESPACE,
        principal=caller.who,
        namespace=namespace.ident,
        holds=namespace,
    )


def check_droppable(command: DropNamespace, warehouse: Warehouse, namespace: Namespace, contents: Contents) -> None:
    """Whether a namespace with these contents may be dropped so.

    Staged tables don't count as contents: nobody can see them, and their rows vanish with the namespace.

    Raises:
        Refusal: see `NamespaceDrops`.
    """
    shown = str(namespace.ident)
    if namespace.protected and not command.force:
        raise Refusal(
            Reason.REASON_NAMESPACE_PROTECTED,
            f"namespace {shown!r} is protected; take its protection away first, or use force",
            namespace=shown,
        )
    if not command.recursive:
        if contents.namespaces or any(tabular.state is not State.STAGED for tabular in contents.tabulars):
            raise Refusal(
                Reason.REASON_NAMESPACE_NOT_EMPTY,
                f"namespace {shown!r} is not empty (dropped tables that can be restored count); empty it, or use recursive",
                namespace=shown,
            )
        return
    if command.force:
        return
    if warehouse.restorable_for is not None:
        raise Refusal(
            Reason.REASON_NAMESPACE_DROP_NOT_ALLOWED,
            f"namespace {shown!r} can't be dropped with its contents: what is dropped from this warehouse can be restored; "
            "drop its contents first, or use force",
            namespace=shown,
        )
    check_protection(namespace, contents)


def check_protection(namespace: Namespace, contents: Contents) -> None:
    """Whether nothing of this is protected.

    Raises:
        Refusal: NAMESPACE_PROTECTED, CHILD_NAMESPACE_PROTECTED, CHILD_TABULAR_PROTECTED.
    """
    shown = str(namespace.ident)
    if namespace.protected:
        raise Refusal(
            Reason.REASON_NAMESPACE_PROTECTED,
            f"namespace {shown!r} is protected; take its protection away first, or use force",
            namespace=shown,
        )
    for child in contents.namespaces:
        if child.protected:
            raise Refusal(
                Reason.REASON_CHILD_NAMESPACE_PROTECTED,
                f"namespace {child.ident} inside {shown!r} is protected; take its protection away first, or use force",
                namespace=str(child.ident),
            )
    for tabular in contents.tabulars:
        if tabular.protected:
            raise Refusal(
                Reason.REASON_CHILD_TABULAR_PROTECTED,
                f"{tabular.kind.noun} {tabular.ident} is protected; take its protection away first, or use force",
                tabular=str(tabular.ident),
            )


async def _enqueue_purges(
    command: DropNamespace, change: Change, contents: Contents, garbage: Garbage, *, now: datetime, at: datetime
) -> None:
    """Files of everything inside go, those of staged and of dropped tabulars too: nothing else knows of them any more.

    Those stay that lay where a generic table was made: who drops a namespace has not said their name.
    """
    if not (command.recursive and command.purge):
        return
    purges = (
        NewTask.of(each, Queue.TABULAR_PURGE, created_at=now, scheduled_for=at)
        for each in contents.tabulars
        if not (each.kind is Kind.GENERIC_TABLE and garbage.keeps(each))
    )
    await change.tasks.enqueue_all([*purges])


def dropped_events(
    announcer: Announcer,
    when: Occasion,
    *,
    warehouse: Warehouse,
    namespace: Namespace,
    contents: Contents,
    told: Mapping[str, object],
) -> list[Event]:
    """One for each table and view that could be seen, then one for each namespace, the dropped one last."""
    seen = [tabular for tabular in contents.tabulars if tabular.state is State.LIVE]
    tabulars = [
        announcer.tabular(
            TabularChange.DROPPED, tabular, when, warehouse=warehouse, data=told, place=(index, len(seen))
        )
        for index, tabular in enumerate(seen)
    ]
    dropped = (*sorted(contents.namespaces, key=lambda child: -len(child.ident.parts)), namespace)
    namespaces = (
        announcer.namespace(NamespaceChange.DROPPED, child, when, warehouse=warehouse, data=told) for child in dropped
    )
    return [*tabulars, *namespaces]
