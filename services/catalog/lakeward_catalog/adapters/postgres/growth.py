"""What a transaction changes of the tree that authz knows, gathered for the statement before its commit.

Rows are written there, when everything that they tell of is locked: so of two changes that meet in a row the second one's has the
larger id, and is seen after the first one's. A change is seen with all that it builds on, or not at all.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from uuid import UUID

from lakeward_catalog.application.refs import OBJECT_KINDS
from lakeward_catalog.application.tree import PROJECTS, StreamId, stream_of
from lakeward_catalog.domain.model import Namespace, NamespaceId, Project, ProjectId, Tabular, Warehouse, WarehouseId
from lakeward_catalog.domain.tags import TagDefinition
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind, RoleId, UserId

_USER, _ROLE = "user:", "role:"
_COLUMNS: Final = "warehouse_id, verb, kind, object_id, project_id, parent_id, public_id, owner"


def grow(*parameters: str) -> str:
    """The statement that writes what was gathered, with these eight parameters, as in "$1"."""
    types = ("uuid", "text", "text", "uuid", "text", "uuid", "uuid", "text")
    arrays = ", ".join(f"{parameter}::{each}[]" for parameter, each in zip(parameters, types, strict=True))
    # `order by` makes the ids grow in the order of the changes.
    return f"""
insert into tree_change ({_COLUMNS})
select {_COLUMNS} from unnest({arrays}) with ordinality as change({_COLUMNS}, place)
 order by change.place
