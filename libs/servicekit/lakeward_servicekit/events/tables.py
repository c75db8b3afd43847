"""The tables of events, for the metadata of a service's migrations; nothing that serves imports it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

_KEY: Final = sa.Text(collation="C")
_TIME: Final = pg.TIMESTAMP(timezone=True)


def define_events(metadata: sa.MetaData) -> None:
    """Add the tables of events to a service's metadata; a migration creates them, and the partitions of the log."""
    sa.Table(
        "outbox",
        metadata,
        sa.Column("outbox_id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("event_id", pg.UUID, nullable=False),
        sa.Column("stream", _KEY, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("verb", sa.Text, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("written_at", _TIME, nullable=False, server_default=sa.func.clock_timestamp()),
        # Rows live for milliseconds: it is the dead ones that cost.
        postgresql_with={"autovacuum_vacuum_scale_factor": 0, "autovacuum_vacuum_threshold": 2000},
    )
    sa.Table(
        "event_log",
        metadata,
        sa.Column("stream", _KEY, primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True, doc="1 and up within the stream, without gaps"),
        sa.Column("slot", sa.SmallInteger, primary_key=True, doc="the day, modulo the number of slots"),
        sa.Column("event_id", pg.UUID, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("verb", sa.Text, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("at", _TIME, nullable=False, doc="when the change wrote it"),
        postgresql_partition_by="LIST (slot)",
    )
    sa.Table(
        "event_stream",
        metadata,
        sa.Column("stream", _KEY, primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False, doc="of the newest event"),
        postgresql_with={"fillfactor": 50},
    )
    sa.Table(
        "sink_cursor",
        metadata,
        sa.Column("sink", _KEY, primary_key=True),
        sa.Column("stream", _KEY, primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False, doc="of the newest event that the sink took"),
        postgresql_with={"fillfactor": 50},
    )
    sa.Table(
        "dead_letter",
        metadata,
        sa.Column("sink", _KEY, primary_key=True),
        sa.Column("stream", _KEY, primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True),
        sa.Column("event_id", pg.UUID, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("verb", sa.Text, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("at", _TIME, nullable=False, doc="when the change wrote it"),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("refused_at", _TIME, nullable=False, server_default=sa.func.clock_timestamp()),
        sa.Column(
            "again", sa.Boolean, nullable=False, server_default=sa.false(), doc="it is to be published once more"
        ),
    )


def define_snapshots(metadata: sa.MetaData, *, newest: Mapping[str, object] | None = None) -> None:
    """Add the tables of snapshots; `newest` is what the service says of the index by which the newest one is found."""
    sa.Table(
        "event_snapshot",
        metadata,
        sa.Column("stream", _KEY, nullable=False),
        sa.Column("snapshot_id", pg.UUID, primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False, doc="of the last event whose change is in it"),
        sa.Column("entries", sa.BigInteger, nullable=False),
        sa.Column("made_at", _TIME, nullable=False),
        sa.Index("event_snapshot_newest", "stream", "made_at", info={**(newest or {})}),
        # Made again of what is there, where a crash took it.
        prefixes=["UNLOGGED"],
    )
    sa.Table(
        "event_snapshot_entry",
        metadata,
        sa.Column("snapshot_id", pg.UUID, primary_key=True),
        sa.Column("entry", sa.BigInteger, primary_key=True, doc="1 and up, without gaps"),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("verb", sa.Text, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        prefixes=["UNLOGGED"],
    )
