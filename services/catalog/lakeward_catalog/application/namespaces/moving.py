"""Giving a namespace another name, another place in its warehouse, or both.

Everything inside keeps its place in it, its ids and its locations, and is called otherwise from then on. What it is called
stands in the namespaces' rows alone, so a move costs what namespaces it moves, however many tables they hold.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final
from uuid import UUID

from lakeward_catalog.application.announcements import Announcer, NamespaceChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Change, Changes
from lakeward_catalog.application.doors import Doors, absent_warehouse, warehouse_needs
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.placing import layout_of
from lakeward_catalog.application.ports.gates import ChangeGate, ProposedChange
from lakeward_catalog.application.refs import namespace_ref, nobodys_namespace, warehouse_ref
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.domain.contracts.contract import Operation
from lakeward_catalog.domain.model import Namespace, NamespaceId, Warehouse, WarehouseId
from lakeward_catalog.domain.names import MAX_DEPTH, SEPARATOR, NamespaceIdent, check_not_reserved
from lakeward_catalog.domain.wording import no_such_namespace
from lakeward_locations.layout import NAME, LayoutKind
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Need
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.system import Clock

# Who takes a namespace in takes in what is granted inside of it: that is more than to make an empty one.
_INTO_WAREHOUSE: Final = (Action.WAREHOUSE_CREATE_NAMESPACE, Action.WAREHOUSE_ACCEPT_MOVED_NAMESPACE)
_INTO_NAMESPACE: Final = (Action.NAMESPACE_CREATE_NAMESPACE, Action.NAMESPACE_ACCEPT_MOVED_NAMESPACE)


@dataclasses.dataclass(frozen=True, slots=True)
class MoveNamespace:
    """Move a namespace to a path, whose last part is its new name; `force` overrides protection."""

    warehouse_id: WarehouseId
    namespace_id: NamespaceId
    destination: NamespaceIdent
    force: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class MovedNamespace:
    """Where a namespace is now; `parent_id` None: at the top."""

    namespace_id: NamespaceId
    ident: NamespaceIdent
    parent_id: NamespaceId | None


@dataclasses.dataclass(frozen=True, slots=True)
class _Opened:
    """What was decided on; `parent` None: the warehouse takes it in."""

    warehouse: Warehouse
    namespace: Namespace
    parent: Namespace | None

    @property
    def parent_id(self) -> NamespaceId | None:
        return None if self.parent is None else self.parent.namespace_id


@dataclasses.dataclass(frozen=True, slots=True)
class NamespaceMoves:
    """Moves namespaces with all that is in them, and tells authz of the new place in the same transaction."""

    doors: Doors
    changes: Changes
    once: Once
    announcer: Announcer
    clock: Clock
    rules: Rules
    gate: ChangeGate

    async def __call__(self, command: MoveNamespace, *, caller: Caller) -> MovedNamespace:
        """Move one. To where it is already, in the same spelling, nothing changes.

        Raises:
            Refusal: RESERVED_NAMESPACE; NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE (also the one that it is to hang from), FORBIDDEN;
                NAMESPACE_INTO_ITSELF, LAYOUT_FORBIDS_MOVE, NAMESPACE_TOO_DEEP, INVALID_NAMESPACE, NAMESPACE_PROTECTED,
                NAMESPACE_EXISTS; CONTRACT_VIOLATED, CONTRACT_CHECK_FAILED; CONCURRENT_CHANGE.
        """
        check_not_reserved(NamespaceIdent(command.destination.parts[:1]), self.rules.reserved_namespaces)
        keyed = Keyed(
            of_warehouse(command.warehouse_id),
            "move-namespace",
            {
                "namespace-id": str(command.namespace_id),
                "destination": command.destination.parts,
                "force": command.force,
            },
        )
        return await self.once(
            keyed,
            caller=caller,
            do=lambda keeper: self._move(command, caller, keeper),
            again=lambda kept: self._again(command, kept, caller),
        )

    async def _again(self, command: MoveNamespace, kept: Mapping[str, str], caller: Caller) -> MovedNamespace:
        await self.doors.still_used(command.warehouse_id, caller=caller)
        path, parent_id = json.loads(kept["path"]), kept["parent_id"]
        parent = NamespaceId(UUID(parent_id)) if parent_id else None
        return MovedNamespace(command.namespace_id, NamespaceIdent(tuple(path)), parent)

    async def _move(self, command: MoveNamespace, caller: Caller, keeper: Keeper) -> MovedNamespace:
        opened = await self._open(command, caller)
        there = opened.namespace
        goes_to = NamespaceIdent((*(opened.parent.ident.parts if opened.parent else ()), command.destination.name))
        if goes_to != there.ident:
            await self.gate.check(
                ProposedChange(
                    warehouse=opened.warehouse,
                    operation=Operation.MOVE_NAMESPACE,
                    principal=caller.who,
                    namespace=there.ident,
                    destination=goes_to,
                    holds=there,
                )
            )
        async with self.changes.change() as change:
            namespace, parent = await self._hold(change, command, opened)
            above = () if parent is None else parent.ident.parts
            ident = NamespaceIdent((*above, command.destination.name))
            moved = MovedNamespace(command.namespace_id, ident, opened.parent_id)
            check_outside(namespace, ident)
            if namespace.ident.parts != ident.parts:
                check_movable(opened.warehouse, namespace, parent_id=opened.parent_id, force=command.force)
                await change.namespaces.move(namespace, parent_id=opened.parent_id, ident=ident)
                change.ledger.emit(
                    self.announcer.namespace(
                        NamespaceChange.MOVED,
                        dataclasses.replace(namespace, ident=ident, parent_id=moved.parent_id),
                        occasion(caller, self.clock.now()),
                        warehouse=opened.warehouse,
                        before=namespace,
                        data={"force": command.force},
                    )
                )
            await keeper.keep(change, path=json.dumps(ident.parts), parent_id=str(moved.parent_id or ""))
        return moved

    async def _open(self, command: MoveNamespace, caller: Caller) -> _Opened:
        """The namespace and what takes it in; one question, unless the destination can't be."""
        warehouse_id, namespace_id, to = command.warehouse_id, command.namespace_id, command.destination.parent
        (_, namespace), warehouse, parent = await asyncio.gather(
            self.doors.namespaces.find_by_id(warehouse_id, namespace_id),
            self.doors.found_warehouse(warehouse_id, caller=caller),
            self._parent(warehouse_id, to),
        )
        needs = warehouse_needs(warehouse, absent=absent_warehouse(warehouse_id))
        nobodys = nobodys_namespace(warehouse)
        into: Sequence[Demand] = [Demand(nobodys, action) for action in _INTO_NAMESPACE]
        if parent is not None:
            into = [Demand(namespace_ref(warehouse, parent), action) for action in _INTO_NAMESPACE]
        elif to is None:
            into = [Demand(warehouse_ref(warehouse), action) for action in _INTO_WAREHOUSE]
        if namespace is None:
            await self.doors.decide(caller, needs, [Demand(nobodys, Action.NAMESPACE_MOVE), *into])
            raise no_such_namespace(namespace_id)
        ref = namespace_ref(warehouse, namespace)
        needs.append(Need(Demand(ref, Action.NAMESPACE_MOVE), lambda: no_such_namespace(namespace_id)))
        if to is not None and parent is None:
            await self.doors.decide(caller, needs, into)
            check_outside(namespace, command.destination)
            raise no_such_namespace(to)
        absent = absent_warehouse(warehouse_id) if to is None else partial(no_such_namespace, to)
        needs += [Need(demand, absent) for demand in into]
        await self.doors.decide(caller, needs)
        check_outside(namespace, command.destination)
        return _Opened(warehouse, namespace, parent)

    async def _parent(self, warehouse_id: WarehouseId, ident: NamespaceIdent | None) -> Namespace | None:
        return None if ident is None else (await self.doors.namespaces.find(warehouse_id, ident))[1]

    async def _hold(
        self, change: Change, command: MoveNamespace, opened: _Opened
    ) -> tuple[Namespace, Namespace | None]:
        """The namespace and its parent to be, as they are now that they and the namespace's tree are locked.

        In the order of paths, in which a drop of what is around them locks them too.
        """
        await change.namespaces.begin_move(command.warehouse_id)
        parent = opened.parent
        first = parent is not None and parent.ident.key < opened.namespace.ident.key
        held = await _held_parent(change, parent) if first else None
        tree = await change.namespaces.lock_tree(command.warehouse_id, command.namespace_id)
        if not first:
            held = await _held_parent(change, parent)
        if not tree:
            raise no_such_namespace(command.namespace_id)
        namespace = tree[0]
        if namespace.ident.key != opened.namespace.ident.key:  # its rights may follow from elsewhere now
            shown = str(opened.namespace.ident)
            raise Refusal(
                Reason.REASON_CONCURRENT_CHANGE,
                f"namespace {shown!r} was moved meanwhile; read it again and retry",
                object=f"namespace {shown}",
            )
        check_depth(tree, command.destination)
        return namespace, held


