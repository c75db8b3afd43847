"""Seeded sequences of commits to tables and views, each step with what the engine made of it.

A step's base is the engine's own result of the step before, so one difference does not become many.
"""

from __future__ import annotations

import dataclasses
import json
from random import Random
from typing import Any

from lakeward_catalog.domain.iceberg import (
    TableMetadata,
    ViewMetadata,
    create_table,
    parse_create_table,
)
from lakeward_servicekit.errors import Refusal, name_of
from tests.unit.catalog.iceberg.given import (
    LOCATION,
    T0,
    UUID,
    Json,
    a_snapshot,
    a_table,
    a_version,
    a_view,
    commit,
    commit_view,
    document,
    field,
    main,
    properties,
    schema,
    sql,
)

PRIMITIVES = ("boolean", "int", "long", "float", "double", "decimal(9, 2)", "date", "time", "timestamp", "timestamptz",
              "string", "uuid", "fixed[8]", "binary")  # fmt: skip
V3_PRIMITIVES = ("unknown", "timestamp_ns", "timestamptz_ns", "variant", "geometry", "geography(OGC:CRS84, spherical)")
TRANSFORMS = ("identity", "bucket[8]", "truncate[4]", "year", "month", "day", "hour", "void")


@dataclasses.dataclass(frozen=True)
class Step:
    """One commit: what was asked, and what the engine answered: a document, or the name of its refusal's reason."""

    base: Json
    requirements: list[Json]
    updates: list[Json]
    now_ms: int
    previous: str | None
    metadata: Json | None
    refusal: str | None
    message: str = ""

    def actions(self) -> list[str]:
        return [update["action"] for update in self.updates]


