"""Signatures of storage requests, by one client and by 32."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from bench.client import Connection
from bench.figures import Figure, median
from bench.generators import CONNECTIONS, Wrk, run_wrk
from bench.plan import Plan
from bench.stack import Lakeward
from bench.warehouse import OK, Warehouse, make_namespace, make_table, make_warehouse
from lakeward_components.http import request

BENCH: Final = "sign"
_NAMESPACE: Final = "signed"
_TABLE: Final = "signed"


class UselessSignatureError(Exception):
    """The store does not take a request that was signed."""


async def run(served: Lakeward, plan: Plan, *, cores: int) -> Sequence[Figure]:
    """Signatures a second.

    Raises:
        UselessSignatureError: they are quick and wrong.
    """
    warehouse = await make_warehouse(served, vending=False)
    url, asked, headers = await _prepare(served, warehouse)
    body = served.stack.home / "sign.json"
    body.write_bytes(msgspec.json.encode(asked))
    figures: list[Figure] = []
    for connections in (1, CONNECTIONS):
        counted: list[Wrk] = []
        told = ""
        for _ in range(plan.rounds):
            with served.metered() as usage:
                leg = await run_wrk(
                    url,
                    script="post.lua",
                    arguments=[str(body)],
                    seconds=plan.seconds,
                    connections=connections,
                    headers=headers,
                )
            if leg.faults:
                raise UselessSignatureError(f"of {leg.requests} requests {leg.faults}")
            counted.append(leg)
            told = usage.told(cores=cores)
        figures.append(
            Figure(
                BENCH,
                f"{connections} client{'s' if connections > 1 else ''}, {served.composition}",
                median([leg.per_second for leg in counted]),
                "signatures/s",
                detail=f"p50 {median([leg.p50 for leg in counted]) / 1000:.2f} ms, "
                f"p99 {median([leg.p99 for leg in counted]) / 1000:.2f} ms; {told}",
            )
        )
    return figures


async def _prepare(served: Lakeward, warehouse: Warehouse) -> tuple[str, Mapping[str, Any], Mapping[str, str]]:
    """The signer's URL, a request to sign, and headers of the signer; once tried against the store."""
    async with Connection(served.url) as connection:
        await make_namespace(connection, warehouse, _NAMESPACE)
        table = await make_table(connection, warehouse, _NAMESPACE, _TABLE)
        asking = {"x-iceberg-access-delegation": "remote-signing"}
        loaded = (await connection.get(warehouse.table(_NAMESPACE, _TABLE), asking)).expect(OK).json()
        config: Mapping[str, str] = loaded["config"]
        url = config["s3.signer.uri"].rstrip("/") + "/" + config["s3.signer.endpoint"].lstrip("/")
        headers = {name.removeprefix("header."): value for name, value in config.items() if name.startswith("header.")}
        file = f"{served.stack.s3.endpoint}/{table.metadata_location.removeprefix('s3://')}"
        asked = {
            "region": served.stack.s3.region,
            "method": "GET",
            "uri": file,
            "headers": {"Host": [served.stack.s3.endpoint.removeprefix("http://")]},
        }
        path = url.removeprefix(served.url)
        signed = (await connection.post(path, asked, headers)).expect(OK).json()
    sent = {name: ",".join(values) for name, values in signed["headers"].items() if name.lower() != "host"}
    reply = await request("GET", signed["uri"], headers=sent)
    if reply.status != OK:
        raise UselessSignatureError(f"the store answered {reply.status} to a signed request: {reply.body[:300]!r}")
    return url, asked, headers
