"""`lakeward dead-letters`: events that a sink refused, and what becomes of them."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

import click

from lakeward_servicekit.events.dead_letters import PostgresDeadLetters
from lakeward_servicekit.postgres.pools import service_pool
from lakeward_servicekit.process import loaded
from lakeward_servicekit.settings.observability import LogSettings
from lakeward_servicekit.settings.postgres import PostgresSettings

WRITERS = ("catalog", "authz", "vending")
_SHOWN = 100


@dataclasses.dataclass(frozen=True)
class _Stored:
    log: LogSettings
    postgres: PostgresSettings


@dataclasses.dataclass(frozen=True, slots=True)
class Which:
    """Which dead letters are meant; what is None does not narrow.

    Attributes:
        services: whose.
    """

    services: Sequence[str] = WRITERS
    sink: str | None = None
    stream: str | None = None
    sequence: int | None = None


async def show(environ: Mapping[str, str], which: Which) -> None:
    """Print them, the longest refused first, at most a hundred of a service.

    Raises:
        SettingsError: with everything that is wrong.
        Refusal: DATABASE_UNAVAILABLE.
    """
    settings = loaded(_Stored, environ)
    count = 0
    for service in which.services:
        async with _letters(settings.postgres, service) as letters:
            for each in await letters.shown(sink=which.sink, limit=_SHOWN):
                count += 1
                wanted = ", wanted again" if each.again else ""
                click.echo(
                    f"{service} {each.sink} {each.stream} {each.sequence}: {each.kind}.{each.verb} of {each.written_at:%FT%TZ}, "
                    f"{each.size} bytes, refused {each.attempts} times, last at {each.refused_at:%FT%TZ}{wanted}: {each.reason}"
                )
    if not count:
        click.echo("no event was refused")


async def retry(environ: Mapping[str, str], which: Which) -> None:
    """Have them published again, by the processes that serve; say how many.

    Raises:
        SettingsError: with everything that is wrong.
        Refusal: DATABASE_UNAVAILABLE.
    """
    count = await _changed(environ, which, PostgresDeadLetters.retry)
    click.echo(f"{count} events are published again within seconds, by the processes that serve")


async def drop(environ: Mapping[str, str], which: Which) -> None:
    """Forget them; the sink never has them. Say how many.

    Raises:
        SettingsError: with everything that is wrong.
        Refusal: DATABASE_UNAVAILABLE.
    """
    count = await _changed(environ, which, PostgresDeadLetters.drop)
    click.echo(f"{count} events are dropped")


async def _changed(environ: Mapping[str, str], which: Which, change: Callable[..., Awaitable[int]]) -> int:
    settings = loaded(_Stored, environ)
    count = 0
    for service in which.services:
        async with _letters(settings.postgres, service) as letters:
            count += await change(letters, sink=which.sink, stream=which.stream, sequence=which.sequence)
    return count


@asynccontextmanager
async def _letters(settings: PostgresSettings, service: str) -> AsyncIterator[PostgresDeadLetters]:
    async with service_pool(settings, service, size=1, use="dead letters") as pool:
        yield PostgresDeadLetters(pool)