"""


def grow_one(*parameters: str) -> str:
    """The same for one change, whose parameters are no arrays."""
    return f"insert into tree_change ({_COLUMNS}) values ({', '.join(parameters)})"


# A staged row that makes way is known to nobody but the statement that deletes it.
STAGED_GONE: Final = """
insert into tree_change (warehouse_id, verb, kind, object_id) select $1, 'gone', kind, incarnation from gone
"""


class Growth:
    """Changes of the tree in one transaction, in their order."""

    def __init__(self) -> None:
        """None at first."""
        self._rows: Final[list[tuple[object, ...]]] = []
        self._streams: Final[set[StreamId]] = set()
        self.awaited = False
        """Whether something was made or moved, which its maker may use next."""

    def __len__(self) -> int:
        """How many changes there are."""
        return len(self._rows)

    @property
    def streams(self) -> Collection[StreamId]:
        """Those that changed."""
        return self._streams

    def columns(self) -> tuple[list[object], ...]:
        """For the parameters of `grow`."""
        return tuple(list(column) for column in zip(*self._rows, strict=True)) if self._rows else _NO_COLUMNS

    def row(self) -> tuple[object, ...]:
        """For the parameters of `grow_one`."""
        (row,) = self._rows
        return row

    def project_made(self, project: Project, *, owner: Principal) -> None:
        """A project came to be."""
        self.add(PROJECTS, "made", ObjectKind.PROJECT, project_id=project.project_id, owner=owner_text(owner))

    def project_gone(self, project_id: ProjectId) -> None:
        """A project is no more."""
        self.add(PROJECTS, "gone", ObjectKind.PROJECT, project_id=project_id)

    def tag_made(self, definition: TagDefinition, *, owner: Principal) -> None:
        """A tag was defined."""
        project_id, owned_by = definition.project_id, owner_text(owner)
        self.add(PROJECTS, "made", ObjectKind.TAG, definition.tag_id, project_id=project_id, owner=owned_by)

    def tag_gone(self, definition: TagDefinition) -> None:
        """A tag is no more."""
        self.add(PROJECTS, "gone", ObjectKind.TAG, definition.tag_id, project_id=definition.project_id)

    def warehouse_made(self, warehouse: Warehouse, *, owner: Principal) -> None:
        """A warehouse came to be; its stream begins."""
        stream, owned_by = stream_of(warehouse.warehouse_id), owner_text(owner)
        self.add(stream, "made", ObjectKind.WAREHOUSE, project_id=warehouse.project_id, owner=owned_by)
        if not warehouse.active:
            self.warehouse_switched(warehouse)

    def warehouse_switched(self, warehouse: Warehouse) -> None:
        """A warehouse serves now, or nobody."""
        stream, verb = stream_of(warehouse.warehouse_id), switch_verb(active=warehouse.active)
        self.add(stream, verb, ObjectKind.WAREHOUSE, project_id=warehouse.project_id)

    def warehouse_gone(self, warehouse_id: WarehouseId, project_id: ProjectId) -> None:
        """A warehouse is no more; its stream ends."""
        self.add(stream_of(warehouse_id), "gone", ObjectKind.WAREHOUSE, project_id=project_id)

    def namespace_made(self, namespace: Namespace, *, owner: Principal) -> None:
        """A namespace came to be."""
        stream, owned_by = stream_of(namespace.warehouse_id), owner_text(owner)
        parent_id, kind = namespace.parent_id, ObjectKind.NAMESPACE
        self.add(stream, "made", kind, namespace.namespace_id, parent_id=parent_id, owner=owned_by)

    def namespace_moved(self, namespace: Namespace, *, to: NamespaceId | None) -> None:
        """A namespace, with all that is in it, hangs from another one now, or from the warehouse."""
        stream = stream_of(namespace.warehouse_id)
        self.add(stream, "moved", ObjectKind.NAMESPACE, namespace.namespace_id, parent_id=to)

    def namespace_gone(self, namespace: Namespace) -> None:
        """A namespace is no more, and nothing that was in it."""
        self.add(stream_of(namespace.warehouse_id), "gone", ObjectKind.NAMESPACE, namespace.namespace_id)

    def tabular_made(self, tabular: Tabular, *, owner: Principal) -> None:
        """A tabular came to be, staged or live."""
        self.add(
            stream_of(tabular.warehouse_id),
            "made",
            OBJECT_KINDS[tabular.kind],
            tabular.incarnation,
            parent_id=tabular.namespace_id,
            public_id=tabular.tabular_id,
            owner=owner_text(owner),
        )

    def tabular_moved(self, tabular: Tabular, *, to: NamespaceId) -> None:
        """A tabular hangs from another namespace now."""
        stream, kind = stream_of(tabular.warehouse_id), OBJECT_KINDS[tabular.kind]
        self.add(stream, "moved", kind, tabular.incarnation, parent_id=to)

    def tabular_gone(self, tabular: Tabular) -> None:
        """A tabular is no more."""
        self.add(stream_of(tabular.warehouse_id), "gone", OBJECT_KINDS[tabular.kind], tabular.incarnation)

    def add(  # noqa: PLR0913 - the columns of a row, each by its name
        self,
        stream: StreamId,
        verb: str,
        kind: ObjectKind,
        object_id: UUID | None = None,
        *,
        project_id: ProjectId | None = None,
        parent_id: UUID | None = None,
        public_id: UUID | None = None,
        owner: str | None = None,
    ) -> None:
        """A row as it is written."""
        self._streams.add(stream)
        self.awaited |= verb != "gone"
        self._rows.append((stream, verb, kind.word, object_id, project_id, parent_id, public_id, owner))


def switch_verb(*, active: bool) -> str:
    """How a warehouse's switch is stored."""
    return "opened" if active else "closed"


def owner_text(principal: Principal) -> str | None:
    """An owner as it is stored; None for a caller that nothing is ever given to."""
    match principal.kind:
        case PrincipalKind.USER:
            return f"{_USER}{principal.user_id}"
        case PrincipalKind.ROLE:
            return f"{_ROLE}{principal.role_id}"
        case _:
            return None


def owner_of(text: str | None) -> Principal | None:
    """The owner that was stored; of who assumed a role the role is left."""
    if text is None:
        return None
    if text.startswith(_ROLE):
        return Principal(PrincipalKind.ROLE, role_id=RoleId(text.removeprefix(_ROLE)))
    return Principal(PrincipalKind.USER, UserId(text.removeprefix(_USER)))


_NO_COLUMNS: Final[tuple[list[object], ...]] = tuple([] for _ in range(8))
