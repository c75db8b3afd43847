"""What it costs to decide who may: by the builtin engine, and by OpenFGA on Postgres, beside a Lakeward that allows everything.

`decisions` measures the builtin engine alone. The others ask three Lakewards over HTTP that share a database, an identity
provider and a store, and differ in who decides; their legs take turns, so each figure is held to what the one that allows
everything reached in the same seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

from bench.authz import checking, decisions, growing, listing, loading
from bench.authz.company import Company, company
from bench.figures import Figure
from bench.plan import Plan
from bench.stack import Stack

BENCH: Final = decisions.BENCH
_MEASURES: Final = (listing.run, loading.run, growing.run, checking.run)


def run(parts: Stack, plan: Plan) -> Iterator[Figure]:
    """All of it; each figure as soon as it is known."""
    yield from decisions.run(parts, plan)
    with company(parts, plan) as its:
        yield from _of_company(its, plan)


def _of_company(its: Company, plan: Plan) -> Iterator[Figure]:
    for measure in _MEASURES:
        yield from asyncio.run(measure(its, plan))
