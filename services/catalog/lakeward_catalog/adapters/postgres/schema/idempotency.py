"""Outcomes of requests that named a key."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from lakeward_catalog.adapters.postgres.schema.declaring import KEY, TIME, metadata, serves

idempotency = sa.Table(
    "idempotency",
    metadata,
    sa.Column("owner", KEY, primary_key=True, doc="a warehouse's or project's id"),
    sa.Column("principal", KEY, primary_key=True),
    sa.Column("key", pg.UUID, primary_key=True),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
    sa.Column("outcome", sa.LargeBinary, nullable=False),
    sa.Column("expires_at", TIME, nullable=False),
    sa.Index("idempotency_expiry", "expires_at", info=serves("sweeps.FORGOTTEN_KEYS")),
)
