"""The audit table: how far it holds, and how more is added to it."""

# ruff: noqa: S608 - the table's name is quoted, and ids are the server's

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lakeward_pipelines.audit.rows import COLUMNS, row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.events import Event

MARK: Final = "lakeward.events."
"""A snapshot's summary says under this and a warehouse's id up to which number of its log the table holds."""

# Another one wrote between the look and the commit, or nobody knows whether the commit was made: the table is asked again.
_LOOK_AGAIN: Final = (
    "org.apache.iceberg.exceptions.ValidationException",
    "org.apache.iceberg.exceptions.CommitFailedException",
    "org.apache.iceberg.exceptions.CommitStateUnknownException",
)


class TableUnfit(Exception):  # noqa: N818 - what is the case, not that it is an error
    """There is a table of that name, and its columns are others."""


class WrittenMeanwhile(Exception):  # noqa: N818 - what is the case, not that it is an error
    """The commit was refused, since another one came before it, or its outcome is not known."""


@dataclass(frozen=True)
class Standing:
    """What a table says of itself.

    Attributes:
        snapshot: its current one; None while it is empty.
        sequences: up to which number it holds, by the ids of those warehouses that it holds anything of.
    """

    snapshot: int | None
    sequences: Mapping[str, int]


class AuditTable:
    """A table of a Spark catalog that is a warehouse of Lakeward's.

    Args:
        spark: a session that has the catalog.
        name: catalog, levels of the namespace, and name.
    """

    def __init__(self, spark: SparkSession, name: Sequence[str]) -> None:
        self._spark = spark
        self._namespace = _quoted(name[:-1])
        self.name: Final = _quoted(name)

    def prepare(self) -> None:
        """Make it, where it is not there; give it columns that it lacks, where an older version of this made it.

        Raises:
            TableUnfit: a column is there with another type.
        """
        defined = ", ".join(f"{each.name} {each.type} comment '{each.comment}'" for each in COLUMNS)
        if not self._spark.catalog.tableExists(self.name):
            self._spark.sql(f"create namespace if not exists {self._namespace}")
            self._spark.sql(
                f"create table if not exists {self.name} ({defined}) using iceberg "
                "partitioned by (warehouse_id, days(time))"
            )
        there = {each.name: each.dataType.simpleString() for each in self._spark.table(self.name).schema}
        if odd := [each for each in COLUMNS if each.name in there and there[each.name] != each.type]:
            told = ", ".join(f"{each.name} is {there[each.name]} and not {each.type}" for each in odd)
            raise TableUnfit(f"{self.name} is no table of events: {told}; name another one")
        if lacking := [each for each in COLUMNS if each.name not in there]:
            added = ", ".join(f"{each.name} {each.type} comment '{each.comment}'" for each in lacking)
            self._spark.sql(f"alter table {self.name} add columns ({added})")

    def standing(self, warehouses: Sequence[str]) -> Standing:
        """How far it holds, as it says now.

        The number stands in the summary of the last snapshot that brought events of a warehouse. Where that one has expired,
        the rows say it.

        Args:
            warehouses: ids of those that are asked about.
        """
        self._spark.sql(f"refresh table {self.name}")
        main = self._rows(f"select snapshot_id from {self.name}.refs where name = 'main'")
        if not main:
            return Standing(None, {})
        current = int(main[0].snapshot_id)
        every = {
            each.snapshot_id: each
            for each in self._rows(f"select snapshot_id, parent_id, summary from {self.name}.snapshots")
        }
        sequences: dict[str, int] = {}
        looked_at: int | None = current
        while looked_at in every and len(sequences) < len(warehouses):
            for warehouse in warehouses:
                said = every[looked_at].summary.get(f"{MARK}{warehouse}")
                if said is not None:
                    sequences.setdefault(warehouse, int(said))
            looked_at = every[looked_at].parent_id
        for warehouse in warehouses:
            if warehouse not in sequences and (last := self._last(current, warehouse)) is not None:
                sequences[warehouse] = last
        return Standing(current, sequences)

    def add(self, events: Mapping[str, Sequence[Event]], *, since: Standing) -> None:
        """Add events in one commit, which says up to which numbers the table holds then.

        The commit is refused where somebody else added any of them behind `since`; and what there is of them, as after numbers
        that were said wrongly, is replaced.

        Args:
            events: by the ids of their warehouses; of each those that follow on what the table holds, in order, one at least.
            since: what the table said of itself.

        Raises:
            WrittenMeanwhile: look at the table again.
        """
        from py4j.protocol import Py4JJavaError  # noqa: PLC0415 - it comes with Spark
        from pyspark.sql.functions import expr  # noqa: PLC0415 - the same

        rows = [row(event, warehouse) for warehouse, few in events.items() for event in few]
        schema = ", ".join(f"{each.name} {each.type}" for each in COLUMNS)
        # One task, and as many files as there are days and warehouses.
        writer = (
            self._spark.createDataFrame(rows, schema, verifySchema=False)
            .coalesce(1)
            .writeTo(self.name)
            .option("distribution-mode", "none")
            .option("fanout-enabled", "true")
            .option("isolation-level", "serializable")
        )
        if since.snapshot is not None:
            writer = writer.option("validate-from-snapshot-id", str(since.snapshot))
        for warehouse, few in events.items():
            writer = writer.option(f"snapshot-property.{MARK}{warehouse}", str(few[-1].sequence))
        try:
            writer.overwrite(expr(" or ".join(_range(warehouse, few) for warehouse, few in events.items())))
        except Py4JJavaError as error:
            if any(name in _LOOK_AGAIN for name in _causes(error.java_exception)):
                raise WrittenMeanwhile(
                    f"{self.name} was written meanwhile, or it is not known whether it was"
                ) from error
            raise

    def _last(self, snapshot: int, warehouse: str) -> int | None:
        (found,) = self._rows(
            f"select max(sequence) as last from {self.name} version as of {snapshot} where warehouse_id = '{warehouse}'"
        )
        return None if found.last is None else int(found.last)

    def _rows(self, text: str) -> Sequence[Any]:
        return self._spark.sql(text).collect()


def _range(warehouse: str, events: Sequence[Event]) -> str:
    """Where these rows are, for who looks whether they are there: their days tell Iceberg which files to look at."""
    times = [event.time for event in events]
    return (
        f"(warehouse_id = '{warehouse}' and sequence >= {events[0].sequence}L and sequence <= {events[-1].sequence}L "
        f"and time >= timestamp '{min(times).isoformat()}' and time <= timestamp '{max(times).isoformat()}')"
    )


def _causes(error: Any) -> Sequence[str]:  # noqa: ANN401 - Java's
    names = []
    while error is not None and len(names) < 10:  # noqa: PLR2004 - deeper than any; a cause may be its own
        names.append(str(error.getClass().getName()))
        error = error.getCause()
    return names


def _quoted(name: Sequence[str]) -> str:
    return ".".join(f"`{each.replace('`', '``')}`" for each in name)
