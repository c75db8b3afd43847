"""`lakeward config`: what is configured, and whether it would do."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from lakeward_cli.settings import EverySetting
from lakeward_servicekit.settings.catalogue import EVERYONE, Service
from lakeward_servicekit.settings.environment import read
from lakeward_servicekit.settings.loading import load
from lakeward_servicekit.settings.showing import effective


async def show(environ: Mapping[str, str], service: str | None) -> None:
    """Print every setting that a service reads, or any does, with its value and where it comes from; secrets are masked."""
    read_by = EVERYONE if service is None else frozenset({Service(service)})
    for shown in effective(read(environ), services=read_by):
        click.echo(str(shown))


async def check(environ: Mapping[str, str], service: str | None) -> None:
    """Print what is in force, and read it as `serve`, or `serve` of one service, would.

    Raises:
        SettingsError: with everything that is wrong.
    """
    await show(environ, service)
    for warning in load(_shape(service), environ).warnings:
        click.echo(f"warning: {warning}", err=True)
    click.echo("the configuration is usable", err=True)


def _shape(service: str | None) -> Any:  # noqa: ANN401 - each service has a class of its own
    return EverySetting if service is None else importlib.import_module(f"lakeward_{service}.settings").Alone
