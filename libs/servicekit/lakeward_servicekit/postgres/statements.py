"""The log of statements: their text and duration, never their parameters.

Each line is written in the context of the task that ran the statement, so it has that request's ids.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.telemetry import spans

if TYPE_CHECKING:
    from asyncpg.connection import LoggedQuery

_LOG: Final = logging.getLogger(__name__)
_WORD: Final = re.compile(r"[a-z]+", re.IGNORECASE)
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


def trace_statement(statement: LoggedQuery) -> None:
    """Record one statement that asyncpg ran as a span of the request that it belongs to: its text, never its parameters."""
    verb = _WORD.search(statement.query)
    attributes = {
        "db.system.name": "postgresql",
        "db.query.text": _SPACE.sub(" ", statement.query).strip()[:_LONGEST],
    }
    if statement.exception is not None:
        attributes["error.type"] = type(statement.exception).__name__
    name = f"postgres {verb.group().lower()}" if verb else "postgres"
    spans.ended(name, statement.elapsed, attributes=attributes)
