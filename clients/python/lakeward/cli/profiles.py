"""Servers under names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from lakeward import profiles as kept
from lakeward.cli.lake import end
from lakeward.cli.output import Output
from lakeward.errors import LakewardError

_SECRET = frozenset({"token", "client-secret"})


@click.group()
def profiles() -> None:
    """Keep servers under names."""


@profiles.command("list")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON, for scripts.")
def listed(*, as_json: bool) -> None:
    """List them; tokens and secrets are not shown."""
    document = _explained(kept.read)
    entries = [
        {
            "name": name,
            "default": name == document.get("default"),
            **{key: "***" if key in _SECRET else value for key, value in told.items()},
        }
        for name, told in sorted(document.get("profiles", {}).items())
    ]
    columns = {"NAME": "name", "URL": "url", "PROJECT": "project", "DEFAULT": "default"}
    Output(as_json=as_json).rows(entries, columns)


@profiles.command()
@click.argument("name")
@click.option("--url", required=True, help="Of the server.")
@click.option("--project", help="Id of the project.")
@click.option("--token-file", type=click.Path(dir_okay=False), help="A file that holds a token.")
@click.option("--token-env", help="A variable that holds a token.")
@click.option("--token-url", help="An identity provider's token endpoint, for an application's credentials.")
@click.option("--client-id", help="Of the application; its secret is asked for.")
@click.option("--scope", help="That the application asks for.")
def add(name: str, **told: str | None) -> None:
    """Keep a server as NAME; the first one is the default."""
    entries: dict[str, str] = {key.replace("_", "-"): value for key, value in told.items() if value}
    if "client-id" in entries:
        entries["client-secret"] = click.prompt("Client secret", hide_input=True)
    _explained(lambda: kept.parse(entries, f"the profile {name!r}"))
    document = _explained(kept.read)
    servers = {**document.get("profiles", {}), name: entries}
    _explained(lambda: kept.write({"default": document.get("default", name), "profiles": servers}))
    click.echo(f"Kept {name} in {kept.path()}.")


@profiles.command()
@click.argument("name")
def use(name: str) -> None:
    """Make NAME the default."""
    _explained(lambda: kept.find(name))
    _explained(lambda: kept.write({**kept.read(), "default": name}))
    click.echo(f"{name} is the default.")


@profiles.command()
@click.argument("name")
def remove(name: str) -> None:
    """Forget NAME."""
    _explained(lambda: kept.find(name))
    document = dict(_explained(kept.read))
    document["profiles"] = {other: told for other, told in document["profiles"].items() if other != name}
    if document.get("default") == name:
        del document["default"]
    _explained(lambda: kept.write(document))
    click.echo(f"Forgot {name}.")


def _explained(step: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the step gives
    try:
        return step()
    except LakewardError as error:
        end(error)
