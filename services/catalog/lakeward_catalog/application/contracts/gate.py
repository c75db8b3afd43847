"""The gate that asks a warehouse's contracts.

A warehouse's contracts are part of its row, which every change has at hand: where there is none, that is all that is looked at.
Rules are asked before checkers, since they cost no call.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Mapping, Sequence
from typing import Final

from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.payloads import beside
from lakeward_catalog.application.ports.gates import CheckerAway, ContractChecker, ProposedChange, Question
from lakeward_catalog.domain.contracts.contract import Contract, Operation
from lakeward_catalog.domain.contracts.rules import broken_by_operation, broken_by_shape, looks
from lakeward_catalog.domain.contracts.shapes import shape_of
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_servicekit.errors import Reason, Refusal

_log: Final = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True)
class Checker:
    """A service that is asked, and what its silence means.

    Attributes:
        fails_open: a change that it gives no answer to is made; else it is refused.
    """

    asks: ContractChecker
    fails_open: bool = False


class ContractGate:
    """Asks the contracts of the warehouse that a change is in."""

    def __init__(self, documents: Documents, checkers: Mapping[str, Checker]) -> None:
        """Read metadata that is not at hand from `documents`, and ask `checkers` by the names that contracts have for them."""
        self._documents: Final = documents
        self._checkers: Final = checkers

    async def check(self, change: ProposedChange) -> bool:
        """See `ChangeGate`."""
        contracts = change.warehouse.contracts
        if not contracts:
            return False
        concerned = _concerned(contracts, change)
        if not concerned:
            return False
        for contract in concerned:
            broken = broken_by_operation(contract.rules, change.operation)
            if broken is not None:
                raise _violated(contract, change, broken)
        looking = change.kind is not None and any(contract.checkers or looks(contract.rules) for contract in concerned)
        old = await self._old(change) if looking else None
        new = None if change.proposed is None or not looking else change.proposed()
        if looking:
            await self._judge(concerned, change, old, new)
        await self._ask(concerned, change, old, new)
        return True

    async def _old(self, change: ProposedChange) -> bytes | None:
        if change.old is not None:
            return change.old()
        there = change.there
        if there is None:
            return None
        try:
            return await self._documents.plain(there.warehouse_id, there.metadata_id, references=False)
        except LookupError:
            raise changed_meanwhile(change.shown) from None

    async def _judge(
        self, contracts: Sequence[Contract], change: ProposedChange, old: bytes | None, new: bytes | None
    ) -> None:
        kind = change.kind
        after = new if new is not None else old
        if kind is None or after is None or change.operation not in _JUDGED:
            return
        moves = change.operation is Operation.RENAME  # to a contract of where it goes, it is new
        shape = await beside(len(after), lambda: shape_of(after))
        before = None if old is None or moves else await beside(len(old), lambda: shape_of(old))
        for contract in contracts:
            if moves and contract.concerns(change.namespace, change.name or ""):
                continue  # it has been this contract's all the time
            broken = broken_by_shape(contract.rules, kind, before, shape)
            if broken is not None:
                raise _violated(contract, change, broken)

    async def _ask(
        self, contracts: Sequence[Contract], change: ProposedChange, old: bytes | None, new: bytes | None
    ) -> None:
        asked = {checker: contract for contract in reversed(contracts) for checker in contract.checkers}
        if asked:
            await asyncio.gather(*(self._ask_one(name, contract, change, old, new) for name, contract in asked.items()))

    async def _ask_one(
        self, name: str, contract: Contract, change: ProposedChange, old: bytes | None, new: bytes | None
    ) -> None:
        checker = self._checkers.get(name)
        if checker is None:
            raise _unchecked(name, contract, change, "the settings have no checker of this name any more")
        try:
            objection = await checker.asks.objection(Question(contract.name, change, old, new))
        except CheckerAway as away:
            told = {"contract": contract.name, "checker": name, "cause": str(away), "operation": change.operation.value}
            _log.warning("contract checker gave no answer", extra=told)
            if checker.fails_open:
                return
            raise _unchecked(name, contract, change, str(away)) from away
        if objection is not None:
            raise _violated(contract, change, f"checker {name!r} says: {objection}")


def _unchecked(checker: str, contract: Contract, change: ProposedChange, cause: str) -> Refusal:
    return Refusal(
        Reason.REASON_CONTRACT_CHECK_FAILED,
        f"contract {contract.name!r} could not be checked for {change.shown}: checker {checker!r} gave no answer ({cause}), "
        "and without one nothing is changed; try again",
        contract=contract.name,
        checker=checker,
    )


_JUDGED: Final = frozenset({Operation.CREATE, Operation.COMMIT, Operation.RENAME})


def changed_meanwhile(shown: str) -> Refusal:
    """The refusal to change what is not any more what contracts were asked about."""
    return Refusal(
        Reason.REASON_CONCURRENT_CHANGE,
        f"{shown!r} was changed while its contracts were asked; try again",
        object=shown,
    )


def _concerned(contracts: Sequence[Contract], change: ProposedChange) -> list[Contract]:
    """Those that a change concerns, where it is and where it goes.

    What happens to a whole namespace concerns those of everything inside too.
    """
    if change.name is None:
        whole = change.operation in {Operation.MOVE_NAMESPACE, Operation.DROP_NAMESPACE}
        places = [change.namespace]
        if isinstance(change.destination, NamespaceIdent):
            places.append(change.destination)
        return [
            each
            for each in contracts
            if any(each.touches(place) if whole else (each.around(place) and not each.names) for place in places)
        ]
    names = [TabularIdent(change.namespace, change.name)]
    if isinstance(change.destination, TabularIdent):
        names.append(change.destination)
    return [each for each in contracts if any(each.concerns(place.namespace, place.name) for place in names)]


def _violated(contract: Contract, change: ProposedChange, why: str) -> Refusal:
    return Refusal(
        Reason.REASON_CONTRACT_VIOLATED,
        f"contract {contract.name!r} refuses to {_VERBS[change.operation]} {change.shown}: {why}"[:2000],
        object=change.shown,
        contract=contract.name,
    )


_VERBS: Final[Mapping[Operation, str]] = {
    Operation.CREATE: "create",
    Operation.COMMIT: "change",
    Operation.RENAME: "rename",
    Operation.DROP: "drop",
    Operation.UNDROP: "restore",
    Operation.CREATE_NAMESPACE: "create namespace",
    Operation.UPDATE_NAMESPACE: "change the properties of namespace",
    Operation.MOVE_NAMESPACE: "move namespace",
    Operation.DROP_NAMESPACE: "drop namespace",
}
