"""How a command ends that can't go on: with what is wrong and what would be right, and a status that says which kind it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

import click

from lakeward_components.errors import ComponentError
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.postgres.migrating import MigrationFailed
from lakeward_servicekit.postgres.schemas import SchemaMismatch
from lakeward_servicekit.settings.problems import SettingsError

# sysexits.h: the configuration is wrong; a service that is needed is not there.
EX_CONFIG: Final = 78
EX_UNAVAILABLE: Final = 69


@contextmanager
def explained() -> Iterator[None]:
    """Turn failures that a user can mend into one message and an exit status."""
    try:
        yield
    except SettingsError as error:
        _end(str(error), EX_CONFIG)
    except (SchemaMismatch, MigrationFailed) as error:
        _end(str(error), 1)
    except ComponentError as error:
        _end(str(error), EX_UNAVAILABLE)
    except Refusal as refusal:
        _end(refusal.message, EX_UNAVAILABLE)
    except OSError as error:
        _end(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", 1)


def _end(message: str, status: int) -> NoReturn:
    click.echo(f"lakeward: {message}", err=True)
    sys.exit(status)
