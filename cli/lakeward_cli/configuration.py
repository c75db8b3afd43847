"""`lakeward config`: what is configured, and whether it would do."""

from __future__ import annotations

from collections.abc import Mapping

import click

from lakeward_cli.settings import EverySetting
from lakeward_servicekit.settings.environment import read
from lakeward_servicekit.settings.loading import load
from lakeward_servicekit.settings.showing import effective


async def show(environ: Mapping[str, str]) -> None:
    """Print every setting with its value and where it comes from; secrets are masked."""
    for shown in effective(read(environ)):
        click.echo(str(shown))


async def check(environ: Mapping[str, str]) -> None:
    """Read everything as `serve` would.

    Raises:
        SettingsError: with everything that is wrong.
    """
    for warning in load(EverySetting, environ).warnings:
        click.echo(f"warning: {warning}", err=True)
    click.echo("the configuration is usable")
