"""The log of statements: their text and duration, never their parameters.

Each line is written in the context of the task that ran the statement, so it has that request's ids.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from asyncpg.connection import LoggedQuery

_LOG: Final = logging.getLogger(__name__)
_SPACE: Final = re.compile(r"\s+")
_LONGEST: Final = 2_000


def log_statement(statement: LoggedQuery) -> None:
    """Log one statement that asyncpg ran; `elapsed_ms` includes the wire."""
    failed = None if statement.exception is None else type(statement.exception).__name__
    _LOG.info(
        "statement",
        extra={
            "statement": _SPACE.sub(" ", statement.query).strip()[:_LONGEST],
            "elapsed_ms": round(statement.elapsed * 1000, 3),
            "failed_with": failed,
        },
    )