class Tables:
    """Commits to one table, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        version = self.random.choice((1, 2, 2, 3, 3))
        self.table: TableMetadata = a_table(format_version=version, snapshots=self.random.randrange(4))
        self.number = 0

    def step(self) -> Step:
        self.number += 1
        updates: list[Json] = []
        for _ in range(self.random.choice((1, 1, 2, 2, 3))):
            updates += self.update()
        requirements = [self.requirement()] if self.random.random() < 0.3 else []
        base, now = self.table, T0 + 10_000_000 + self.number
        previous = f"{LOCATION}/metadata/{self.number:05d}-{UUID}.metadata.json"
        metadata, refusal, message = None, None, ""
        try:
            result = commit(base, *updates, requirements=tuple(requirements), now_ms=now, previous_file=previous)
            metadata, self.table = document(result.metadata), result.metadata
        except Refusal as error:
            refusal, message = name_of(error.reason), error.message
        return Step(document(base), requirements, updates, now, previous, metadata, refusal, message)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def update(self) -> list[Json]:
        """One or two updates that belong together."""
        kinds = [self.snapshot] * 8 + [self.schema] * 4 + [self.spec] * 4 + [self.order] * 3 + [self.props] * 3
        kinds += [self.ref] * 5 + [
            self.remove_snapshots,
            self.remove_ref,
            self.statistics,
            self.statistics,
            self.remove,
        ]
        kinds += [self.identity, self.key, self.dangling]
        return self.random.choice(kinds)()

    def requirement(self) -> Json:
        table, shift = self.table, self.random.choice((0, 0, 0, 1))
        current = table.current_snapshot_id
        return self.random.choice(
            [
                {"type": "assert-table-uuid", "uuid": UUID if not shift else UUID.replace("1", "2")},
                {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": current if not shift else 5},
                {"type": "assert-last-assigned-field-id", "last-assigned-field-id": table.last_column_id + shift},
                {"type": "assert-current-schema-id", "current-schema-id": table.current_schema_id + shift},
                {
                    "type": "assert-last-assigned-partition-id",
                    "last-assigned-partition-id": table.last_partition_id + shift,
                },
                {"type": "assert-default-spec-id", "default-spec-id": table.default_spec_id + shift},
                {"type": "assert-default-sort-order-id", "default-sort-order-id": table.default_sort_order_id + shift},
            ]
        )

    def snapshot(self) -> list[Json]:
        more: Json = {}
        if self.chance(0.05):
            more["sequence-number"] = max(0, self.table.last_sequence_number - 1)
        if self.chance(0.05):
            more["snapshot-id"] = self.any_snapshot()
        if self.chance(0.05):
            more["timestamp-ms"] = self.table.last_updated_ms - self.random.choice((30_000, 90_000))
        if self.table.format_version == 3 and self.chance(0.1):
            more["first-row-id"] = self.table.next_row_id + self.random.choice((-1, 5))
        snapshot = a_snapshot(self.table, self.random.randrange(2**62), **more)
        added = {"action": "add-snapshot", "snapshot": snapshot}
        target = self.random.choice(("main", "main", "main", "branch", None))
        if target is None:
            return [added]
        return [added, main(snapshot["snapshot-id"]) | {"ref-name": target}]

    def any_snapshot(self) -> int:
        known = [snapshot.snapshot_id for snapshot in self.table.snapshots]
        return self.random.choice([*known, *known, 404])

    def kind(self, depth: int = 0) -> Any:
        if depth < 2 and self.chance(0.2):
            inner = self.kind(depth + 1)
            which = self.random.randrange(3)
            if which == 0:
                return {
                    "type": "list",
                    "element-id": self.fresh(),
                    "element": inner,
                    "element-required": self.chance(0.5),
                }
            if which == 1:
                return {
                    "type": "map",
                    "key-id": self.fresh(),
                    "key": "string",
                    "value-id": self.fresh(),
                    "value": inner,
                    "value-required": self.chance(0.5),
                }
            return {"type": "struct", "fields": [field(self.fresh(), "inner", inner, required=self.chance(0.3))]}
        return self.random.choice(
            V3_PRIMITIVES if self.chance(0.2 if self.table.format_version == 3 else 0.02) else PRIMITIVES
        )

    def fresh(self) -> int:
        self._field = max(getattr(self, "_field", 0), self.table.last_column_id) + 1
        return self._field

    def schema(self) -> list[Json]:
        fields = [dict(known) for known in document(self.table)["schemas"][-1]["fields"]]
        if fields and self.chance(0.25):
            fields.pop(self.random.randrange(len(fields)))
        if self.chance(0.7):
            name = self.random.choice(("a", "b", "c", "p0", "p1", f"n{self.number}"))
            fields.append(field(self.fresh(), name, self.kind(), **({"doc": "d"} if self.chance(0.2) else {})))
        more: Json = {}
        if fields and self.chance(0.1):
            more["identifier-field-ids"] = [self.random.choice(fields)["id"]]
        more["schema-id"] = max(known.schema_id for known in self.table.schemas) + 1
        added = {"action": "add-schema", "schema": schema(*fields, **more), "last-column-id": 7}
        if self.chance(0.6):
            return [added, {"action": "set-current-schema", "schema-id": -1}]
        return (
            [added] if self.chance(0.5) else [self.current("set-current-schema", "schema-id", len(self.table.schemas))]
        )

    def current(self, action: str, member: str, known: int) -> Json:
        return {"action": action, member: self.random.choice([*range(known), *range(known), -1, 99])}

    def source(self) -> int:
        return self.random.choice([*self.table.current_schema.columns] * 8 + [99])

    def transform(self, kind: object) -> str:
        """Most often one that takes columns of this type."""
        fitting = ["identity", "void"]
        fitting += ["year", "month", "day"] * (kind in {"date", "timestamp", "timestamptz"})
        fitting += ["bucket[8]", "truncate[4]"] * (kind in {"int", "long", "string", "decimal(9, 2)", "binary"})
        return self.random.choice(TRANSFORMS if self.chance(0.15) else fitting)

    def transform_of(self, source: int) -> str:
        column = self.table.current_schema.columns.get(source)
        return self.transform(column.type if column is not None else None)

    def spec(self) -> list[Json]:
        fields = []
        for index in range(self.random.choice((0, 1, 1, 2))):
            name = self.random.choice([f"p{index}", f"q{self.number}"] * 4 + ["id", "a"])
            source = self.source()
            known: Json = {"source-id": source, "transform": self.transform_of(source), "name": name}
            if self.chance(0.8):
                known["field-id"] = (
                    1000 + index if self.table.format_version == 1 else self.table.last_partition_id + 1 + index
                )
            fields.append(known)
        spec_id = max(known.spec_id for known in self.table.partition_specs) + 1
        added = {"action": "add-spec", "spec": {"spec-id": spec_id, "fields": fields}}
        if self.chance(0.7):
            return [added, {"action": "set-default-spec", "spec-id": -1}]
        return [self.current("set-default-spec", "spec-id", len(self.table.partition_specs))]

    def order(self) -> list[Json]:
        fields = [
            {
                "source-id": source,
                "transform": self.transform_of(source),
                "direction": self.random.choice(("asc", "desc")),
                "null-order": self.random.choice(("nulls-first", "nulls-last")),
            }
            for source in [self.source() for _ in range(self.random.choice((0, 1, 1, 2)))]
        ]
        order_id = max(known.order_id for known in self.table.sort_orders) + 1
        added = {"action": "add-sort-order", "sort-order": {"order-id": order_id if fields else 0, "fields": fields}}
        if self.chance(0.7):
            return [added, {"action": "set-default-sort-order", "sort-order-id": -1}]
        return [self.current("set-default-sort-order", "sort-order-id", len(self.table.sort_orders))]

    def props(self) -> list[Json]:
        if self.chance(0.3):
            return [{"action": "remove-properties", "removals": [self.random.choice("abc")]}]
        if self.chance(0.2):
            return [properties(**{"write.metadata.previous-versions-max": self.random.choice(("1", "2", "3"))})]
        if self.chance(0.05):
            return [properties(**{self.random.choice(("uuid", "write.data.path")): "x"})]
        return [properties(**{self.random.choice("abc"): str(self.random.randrange(3))})]

    def ref(self) -> list[Json]:
        kind = self.random.choice(("branch", "branch", "tag"))
        name = self.random.choice(("main", "b1", "b2") if kind == "branch" else ("t1", "t2"))
        more: Json = {}
        if self.chance(0.3):
            more["max-ref-age-ms"] = self.random.choice((1, 10**12))
        if kind == "branch" and self.chance(0.3):
            more |= {"min-snapshots-to-keep": 2, "max-snapshot-age-ms": 10}
        return [
            {"action": "set-snapshot-ref", "ref-name": name, "type": kind, "snapshot-id": self.any_snapshot(), **more}
        ]

    def remove_ref(self) -> list[Json]:
        return [{"action": "remove-snapshot-ref", "ref-name": self.random.choice(("main", "b1", "b2", "t1", "none"))}]

    def remove_snapshots(self) -> list[Json]:
        known = [snapshot.snapshot_id for snapshot in self.table.snapshots]
        return [{"action": "remove-snapshots", "snapshot-ids": self.random.sample(known, min(len(known), 2)) or [404]}]

    def statistics(self) -> list[Json]:
        kind = self.random.choice(("statistics", "partition-statistics"))
        snapshot_id = self.any_snapshot()
        if self.chance(0.3):
            return [{"action": f"remove-{kind}", "snapshot-id": snapshot_id}]
        file: Json = {
            "snapshot-id": snapshot_id,
            "statistics-path": f"s3://stats-{self.random.randrange(4)}",
            "file-size-in-bytes": 10,
        }
        if kind == "statistics":
            blob = {
                "type": "apache-datasketches-theta-v1",
                "snapshot-id": snapshot_id,
                "sequence-number": 1,
                "fields": [1],
                "properties": {"n": "1"},
            }
            file |= {"file-footer-size-in-bytes": 5, "blob-metadata": [blob]}
        return [{"action": f"set-{kind}", kind: file}]

    def remove(self) -> list[Json]:
        if self.chance(0.5):
            return [{"action": "remove-schemas", "schema-ids": [self.random.randrange(4)]}]
        return [{"action": "remove-partition-specs", "spec-ids": [self.random.randrange(4)]}]

    def identity(self) -> list[Json]:
        return [
            self.random.choice(
                [
                    {"action": "assign-uuid", "uuid": self.random.choice((UUID, UUID, UUID.replace("1", "2")))},
                    {"action": "upgrade-format-version", "format-version": self.random.choice((1, 2, 3, 3, 5))},
                    {"action": "set-location", "location": self.random.choice((LOCATION, LOCATION, LOCATION + "2"))},
                ]
            )
        ]

    def key(self) -> list[Json]:
        key_id = self.random.choice(("k1", "k2"))
        if self.chance(0.3):
            return [{"action": "remove-encryption-key", "key-id": key_id}]
        key = {
            "key-id": key_id,
            "encrypted-key-metadata": self.random.choice(("AAAA", "BBBB")),
            "encrypted-by-id": "kms",
        }
        return [{"action": "add-encryption-key", "encryption-key": key}]

    def dangling(self) -> list[Json]:
        current = self.table.current_snapshot_id
        updates: list[Json] = [{"action": "remove-snapshots", "snapshot-ids": [current or 404]}]
        return updates + ([main(self.any_snapshot())] if self.chance(0.5) else [])


class Views:
    """Commits to one view, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        entries = {"version.history.num-entries": self.random.choice(("1", "2", "3", "10"))}
        dialects = self.random.choice([[sql()], [sql(), sql("Trino")]])
        self.view: ViewMetadata = a_view(**{"view-version": a_version(*dialects), "properties": entries})
        self.number = 0

    def step(self) -> Step:
        self.number += 1
        updates = [update for _ in range(self.random.choice((1, 1, 2))) for update in self.update()]
        right = {"type": "assert-view-uuid", "uuid": UUID}
        wrong = {"type": "assert-view-uuid", "uuid": UUID.replace("1", "2")}
        requirements = [self.random.choice((right, right, wrong))] if self.random.random() < 0.2 else []
        base, now = self.view, T0 + 10_000_000 + self.number
        metadata, refusal, message = None, None, ""
        try:
            result = commit_view(base, *updates, requirements=tuple(requirements), now_ms=now)
            metadata, self.view = document(result.metadata), result.metadata
        except Refusal as error:
            refusal, message = name_of(error.reason), error.message
        return Step(document(base), requirements, updates, now, None, metadata, refusal, message)

    def update(self) -> list[Json]:
        random = self.random
        known = [version.version_id for version in self.view.versions]
        time = self.view.version_log[-1].head.timestamp_ms + 1
        dialects = random.choice(([sql()], [sql(), sql("trino")], [sql("trino")], [sql("a"), sql("A")]))
        texts = [{**known_, "sql": f"select {random.randrange(4)}"} for known_ in dialects]
        add = {
            "action": "add-view-version",
            "view-version": a_version(
                *texts, **{"timestamp-ms": time, "schema-id": random.choice((0, 0, 0, 1, -1, 9))}
            ),
        }
        use = {"action": "set-current-view-version", "view-version-id": random.choice([-1, -1, *known, 99])}
        extended = schema(field(1, "id", required=True), field(2, random.choice(("x", "y"))))
        return random.choice(
            [
                [add, {**use, "view-version-id": -1}],
                [add, {**use, "view-version-id": -1}],
                [add],
                [use],
                [{"action": "add-schema", "schema": extended}, add, {**use, "view-version-id": -1}],
                [properties(**{random.choice(("a", "version.history.num-entries")): str(random.randrange(1, 4))})],
                [{"action": "remove-properties", "removals": [random.choice(("a", "b"))]}],
                [properties(**{"replace.drop-dialect.allowed": random.choice(("true", "false"))})],
                [{"action": "set-location", "location": random.choice((LOCATION, LOCATION + "/moved"))}],
                [{"action": "assign-uuid", "uuid": random.choice((UUID, UUID.replace("1", "2")))}],
                [{"action": "upgrade-format-version", "format-version": random.choice((1, 1, 2))}],
            ]
        )


