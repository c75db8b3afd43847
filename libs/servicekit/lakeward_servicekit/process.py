"""The life of a process: settings and log at its start, waiting to be told to stop, and how it ends when it can't go on."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any, Final, NoReturn, TypeVar

import uvloop

from lakeward_servicekit.allocation import give_back_large_blocks, give_back_what_is_free
from lakeward_servicekit.collector import TIDY_SECONDS, set_thresholds, settled
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.postgres.schemas import SchemaMismatch
from lakeward_servicekit.settings.loading import load
from lakeward_servicekit.settings.observability import LogSettings
from lakeward_servicekit.settings.problems import EXIT_CODE, SettingsError
from lakeward_servicekit.telemetry.logs import configure

_log: Final = logging.getLogger(__name__)
T = TypeVar("T")

EX_UNAVAILABLE: Final = 69  # of sysexits.h: a service that is needed is not there
_INTERRUPTED: Final = 130
_LOOK_SECONDS: Final = 5.0


def loaded(shape: type[T], environ: Mapping[str, str]) -> T:
    """Settings from the environment, with the log set up and told of every warning.

    Raises:
        SettingsError: with everything that is wrong.
    """
    log = load(LogSettings, environ).settings
    configure(level=log.level, format=log.format, with_source=log.with_source)
    found = load(shape, environ)
    for warning in found.warnings:
        _log.warning("look at a setting", extra={"warning": warning})
    return found.settings


async def told_to_stop() -> None:
    """Return at the first SIGINT or SIGTERM; a second one is not caught, and ends the process at once.

    Every process that serves waits here once it has started, so here its objects leave the garbage collector's sight.
    """
    loop, told = asyncio.get_running_loop(), asyncio.Event()
    caught = (signal.SIGINT, signal.SIGTERM)
    for number in caught:
        loop.add_signal_handler(number, told.set)
    try:
        with settled() as kept:
            give_back_what_is_free()
            _log.info("started", extra={"frozen": gc.get_freeze_count(), "thresholds": gc.get_threshold()})
            with _again_and_again(kept.tidy, seconds=TIDY_SECONDS):
                while not await _within(_LOOK_SECONDS, told):
                    kept.look()
    finally:
        for number in caught:
            loop.remove_signal_handler(number)


@contextlib.contextmanager
def _again_and_again(call: Callable[[], float], *, seconds: float) -> Iterator[None]:
    """Have the loop call it after so many seconds, and each time after as many as it says, until the block ends."""
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle

    def turn() -> None:
        nonlocal timer
        timer = loop.call_later(call(), turn)

    timer = loop.call_later(seconds, turn)
    try:
        yield
    finally:
        timer.cancel()


async def _within(seconds: float, told: asyncio.Event) -> bool:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(told.wait(), seconds)
    return told.is_set()


def run(main: Coroutine[Any, Any, int | None]) -> NoReturn:
    """Run a process to its exit status; what a user can mend is one message, not a stack."""
    give_back_large_blocks()
    set_thresholds()
    with explained():
        try:
            sys.exit(uvloop.run(main) or 0)
        except KeyboardInterrupt:
            sys.exit(_INTERRUPTED)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Turn failures that a user can mend into one message and an exit status."""
    try:
        yield
    except SettingsError as error:
        end(str(error), EXIT_CODE)
    except SchemaMismatch as error:
        end(str(error), 1)
    except Refusal as refusal:
        end(refusal.message, EX_UNAVAILABLE)
    except OSError as error:
        end(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", 1)


def end(message: str, status: int) -> NoReturn:
    """Say why on stderr, and exit."""
    sys.stderr.write(f"lakeward: {message}\n")
    sys.exit(status)
