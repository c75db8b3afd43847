"""Updates of the table's partition specs."""

from __future__ import annotations

from lakeward_catalog.domain.iceberg.documents import Int, Invalid
from lakeward_catalog.domain.iceberg.draft import Draft
from lakeward_catalog.domain.iceberg.numbers import next_id
from lakeward_catalog.domain.iceberg.partitioning import PartitionSpec, assign_field_ids, check_spec
from lakeward_catalog.domain.iceberg.updates.update import Update, applies


class AddSpec(Update, frozen=True):
    """Add a partition spec; its own id is not used."""

    ACTION = "add-spec"
    spec: PartitionSpec


class SetDefaultSpec(Update, frozen=True):
    """Make a spec the default; -1 is the one added last."""

    ACTION = "set-default-spec"
    spec_id: Int


class RemovePartitionSpecs(Update, frozen=True):
    """Remove partition specs."""

    ACTION = "remove-partition-specs"
    spec_ids: tuple[Int, ...]


@applies(AddSpec)
def add_spec(draft: Draft, update: AddSpec) -> None:
    """A spec that partitions as an earlier one is that one; else it must fit the current schema."""
    table = draft.table
    known = next((spec for spec in table.partition_specs if spec.compatible_with(update.spec)), None)
    if known is not None:
        draft.last_spec_id = known.spec_id
        return
    field_ids = assign_field_ids(
        update.spec,
        known=table.partition_specs,
        last_partition_id=table.last_partition_id,
        format_version=table.format_version,
    )
    used = [spec.spec_id for spec in (*draft.base.partition_specs, *table.partition_specs)]
    spec = update.spec.rewritten(spec_id=next_id(used, what="partition spec id"), field_ids=field_ids)
    check_spec(spec, table.current_schema, format_version=table.format_version)
    draft.last_spec_id = spec.spec_id
    draft.change(
        partition_specs=(*table.partition_specs, spec),
        last_partition_id=max(table.last_partition_id, spec.last_field_id),
    )


@applies(SetDefaultSpec)
def set_default_spec(draft: Draft, update: SetDefaultSpec) -> None:
    """It must exist."""
    wanted = draft.resolve(update.spec_id, draft.last_spec_id, what="partition spec")
    if wanted not in [spec.spec_id for spec in draft.table.partition_specs]:
        raise Invalid("spec-id", f"partition spec {wanted} does not exist")
    if wanted != draft.table.default_spec_id:
        draft.change(default_spec_id=wanted)


@applies(RemovePartitionSpecs)
def remove_partition_specs(draft: Draft, update: RemovePartitionSpecs) -> None:
    """Not the default one; unknown ids are ignored."""
    if draft.table.default_spec_id in update.spec_ids:
        raise Invalid("spec-ids", f"partition spec {draft.table.default_spec_id} is the default one")
    kept = tuple(spec for spec in draft.table.partition_specs if spec.spec_id not in update.spec_ids)
    if len(kept) != len(draft.table.partition_specs):
        draft.change(partition_specs=kept)
        if draft.last_spec_id in update.spec_ids:
            draft.last_spec_id = None
