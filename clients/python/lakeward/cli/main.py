"""The `lakeward` command. What it can do is found by entry point, so each distribution that is installed adds its own."""

from __future__ import annotations

from importlib.metadata import entry_points

import click

COMMANDS = "lakeward.commands"
"""Group of entry points: the name of each is a command's, its object a click command."""


class _Installed(click.Group):
    """The commands of whatever is installed; one is imported when it is asked for, and no other."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return sorted(entry_points(group=COMMANDS).names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        for found in entry_points(group=COMMANDS, name=cmd_name):
            command: click.Command = found.load()
            return command
        return None


@click.command(cls=_Installed, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Lakeward, a lakehouse catalog."""
