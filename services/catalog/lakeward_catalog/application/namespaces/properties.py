"""Properties of namespaces: which may be set, and changing them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Mapping
from typing import Final

from lakeward_catalog.application.announcements import Announcer, NamespaceChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.contracts.gate import changed_meanwhile
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.opened import OpenedNamespace
from lakeward_catalog.application.ports.gates import ChangeGate, ProposedChange
from lakeward_catalog.domain.contracts.contract import Operation
from lakeward_catalog.domain.model import Namespace, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent
from lakeward_catalog.domain.wording import no_such_namespace
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.system import Clock

LOCATION: Final = "location"
NAMESPACE_ID: Final = "namespace_id"
# Replies make these; a client that sends back what it was given must not store them.
MADE_BY_US: Final = frozenset({NAMESPACE_ID, "managed_access"})


@dataclasses.dataclass(frozen=True, slots=True)
class UpdateProperties:
    """Set and remove properties of a namespace, in one step."""

    warehouse_id: WarehouseId
    ident: NamespaceIdent
    updates: Mapping[str, str]
    removals: Collection[str]


@dataclasses.dataclass(frozen=True, slots=True)
class PropertiesUpdated:
    """What was set, what was removed, and what was to be removed and was not there; each sorted."""

    updated: tuple[str, ...]
    removed: tuple[str, ...]
    missing: tuple[str, ...]


def storable(properties: Mapping[str, str]) -> dict[str, str]:
    """Properties from a caller without those that replies make.

    Raises:
        Refusal: PROPERTY_NOT_LOWERCASE.
    """
    _check_keys(properties)
    return {key: value for key, value in properties.items() if key not in MADE_BY_US}


def shown(namespace: Namespace) -> dict[str, str]:
    """Properties as a reply shows them."""
    return {**namespace.properties, LOCATION: namespace.location, NAMESPACE_ID: str(namespace.namespace_id)}


@dataclasses.dataclass(frozen=True, slots=True)
class PropertiesUpdates:
    """Changes properties under the row's lock, so that concurrent changes lose nothing."""

    doors: Doors
    changes: Changes
    once: Once
    announcer: Announcer
    clock: Clock
    gate: ChangeGate

    async def __call__(self, command: UpdateProperties, *, caller: Caller) -> PropertiesUpdated:
        """Change them.

        Raises:
            Refusal: PROPERTY_NOT_LOWERCASE, PROPERTY_SET_AND_REMOVED, NAMESPACE_LOCATION_FIXED; NO_SUCH_WAREHOUSE,
                NO_SUCH_NAMESPACE, FORBIDDEN; CONTRACT_VIOLATED, CONTRACT_CHECK_FAILED; CONCURRENT_CHANGE.
        """
        updates = storable(command.updates)
        removals = sorted(set(command.removals) - MADE_BY_US)
        _check_change(updates, removals)

        async def update(keeper: Keeper) -> PropertiesUpdated:
            opened = await self._open(command, caller)
            there = opened.namespace
            asked = await self.gate.check(
                ProposedChange(
                    warehouse=opened.warehouse,
                    operation=Operation.UPDATE_NAMESPACE,
                    principal=caller.who,
                    namespace=there.ident,
                    properties=_with(there, updates, removals),
                    holds=there,
                )
            )
            async with self.changes.change() as change:
                held = await change.namespaces.lock(command.warehouse_id, command.ident, exclusively=True)
                if held is None or held.namespace_id != opened.namespace.namespace_id:  # what was decided on is gone
                    raise no_such_namespace(command.ident)
                if asked and held.properties != there.properties:
                    raise changed_meanwhile(str(held.ident))
                result = PropertiesUpdated(
                    updated=tuple(sorted(updates)),
                    removed=tuple(key for key in removals if key in held.properties),
                    missing=tuple(key for key in removals if key not in held.properties),
                )
                after = _with(held, updates, removals)
                if after != held.properties:
                    await change.namespaces.set_properties(held, after)
                    when, told = occasion(caller, self.clock.now()), {"updated": updates, "removed": result.removed}
                    event = self.announcer.namespace(
                        NamespaceChange.PROPERTIES_UPDATED,
                        dataclasses.replace(held, properties=after),
                        when,
                        warehouse=opened.warehouse,
                        before=held,
                        data=told,
                    )
                    change.ledger.emit(event)
                await keeper.keep(change, result=json.dumps(dataclasses.asdict(result)))
            return result

        async def again(kept: Mapping[str, str]) -> PropertiesUpdated:
            await self._open(command, caller)
            return PropertiesUpdated(**{name: tuple(keys) for name, keys in json.loads(kept["result"]).items()})

        keyed = Keyed(
            of_warehouse(command.warehouse_id),
            "update-namespace-properties",
            {"namespace": command.ident.parts, "updates": command.updates, "removals": sorted(command.removals)},
        )
        return await self.once(keyed, caller=caller, do=update, again=again)

    async def _open(self, command: UpdateProperties, caller: Caller) -> OpenedNamespace:
        needed = Action.NAMESPACE_UPDATE_PROPERTIES
        return await self.doors.namespace(command.warehouse_id, command.ident, needed, caller=caller)


def _with(namespace: Namespace, updates: Mapping[str, str], removals: Collection[str]) -> dict[str, str]:
    return {key: value for key, value in namespace.properties.items() if key not in removals} | {**updates}


def _check_keys(keys: Collection[str]) -> None:
    for key in keys:
        if key != key.lower():
            named = key[:200]
            raise Refusal(
                Reason.REASON_PROPERTY_NOT_LOWERCASE,
                f"property key {named!r} has upper case letters; write it in lower case",
                key=named,
            )


def _check_change(updates: Mapping[str, str], removals: Collection[str]) -> None:
    _check_keys(removals)
    for change, keys in (("updated", updates), ("removed", removals)):
        if LOCATION in keys:
            raise Refusal(
                Reason.REASON_NAMESPACE_LOCATION_FIXED,
                f"a namespace's location can't be {change}: it is fixed when the namespace is made",
                change=change,
            )
    both = sorted(set(updates) & set(removals))
    if both:
        raise Refusal(
            Reason.REASON_PROPERTY_SET_AND_REMOVED,
            f"property {both[0]!r} is to be set and removed at once; ask for one of the two",
            key=both[0],
        )
