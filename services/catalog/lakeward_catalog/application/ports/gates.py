"""Who may object to a change."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Protocol
from uuid import UUID

from lakeward_catalog.domain.contracts.contract import Operation
from lakeward_catalog.domain.model import Kind, Namespace, Tabular, Warehouse
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ProposedChange:
    """What is about to be done, for one who may object.

    Attributes:
        warehouse: in which.
        operation: what it is.
        principal: who wants it, as keys of principals are.
        namespace: of the table or view; the namespace itself where it is about one.
        name: of the table or view; None for a namespace.
        kind: of the table or view.
        there: the table or view as its row is now; of one that is registered over another, that other. None for what is new.
        old: its metadata as JSON once it is called; None: it is read where it is needed.
        proposed: the metadata that it is to have, as JSON once it is called; None: the metadata stays.
        destination: where it goes, of a rename; the namespace's new path, of a move.
        properties: those that the namespace is to have; None where they stay.
        holds: the namespace, as its row is now.
    """

    warehouse: Warehouse
    operation: Operation
    principal: str
    namespace: NamespaceIdent
    name: str | None = None
    kind: Kind | None = None
    there: Tabular | None = None
    old: Callable[[], bytes] | None = None
    proposed: Callable[[], bytes] | None = None
    destination: TabularIdent | NamespaceIdent | None = None
    properties: dict[str, str] | None = None
    holds: Namespace | None = None

    @property
    def shown(self) -> str:
        """Its path."""
        return str(self.namespace if self.name is None else TabularIdent(self.namespace, self.name))

    @property
    def object_id(self) -> UUID | None:
        """The public id of what is there."""
        if self.there is not None:
            return self.there.tabular_id
        return None if self.holds is None else self.holds.namespace_id


class ChangeGate(Protocol):
    """Asked before a change is written, once the caller may make it: a data contract's chance to refuse it."""

    async def check(self, change: ProposedChange) -> bool:
        """Whether anybody looked at it: then only the metadata that was looked at may be changed. Never in a transaction.

        Raises:
            Refusal: CHANGE_REFUSED, CONTRACT_VIOLATED, CONTRACT_CHECK_FAILED; CONCURRENT_CHANGE, where what was to be looked at
                has changed meanwhile.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Question:
    """A change with what a checker is shown of it.

    Attributes:
        contract: in whose name it is asked.
        old: the metadata as it is, as JSON; None: there is none.
        new: the metadata as it is to be, as JSON; None: it stays, or goes.
    """

    contract: str
    change: ProposedChange
    old: bytes | None
    new: bytes | None


class ContractChecker(Protocol):
    """A service outside that is asked about changes."""

    async def objection(self, question: Question) -> str | None:
        """Why it objects, in at most a thousand characters; None: it does not.

        Raises:
            CheckerAway: it gave no answer in time, or none that can be read.
        """
        ...


class CheckerAway(Exception):  # noqa: N818 - a state, which the gate makes a refusal of, or none
    """A checker did not answer. Its text says how, without an address or a secret."""
