"""What is in a warehouse, rebuilt from its events alone.

A mirror shows what a consumer has to do: a snapshot says what is, and what it did not name is gone once it is complete; each
event behind it says what one thing is now. Of a thing that is known, an event changes what its verb says. Two things go without
an event of their own, and a mirror follows them: what is inside of a namespace moves with it, and tags go with what they are on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lakeward.events.shapes import Event, Namespace, Tabular


@dataclass(frozen=True)
class MirroredTabular:
    """A table, view or generic table.

    Attributes:
        namespace_id: where it is; the namespace's path is the namespace's.
        dropped: it can be restored.
    """

    tabular: Tabular
    namespace_id: str
    dropped: bool


@dataclass
class Mirror:
    """The state of a warehouse.

    Attributes:
        warehouse: as docs/events.md has it; None where it is gone, or not known yet.
        namespaces: by id.
        tabulars: by incarnation.
        tags: by what they are on (its type, its id, the column's field or None) and the id of the tag's definition: the value.
        sequence: of the last event that is in it.
        complete: no snapshot is under way.
    """

    warehouse: Mapping[str, Any] | None = None
    namespaces: dict[str, Namespace] = field(default_factory=dict)
    tabulars: dict[str, MirroredTabular] = field(default_factory=dict)
    tags: dict[tuple[str, str, int | None, str], str | None] = field(default_factory=dict)
    sequence: int = 0
    complete: bool = False

    def apply(self, event: Event) -> None:
        """Take an event in; one that came before changes nothing.

        Raises:
            ValueError: an event between this one and the last is missing.
        """
        if event.snapshot:
            self._begin(event)
        elif event.sequence <= self.sequence:
            return
        elif event.sequence != self.sequence + 1:
            raise ValueError(f"event {event.sequence} came behind {self.sequence}; those between are missing")
        self.sequence = event.sequence
        told: Callable[[Event], None] | None = {
            "warehouse": self._of_warehouse,
            "namespace": self._of_namespace,
            "table": self._of_tabular,
            "view": self._of_tabular,
            "generic-table": self._of_tabular,
            "tag": self._of_tag,
        }.get(event.kind)
        if told is not None:  # kinds that a newer server tells of are no part of this state
            told(event)

    def path(self, tabular: MirroredTabular) -> Sequence[str]:
        """The levels of a tabular's namespace, and its name."""
        return (*self.namespaces[tabular.namespace_id].path, tabular.tabular.name)

    def _begin(self, event: Event) -> None:
        if event.kind == "warehouse" and event.verb == "snapshot":
            # a later snapshot is as good as the first: all that it does not name is gone
            self.namespaces.clear()
            self.tabulars.clear()
            self.tags.clear()
            self.complete = False
        elif event.verb == "snapshot-completed":
            self.complete = True

    def _of_warehouse(self, event: Event) -> None:
        self.warehouse = None if event.verb == "deleted" else event.data["warehouse"]

    def _of_namespace(self, event: Event) -> None:
        namespace = event.namespace
        assert namespace is not None, "events of namespaces tell of one"
        if event.verb == "dropped":
            self.namespaces.pop(namespace.id, None)
            self._untag(namespace.id)
            return
        before = self.namespaces.get(namespace.id)
        self.namespaces[namespace.id] = namespace
        if before is not None and before.path != namespace.path:
            self._move(before.path, namespace)

    def _move(self, before: Sequence[str], moved: Namespace) -> None:
        depth = len(before)
        for each in list(self.namespaces.values()):
            if each.id != moved.id and tuple(each.path[:depth]) == tuple(before) and self._is_inside(each, moved.id):
                path = (*moved.path, *each.path[depth:])
                self.namespaces[each.id] = Namespace(
                    each.id, path, each.parent_id, each.location, each.properties, each.protected
                )

    def _is_inside(self, namespace: Namespace, outer: str) -> bool:
        above: Namespace | None = namespace
        while above is not None and above.parent_id is not None:
            if above.parent_id == outer:
                return True
            above = self.namespaces.get(above.parent_id)
        return False

    def _of_tabular(self, event: Event) -> None:
        tabular, where = event.tabular, event.where
        assert tabular is not None, "events of tabulars tell of one"
        assert where is not None, "and where it is"
        assert where.namespace_id is not None, "which is a namespace"
        gone = event.verb == "dropped" and not event.data.get("soft")
        if gone:
            if self.tabulars.pop(tabular.incarnation, None) is not None:
                self._untag(tabular.id)
            return
        now = MirroredTabular(tabular, where.namespace_id, bool(event.data.get("dropped")) or event.verb == "dropped")
        known = self.tabulars.get(tabular.incarnation)
        if known is not None and not event.snapshot:
            now = _changed(known, now, event.verb)
        self.tabulars[tabular.incarnation] = now

    def _of_tag(self, event: Event) -> None:
        target = event.data["target"]
        key = (target["type"], target["id"], target.get("field-id"), event.data["definition"]["id"])
        if event.verb == "removed":
            self.tags.pop(key, None)
        else:
            self.tags[key] = event.data.get("value")

    def _untag(self, object_id: str) -> None:
        for key in [each for each in self.tags if each[1] == object_id]:
            del self.tags[key]


def _changed(known: MirroredTabular, told: MirroredTabular, verb: str) -> MirroredTabular:
    """What an event changes of what is known, and nothing else: of the rest it tells as its request found it.

    A commit that found a table by its old name, while somebody gave it another one, has the old one in its event.
    """
    if verb == "committed":
        location, staged = told.tabular.metadata_location, told.tabular.staged
        return replace(known, tabular=replace(known.tabular, metadata_location=location, staged=staged))
    if verb == "renamed":
        renamed = replace(known.tabular, name=told.tabular.name)
        return replace(known, tabular=renamed, namespace_id=told.namespace_id)
    if verb == "protection-updated":
        return replace(known, tabular=replace(known.tabular, protected=told.tabular.protected))
    if verb in {"dropped", "undropped"}:
        return replace(known, dropped=told.dropped)
    return known
