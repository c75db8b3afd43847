"""Taxi rides that nobody took: as many as asked for, and the same ones each time.

A ride follows from its number alone, through hashes, so that any range of numbers can be made anywhere, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ZONES: Final = ("Harbour", "Old Town", "Airport", "University", "Hills", "Market", "Station", "Riverside")
FIRST_DAY: Final = datetime(2025, 1, 1, tzinfo=UTC)
MONTHS: Final = 6
DAYS: Final = 181  # of January to June 2025

COLUMNS: Final = """
    trip_id bigint not null comment 'number of the ride, from 0',
    picked_up_at timestamp,
    dropped_off_at timestamp,
    pickup_zone int comment 'number of a zone',
    dropoff_zone int comment 'number of a zone',
    passengers int,
    distance_km double,
    fare decimal(10, 2) comment 'in euros, without tip'"""

# `salt` makes the hashes of one number independent of each other; pmod keeps them positive.
_RIDE: Final = """
    select
        trip_id,
        picked_up_at,
        picked_up_at + make_interval(0, 0, 0, 0, 0, 0, seconds) as dropped_off_at,
        pickup_zone,
        dropoff_zone,
        passengers,
        distance_km,
        cast(round(3.20 + 1.85 * distance_km + 0.006 * seconds, 2) as decimal(10, 2)) as fare
    from (
        select
            id as trip_id,
            timestamp_seconds({first} + {per_ride} * id + pmod(xxhash64(id, 'second'), {jitter})) as picked_up_at,
            cast(240 + pmod(xxhash64(id, 'duration'), 2400) as int) as seconds,
            cast(pmod(xxhash64(id, 'from'), {zones}) as int) as pickup_zone,
            cast(pmod(xxhash64(id, 'to'), {zones}) as int) as dropoff_zone,
            cast(1 + pmod(xxhash64(id, 'party'), 4) as int) as passengers,
            round(0.8 + pmod(xxhash64(id, 'distance'), 18000) / 1000.0D, 3) as distance_km
        from {source}
    )"""


@dataclass(frozen=True, slots=True)
class Batch:
    """Rides whose numbers are neighbours.

    Attributes:
        first: the lowest number.
        end: one above the highest.
    """

    first: int
    end: int

    @property
    def rows(self) -> int:
        """How many rides it has."""
        return self.end - self.first


def batches(rows: int, *, count: int) -> list[Batch]:
    """Cut the rides from 0 to `rows` into `count` batches of nearly the same size.

    Args:
        rows: at least `count`.
        count: at least 1.
    """
    edges = [rows * number // count for number in range(count + 1)]
    return [Batch(first, end) for first, end in pairwise(edges)]


def rides(spark: SparkSession, batch: Batch, *, of: int) -> DataFrame:
    """The batch's rides, in the columns of `COLUMNS`.

    Args:
        spark: makes them, in as many tasks as it has cores.
        batch: which.
        of: how many rides there are in all; they are spread evenly over the months.
    """
    per_ride = max(1, DAYS * 86_400 // of)
    spark.range(batch.first, batch.end, numPartitions=2).createOrReplaceTempView("ride_numbers")
    return spark.sql(
        _RIDE.format(
            first=int(FIRST_DAY.timestamp()),
            per_ride=per_ride,
            jitter=per_ride,
            zones=len(ZONES),
            source="ride_numbers",
        )
    )
