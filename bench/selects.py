"""Documents as rows of a table of Postgres, for pgbench to select as Lakeward has to load them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import asyncpg

from bench.stack import Stack


async def select_of(parts: Stack, name: str, bodies: Sequence[bytes]) -> Path:
    """pgbench's script that selects one of these by primary key, at random.

    They are text: a client of Postgres gets bytea as hexadecimal, twice as long.

    Args:
        parts: with the Postgres that Lakeward works on.
        name: of the table; it is made anew.
        bodies: what is selected.
    """
    connection = await asyncpg.connect(parts.database)
    try:
        await connection.execute("create schema if not exists bench")
        await connection.execute(f"drop table if exists bench.{name}")
        await connection.execute(f"create table bench.{name} (id bigint primary key, body text not null)")
        await connection.execute(f"alter table bench.{name} alter column body set storage external")
        await connection.executemany(
            f"insert into bench.{name} values ($1, $2)",
            [(number, body.decode()) for number, body in enumerate(bodies, start=1)],
        )
        await connection.execute(f"vacuum (analyze, freeze) bench.{name}")
    finally:
        await connection.close()
    script = parts.home / f"{name}.sql"
    chosen = f"\\set id random(1, {len(bodies)})\n" if len(bodies) > 1 else "\\set id 1\n"
    script.write_text(f"{chosen}select body from bench.{name} where id = :id;\n", encoding="ascii")
    return script
