"""What is said of things in so many words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from lakeward.cli.lake import Lake, speaks
from lakeward.cli.places import inside, place_of
from lakeward.errors import ConfigurationError
from lakeward.management.places import PROJECT, Place
from lakeward.names import is_id

_DEFINED = {"NAME": "name", "ON": "scope", "VALUES": "value-kind", "DESCRIPTION": "description", "ID": "id"}
_SET = {"NAME": "name", "VALUE": "value", "INHERITED FROM": "inherited-from"}
_WHERE = {"ON": "target", "VALUE": "value", "SINCE": "created-at"}
_SCOPES = ("warehouse", "namespace", "table", "view", "generic-table", "column")


@click.group()
def tags() -> None:
    """Define tags, and set them on things. TAG is a name or an id."""


def _on(command: Callable[..., None]) -> Callable[..., None]:
    return inside(click.option("--column", help="On a column of the table, by its name.")(command))


@tags.command("list")
@_on
@click.option("--inherited", is_flag=True, help="With those of what the thing is in.")
@speaks
def listed(lake: Lake, *, inherited: bool, **on: Any) -> None:  # noqa: ANN401 - the options of _on
    """List the project's tags, or those of a thing."""
    place, known = place_of(**on), lake.client.management.tags
    if place == PROJECT:
        lake.output.rows(known.list(), _DEFINED)
    else:
        lake.output.rows(known.on(place, inherited=inherited), _SET)


@tags.command()
@click.argument("tag")
@speaks
def show(lake: Lake, tag: str) -> None:
    """Show what one is, with its values."""
    lake.output.one(lake.client.management.tags.get(tag))


@tags.command()
@click.argument("name")
@click.option(
    "--on", multiple=True, required=True, type=click.Choice(_SCOPES), help="What it may be set on; may be repeated."
)
@click.option("--value", "values", multiple=True, help="One of the values that it may have; may be repeated.")
@click.option("--free", is_flag=True, help="It has whatever value it is given.")
@click.option("--description")
@speaks
def create(
    lake: Lake, name: str, *, on: Sequence[str], values: Sequence[str], free: bool, description: str | None
) -> None:
    """Define a tag called NAME: with --value one of these, with --free any, else it is only set."""
    if free and values:
        raise click.UsageError("say --value or --free, not both")
    made = lake.client.management.tags.create(
        name, on=on, values=list(values) or None, free=free, description=description
    )
    lake.output.done(f"Made tag {made.name}: {made.id}", id=made.id, name=made.name)


@tags.command()
@click.argument("tag")
@click.confirmation_option(prompt="Delete the tag?")
@speaks
def delete(lake: Lake, tag: str) -> None:
    """Delete one that is set on nothing."""
    lake.client.management.tags.delete(tag)
    lake.output.done(f"Deleted {tag}.", deleted=tag)


@tags.command()
@click.argument("tag")
@speaks
def where(lake: Lake, tag: str) -> None:
    """List what one is set on."""
    lake.output.rows(lake.client.management.tags.where(tag), _WHERE)


@tags.command("set")
@click.argument("tag")
@click.argument("value", required=False)
@_on
@speaks
def put(lake: Lake, tag: str, value: str | None, **on: Any) -> None:  # noqa: ANN401 - the options of _on
    """Set one, with VALUE if it has any, on a thing."""
    lake.client.management.tags.set(_name(lake, tag), _thing(**on), value)
    lake.output.done(f"Set {tag}.", set=tag)


@tags.command()
@click.argument("tag")
@_on
@speaks
def unset(lake: Lake, tag: str, **on: Any) -> None:  # noqa: ANN401 - the options of _on
    """Take one off a thing."""
    lake.client.management.tags.unset(_name(lake, tag), _thing(**on))
    lake.output.done(f"{tag} is not set any more.", unset=tag)


def _name(lake: Lake, tag: str) -> str:
    return lake.client.management.tags.get(tag).name if is_id(tag) else tag


def _thing(**on: Any) -> Place:  # noqa: ANN401 - the options of _on
    place = place_of(**on)
    if place == PROJECT:
        raise ConfigurationError("say on what: --warehouse, and what is in it")
    return place
