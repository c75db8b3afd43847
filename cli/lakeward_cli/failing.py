"""How a command ends that can't go on, for the failures that only the whole product's commands meet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lakeward_components.errors import ComponentError
from lakeward_servicekit import process
from lakeward_servicekit.postgres.schemas import MigrationFailed


@contextmanager
def explained() -> Iterator[None]:
    """Turn failures that a user can mend into one message and an exit status; beside those of every process, a command's own."""
    with process.explained():
        try:
            yield
        except ComponentError as error:
            process.end(str(error), process.EX_UNAVAILABLE)
        except MigrationFailed as error:
            process.end(str(error), 1)
