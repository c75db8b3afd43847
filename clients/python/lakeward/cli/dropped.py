"""What was dropped and can be restored."""

from __future__ import annotations

from collections.abc import Sequence

import click

from lakeward.cli.lake import Lake, speaks
from lakeward.errors import ConfigurationError
from lakeward.management import models
from lakeward.names import same

_COLUMNS = {
    "NAMESPACE": "namespace",
    "NAME": "name",
    "KIND": "typ",
    "DROPPED": "deleted-at",
    "UNTIL": "expiration-date",
    "ID": "id",
}


@click.command()
@click.argument("warehouse")
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Whatever can be restored.")
@speaks
def undrop(lake: Lake, warehouse: str, names: Sequence[str], *, everything: bool) -> None:
    """Restore what was dropped: NAMES like sales.orders, or ids. Without any, list what can be restored.

    All of them are restored, or none.
    """
    place = lake.client.management.dropped(warehouse)
    found = list(place.list())
    if not names and not everything:
        lake.output.rows(found, _COLUMNS)
        return
    wanted = found if everything else [_one(found, name) for name in names]
    if wanted:
        place.restore(*wanted)
    lake.output.done(
        f"Restored {', '.join(_name(each) for each in wanted) or 'nothing: nothing was dropped'}.",
        restored=[str(each.id) for each in wanted],
    )


def _one(found: Sequence[models.DeletedTabularResponse], name: str) -> models.DeletedTabularResponse:
    like = [each for each in found if str(each.id) == name or same(_name(each), name)]
    if not like:
        raise ConfigurationError(f"nothing called {name!r} can be restored")
    if len(like) > 1:
        ids = ", ".join(str(each.id) for each in like)
        raise ConfigurationError(f"{name!r} was dropped {len(like)} times: say which by its id, one of {ids}")
    return like[0]


def _name(dropped: models.DeletedTabularResponse) -> str:
    return ".".join((*dropped.namespace, dropped.name))
