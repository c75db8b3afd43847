"""A million taxi rides through Lakeward: ingested, queried, evolved, travelled through.

    python -m lakeward_pipelines.demo [--url http://127.0.0.1:8181] [--warehouse demo] [--rows 1200000]

`make demo` runs it. Without a URL, in LAKEWARD_URL or given, it works on the Lakeward that `lakeward up` started, or
starts an embedded one itself and ends it afterwards; what was written stays in LAKEWARD_HOME either way.
"""

# ruff: noqa: S608 - names and numbers in these statements are this module's own

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lakeward_pipelines import iceberg, trips
from lakeward_pipelines.java import JavaMissing
from lakeward_pipelines.report import Report
from lakeward_pipelines.server import URL, ServerUnavailable, server
from lakeward_pipelines.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CATALOG: Final = "lakeward"
NAMESPACE: Final = f"{CATALOG}.demo_trips"
RIDES: Final = f"{NAMESPACE}.trips"
ZONES: Final = f"{NAMESPACE}.zones"
ROWS: Final = 1_200_000
_BATCHES: Final = 6
_EARLY: Final = 24  # one in so many rides is among the early ones, which are changed
_SHOWN_FILES: Final = 12
_FEWEST_ROWS: Final = 1_000


class DemoFailed(Exception):  # noqa: N818 - what is the case, not that it is an error
    """A table does not hold what was written to it."""