async def _held_parent(change: Change, parent: Namespace | None) -> Namespace | None:
    if parent is None:
        return None
    held = await change.namespaces.lock(parent.warehouse_id, parent.ident, exclusively=False)
    if held is None or held.namespace_id != parent.namespace_id:  # what was decided on is gone, or has moved
        raise no_such_namespace(parent.ident)
    return held


def check_outside(namespace: Namespace, destination: NamespaceIdent) -> None:
    """Whether a namespace would not hang from itself.

    Raises:
        Refusal: NAMESPACE_INTO_ITSELF.
    """
    if destination.key.startswith(namespace.ident.key + SEPARATOR):
        shown = str(namespace.ident)
        raise Refusal(
            Reason.REASON_NAMESPACE_INTO_ITSELF,
            f"namespace {shown!r} can't be moved to {str(destination)!r}, which is inside of it; choose a place outside",
            namespace=shown,
            destination=str(destination),
        )


def check_depth(tree: Sequence[Namespace], destination: NamespaceIdent) -> None:
    """Whether nothing would lie too deep.

    Raises:
        Refusal: NAMESPACE_TOO_DEEP.
    """
    deepest = max(len(each.ident.parts) for each in tree)
    depth = deepest - len(tree[0].ident.parts) + len(destination.parts)
    if depth > MAX_DEPTH:
        shown = str(destination)
        raise Refusal(
            Reason.REASON_NAMESPACE_TOO_DEEP,
            f"Namespace exceeds maximum depth of {MAX_DEPTH}: in {shown!r} what is inside would have {depth} parts",
            namespace=shown,
            limit=str(MAX_DEPTH),
        )


def check_movable(warehouse: Warehouse, namespace: Namespace, *, parent_id: NamespaceId | None, force: bool) -> None:
    """Whether a namespace may get another path.

    Raises:
        Refusal: LAYOUT_FORBIDS_MOVE, NAMESPACE_PROTECTED.
    """
    shown, layout = str(namespace.ident), layout_of(warehouse)
    stays = parent_id == namespace.parent_id
    if layout.kind is LayoutKind.FULL_HIERARCHY and not (stays and NAME not in (layout.namespace or "")):
        raise Refusal(
            Reason.REASON_LAYOUT_FORBIDS_MOVE,
            f"namespace {shown!r} can't be moved: the warehouse's storage layout makes paths of where namespaces are, so that "
            "new tables would lie where the old name says",
            namespace=shown,
        )
    if namespace.protected and not force:
        raise Refusal(
            Reason.REASON_NAMESPACE_PROTECTED,
            f"namespace {shown!r} is protected; take its protection away first, or use force",
            namespace=shown,
        )
