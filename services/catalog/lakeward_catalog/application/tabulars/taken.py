"""A name that something else has: a conflict says so to whoever may use the name, and what has it to who may see that alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.refs import tabular_ref
from lakeward_catalog.application.tabulars.demands import DEMANDS
from lakeward_catalog.domain.model import Tabular, Warehouse
from lakeward_servicekit.authorization.authorizer import Demand, Need
from lakeward_servicekit.errors import Refusal


async def refuse_taken(
    doors: Doors,
    warehouse: Warehouse,
    by: Tabular,
    *,
    seen: Refusal,
    unseen: Callable[[], Refusal],
    caller: Caller,
) -> NoReturn:
    """Refuse a name. It is asked only here whether the caller sees what has it, so that names that are free cost no question.

    Args:
        doors: ask.
        warehouse: where it is.
        by: what has the name.
        seen: the refusal for who sees it.
        unseen: makes the refusal for who does not; the same for each kind.
        caller: who wants the name.

    Raises:
        Refusal: always.
    """
    see = Demand(tabular_ref(warehouse, by), DEMANDS[by.kind].see)
    await doors.decide(caller, [Need(see, unseen)])
    raise seen