@dataclasses.dataclass(frozen=True)
class Creation:
    """One create request, and the engine's answer."""

    request: Json
    format_version: int
    metadata: Json | None
    refusal: str | None
    message: str = ""


def creation(seed: int) -> Creation:
    """A create request with nested types, partitions and a sort order, most of them sound."""
    maker = Tables(seed)
    random = maker.random
    maker._field = random.randrange(50)
    fields = [
        field(maker.fresh(), f"c{index}", maker.kind(), required=maker.chance(0.3))
        for index in range(random.randrange(1, 6))
    ]
    sources = [known["id"] for known in fields]
    kinds = {known["id"]: known["type"] if isinstance(known["type"], str) else None for known in fields}
    request: Json = {"schema": schema(*fields)}
    if maker.chance(0.2):
        request["schema"]["identifier-field-ids"] = [random.choice(sources)]
    if maker.chance(0.5):
        source = random.choice(sources)
        name = random.choice(("p0", "p0", "p0", "c0"))
        spec = {"source-id": source, "transform": maker.transform(kinds[source]), "name": name}
        request["partition-spec"] = {"spec-id": 0, "fields": [spec | {"field-id": 1000}]}
    if maker.chance(0.5):
        source = random.choice(sources)
        order = {
            "source-id": source,
            "transform": maker.transform(kinds[source]),
            "direction": "asc",
            "null-order": "nulls-first",
        }
        request["write-order"] = {"order-id": 1, "fields": [order]}
    version = maker.table.format_version
    metadata, refusal, message = None, None, ""
    try:
        parsed = parse_create_table(json.dumps({"name": "t", **request}).encode())
        made = create_table(parsed, table_uuid=UUID, location=LOCATION, format_version=version, now_ms=T0)
        metadata = document(made)
    except Refusal as error:
        refusal, message = name_of(error.reason), error.message
    return Creation(request, version, metadata, refusal, message)
