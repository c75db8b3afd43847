"""What the declarations of all tables share: whom they belong to, and how they say what is the same in many."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from lakeward_catalog.adapters.postgres.shared import FOLDED, LOCATION_KEY_INDEXED

metadata = sa.MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(referred_table_name)s_fkey",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)

KEY: Final = sa.Text(collation="C")
TIME: Final = pg.TIMESTAMP(timezone=True)
# The warehouse as no other index has it.
WAREHOUSE_BYTES: Final = sa.text("uuid_send(warehouse_id)")
LOCATION_PREFIX: Final = sa.text(f'("left"({FOLDED}, {LOCATION_KEY_INDEXED}))')


def serves(*statements: str) -> dict[str, tuple[str, ...]]:
    """An index's `info`: the statements that need it, each as `module.NAME`."""
    return {"serves": statements}
