"""The use cases of tables and views, built from the catalog's parts."""

from __future__ import annotations

from lakeward_catalog.application.tabulars.dropping import TabularDrops
from lakeward_catalog.application.tabulars.listing import TabularListings
from lakeward_catalog.application.tabulars.looking import TabularLooks
from lakeward_catalog.application.tabulars.renaming import TabularRenames
from lakeward_catalog.parts import Parts
from lakeward_catalog.transport.tabulars import LifeCycle


def life_cycle(parts: Parts) -> LifeCycle:
    """What is done with tables and views alike."""
    return LifeCycle(
        list=TabularListings(doors=parts.doors, rules=parts.rules),
        look=TabularLooks(doors=parts.doors),
        drop=TabularDrops(
            doors=parts.doors,
            documents=parts.documents,
            changes=parts.changes,
            once=parts.once,
            announcer=parts.announcer,
            clock=parts.clock,
            rules=parts.rules,
        ),
        rename=TabularRenames(
            doors=parts.doors,
            changes=parts.changes,
            once=parts.once,
            announcer=parts.announcer,
            clock=parts.clock,
        ),
    )
