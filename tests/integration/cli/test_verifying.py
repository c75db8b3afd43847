"""`lakeward authz verify`, on what a catalog and an authz have written."""

from __future__ import annotations

from uuid import UUID

import pytest

from lakeward_cli.verifying import verify
from tests.support.catalog.joined import joined_at

pytestmark = pytest.mark.integration


async def test_the_command_says_what_differs_and_ends_with_1_until_it_is_repaired(
    postgres_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = {"LAKEKEEPER__PG_DATABASE_URL_WRITE": postgres_url}
    async with joined_at(postgres_url) as joined:
        house = await joined.a_house()
        await house.make_namespace("sales")
        await house.make_table("sales", "orders")
        assert await verify(environment, repair=False) == 0
        assert capsys.readouterr().out == "authz knows of every object, and of no other\n"

        warehouse, lost = UUID(house.warehouse_id), await joined.pool.fetchval("select incarnation from tabular")
        await joined.authz.pool.execute(
            "delete from objects where warehouse_id = $1 and object_id = $2", warehouse, lost
        )
        assert await verify(environment, repair=False) == 1
        told = capsys.readouterr()
        line = f"missing in authz: table {lost} 'sales.orders' in warehouse {warehouse} of project"
        assert told.out.startswith(line)
        assert "--repair" in told.err

        assert await verify(environment, repair=True) == 0
        assert capsys.readouterr().out.splitlines()[-1] == "differences: 1; all of them are repaired"
        assert await joined.differences() == []
        assert await verify(environment, repair=False) == 0