@dataclass(frozen=True, slots=True)
class Demo:
    """What every step needs.

    Attributes:
        spark: has the warehouse as `lakeward`.
        report: where progress and answers go.
        rows: how many rides to make.
    """

    spark: SparkSession
    report: Report
    rows: int

    def run(self) -> None:
        """Every step, in order.

        Raises:
            DemoFailed: a table does not hold what was written to it.
        """
        self.prepare()
        first = self.ingest()
        self.query()
        self.evolve()
        self.travel(first)
        self.locate()

    def prepare(self) -> None:
        """Tables, empty."""
        self.report.step("Tables")
        self._sql(f"create namespace if not exists {NAMESPACE}")
        for table in (RIDES, ZONES):
            self._sql(f"drop table if exists {table}")
        self._sql(
            f"create table {RIDES} ({trips.COLUMNS}) using iceberg partitioned by (months(picked_up_at)) "
            "tblproperties ('write.merge.mode'='merge-on-read', 'write.delete.mode'='merge-on-read')"
        )
        self._sql(f"create table {ZONES} (zone int, name string) using iceberg")
        values = ", ".join(f"({number}, '{name}')" for number, name in enumerate(trips.ZONES))
        self._sql(f"insert into {ZONES} values {values}")
        self.report.say(f"{RIDES}, partitioned by month of pick-up; {ZONES}")

    def ingest(self) -> int:
        """Append the rides, batch by batch; each is a commit.

        Returns:
            The snapshot that the first batch made.
        """
        self.report.step(f"Ingest {self.rows:,} rides in {_BATCHES} commits")
        began = time.monotonic()
        for batch in trips.batches(self.rows, count=_BATCHES):
            trips.rides(self.spark, batch, of=self.rows).writeTo(RIDES).append()
            seconds = time.monotonic() - began
            self.report.progress(batch.end, self.rows, f"{batch.end / seconds:,.0f} rides/s")
        self._expect(f"select count(*), count(distinct trip_id), min(trip_id) from {RIDES}", (self.rows, self.rows, 0))
        return int(self._rows(f"select snapshot_id from {RIDES}.snapshots order by committed_at limit 1")[0][0])

    def query(self) -> None:
        """Ask it something."""
        self.report.step("Query")
        self._show(
            "Rides and takings by month",
            f"select date_format(picked_up_at, 'yyyy-MM') as month, count(*) as rides, sum(fare) as takings from {RIDES} "
            "group by 1 order by 1",
        )
        self._show(
            "Best zones to wait in",
            f"select name as zone, count(*) as rides, cast(avg(fare) as decimal(10, 2)) as fare from {RIDES} "
            f"join {ZONES} on pickup_zone = zone group by 1 order by 2 desc, 1 limit 3",
        )

    def evolve(self) -> None:
        """Change columns and partitions under the data, and go on writing."""
        self.report.step("Evolve")
        self._sql(f"alter table {RIDES} create tag first_edition")
        self._sql(f"alter table {RIDES} add column tip decimal(10, 2) comment 'in euros'")
        self._sql(f"alter table {RIDES} rename column passengers to party_size")
        self._sql(f"alter table {RIDES} alter column pickup_zone type bigint")
        self._sql(f"alter table {RIDES} replace partition field picked_up_at_month with days(picked_up_at)")
        self.report.say("a column added, one renamed, one widened; partitioned by day from now on")
        early = self.rows // _EARLY
        self._sql(
            f"merge into {RIDES} t using (select trip_id, round(fare * 0.1, 2) as tip from {RIDES} "
            f"where trip_id < {early} and trip_id % 2 = 0) s on t.trip_id = s.trip_id "
            "when matched then update set tip = s.tip"
        )
        self._sql(f"delete from {RIDES} where trip_id < {early} and trip_id % 10 = 1")
        left = self.rows - len(range(1, early, 10))
        self._expect(f"select count(*), count(tip) from {RIDES}", (left, len(range(0, early, 2))))
        self.report.say(
            f"tips merged into {early // 2:,} rides, {self.rows - left:,} rides deleted, and no file rewritten for it"
        )

    def travel(self, first: int) -> None:
        """Read what the table was."""
        self.report.step("Travel in time")
        batch = trips.batches(self.rows, count=_BATCHES)[0]
        self._expect(f"select count(*) from {RIDES} version as of {first}", (batch.rows,))
        self._expect(f"select count(*) from {RIDES} version as of 'first_edition'", (self.rows,))
        self._show(
            "Snapshots",
            f"select date_format(committed_at, 'HH:mm:ss') as at, operation, summary['added-records'] as added, "
            f"summary['added-position-deletes'] as marked_deleted from {RIDES}.snapshots "
            "order by committed_at",
        )

    def locate(self) -> None:
        """Say where everything lies."""
        self.report.step("Where the files are")
        self._show(
            "By what they hold, and by partition spec (0: by month, 1: by day)",
            "select case content when 0 then 'rides' else 'deletes' end as holds, spec_id, count(*) as files, "
            f"sum(record_count) as rows, sum(file_size_in_bytes) as bytes from {RIDES}.files group by 1, 2 order by 1 desc, 2",
        )
        ((metadata,),) = self._rows(f"select file from {RIDES}.metadata_log_entries order by timestamp desc limit 1")
        self.report.say(f"metadata  {metadata}")
        files = self._rows(f"select file_path from {RIDES}.files order by 1")
        for (path,) in files[:_SHOWN_FILES]:
            self.report.say(f"data      {path}")
        if len(files) > _SHOWN_FILES:
            self.report.say(f"and {len(files) - _SHOWN_FILES} more")

    def _sql(self, text: str) -> None:
        self.spark.sql(text)

    def _rows(self, text: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.spark.sql(text).collect()]

    def _show(self, title: str, text: str) -> None:
        found = self.spark.sql(text)
        self.report.table(title, found.columns, [tuple(row) for row in found.collect()])

    def _expect(self, text: str, expected: tuple[int, ...]) -> None:
        (found,) = self._rows(text)
        if found != expected:
            raise DemoFailed(f"expected {expected}, found {found}: {text}")
        self.report.say(f"checked: {', '.join(f'{number:,}' for number in found)}  <- {text}")


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where every step did what it should."""
    given = _parsed(arguments)
    report = Report(sys.stdout)
    home = Path(os.environ.get("LAKEWARD_HOME", ".lakeward"))
    began = time.monotonic()
    try:
        with server(given.url, log=home / "demo.log") as url:
            report.step(f"Lakeward at {url}, warehouse {given.warehouse}")
            settings = iceberg.catalog(CATALOG, uri=f"{url}/catalog", warehouse=given.warehouse, token=given.token)
            with session("lakeward-demo", settings=settings) as spark:
                Demo(spark, report, given.rows).run()
    except (JavaMissing, ServerUnavailable, DemoFailed) as error:
        sys.stderr.write(f"demo: {error}\n")
        return 1
    report.say(f"\ndone in {time.monotonic() - began:.0f} s")
    return 0


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="lakeward_pipelines.demo", description="A million taxi rides through Lakeward."
    )
    parser.add_argument("--url", default=os.environ.get(URL), help=f"of a Lakeward that runs; {URL}")
    parser.add_argument("--warehouse", default="demo", help="its name (default: demo)")
    parser.add_argument("--token", default=os.environ.get("LAKEWARD_TOKEN"), help="a bearer token; LAKEWARD_TOKEN")
    parser.add_argument("--rows", type=_rows, default=ROWS, help=f"rides to make (default: {ROWS})")
    return parser.parse_args(arguments)


def _rows(text: str) -> int:
    if (rows := int(text)) < _FEWEST_ROWS:
        raise argparse.ArgumentTypeError(f"{rows} is too few for what is shown; make it {_FEWEST_ROWS} or more")
    return rows


if __name__ == "__main__":
    sys.exit(main())
