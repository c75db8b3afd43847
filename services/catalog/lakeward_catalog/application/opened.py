"""What a door opens: an object with what is around it, and what the caller may do with it."""

from __future__ import annotations

from typing import Final

import msgspec

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.refs import namespace_ref, warehouse_ref
from lakeward_catalog.domain.model import Namespace, State, Tabular, Warehouse
from lakeward_catalog.domain.names import TabularIdent
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.authorization.principals import Principal, UserId

LIVE: Final = frozenset({State.LIVE})
LIVE_OR_STAGED: Final = frozenset({State.LIVE, State.STAGED})


class OpenedNamespace(msgspec.Struct, frozen=True):
    """A namespace that the caller may act on.

    Attributes:
        allowed: those of the `asked` actions that are allowed.
    """

    warehouse: Warehouse
    namespace: Namespace
    allowed: frozenset[Action] = frozenset()


class OpenedListing(msgspec.Struct, frozen=True):
    """A warehouse of which something may be listed, across its namespaces or of one.

    Attributes:
        namespace: the one that the listing is narrowed to; None: all.
        everything: whether all of it shows.
    """

    warehouse: Warehouse
    namespace: Namespace | None
    everything: bool

    @property
    def container(self) -> ObjectRef:
        """What is listed, as authz knows it."""
        return (
            warehouse_ref(self.warehouse) if self.namespace is None else namespace_ref(self.warehouse, self.namespace)
        )


class Through(msgspec.Struct, frozen=True):
    """The way on which a tabular is read through views.

    Attributes:
        views: by their names, outermost first.
        reader: as whom it is read.
        as_owner: the reader is whom a view names as its owner, and not the caller.
    """

    views: tuple[TabularIdent, ...]
    reader: Principal
    as_owner: bool


class OpenedTabular(msgspec.Struct, frozen=True):
    """A tabular that the caller may act on.

    Attributes:
        allowed: those of the `asked` actions that are allowed.
        through: how it is read through views; None: the caller reads it.
    """

    warehouse: Warehouse
    namespace: Namespace
    tabular: Tabular
    allowed: frozenset[Action] = frozenset()
    through: Through | None = None

    def reader(self, caller: Caller) -> Principal:
        """Whose rights were decided on."""
        return caller.principal if self.through is None else self.through.reader

    @property
    def owner(self) -> UserId | None:
        """Whom a view names as its owner, where that is who reads it."""
        return self.through.reader.user_id if self.through is not None and self.through.as_owner else None


class OpenedName(msgspec.Struct, frozen=True):
    """A name in a namespace in which the caller may make a tabular of it.

    Attributes:
        there: what has the name, live or staged; None where it is free.
    """

    warehouse: Warehouse
    namespace: Namespace
    there: Tabular | None
