"""Completion for shells."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what completes `lakeward` in SHELL, as in: eval "$(lakeward completion bash)"."""
    made = get_completion_class(shell)
    assert made is not None, "click has each of the choices"
    click.echo(made(ctx.find_root().command, {}, "lakeward", "_LAKEWARD_COMPLETE").source())
