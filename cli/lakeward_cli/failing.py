"""How a command ends that can't go on, for the failures that only the whole product's commands meet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lakeward_components.errors import ComponentError
from lakeward_servicekit.postgres.schemas import MigrationFailed
from lakeward_servicekit.process import EX_UNAVAILABLE, end


@contextmanager
def explained() -> Iterator[None]:
    """Turn them into one message and an exit status; those of every process are explained where it is run."""
    try:
        yield
    except ComponentError as error:
        end(str(error), EX_UNAVAILABLE)
    except MigrationFailed as error:
        end(str(error), 1)
