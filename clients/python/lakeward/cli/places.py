"""Options that say which place is meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from lakeward.errors import ConfigurationError
from lakeward.management.places import INNER, PROJECT, SERVER, Place


def inside(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a warehouse and of what is in one; `place_of` reads them."""
    for noun, name in reversed(list(INNER.items())):
        command = click.option(f"--{noun.replace('_', '-')}-id", help=f"On a {name} of the warehouse.")(command)
    return click.option("--warehouse", help="On a warehouse, by name or id.")(command)


def place_of(*, server: bool = False, warehouse: str | None, column: str | None = None, **inner: Any) -> Place:  # noqa: ANN401 - the options of `inside`
    """The place that the options name; the project where none does.

    Raises:
        ConfigurationError: they name several.
    """
    said: list[Any] = [(noun, inner[f"{noun}_id"]) for noun in INNER if inner[f"{noun}_id"]]
    if len(said) > 1 or (server and (said or warehouse)) or (said and not warehouse):
        ids = ", ".join(f"--{noun.replace('_', '-')}-id" for noun in INNER)
        raise ConfigurationError(f"say one place: --warehouse, alone or with one of {ids}")
    if server:
        return SERVER
    if warehouse is None:
        return PROJECT
    return Place(said[0][0], warehouse, said[0][1], column or "") if said else Place("warehouse", warehouse)
