"""The log: one JSON object a line on stderr, or text for people on a terminal.

A call site writes a constant message and its values as `extra`; request and trace are added from the context. What is
secret by its type, or stands under a key that names a secret, is masked here, wherever it came from.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, TextIO, TypeAlias

from lakeward_servicekit.secrecy import MASK, SecretStr
from lakeward_servicekit.telemetry.correlation import current

if TYPE_CHECKING:
    from collections.abc import Iterator

Format: TypeAlias = Literal["auto", "json", "text"]
Level: TypeAlias = Literal["debug", "info", "warning", "error"]

_SECRET_WORDS: Final = re.compile(
    "password|passphrase|secret|token|authorization|credential|(private|api|access|encryption)[-_]key|cookie|permit",
    re.IGNORECASE,
)
# Names that hold such a word and are no secrets.
_HARMLESS: Final = frozenset(
    {"secret_id", "access_key_id", "token_type", "next_page_token", "page_token", "credential_type"}
)
_OWN: Final = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", "color_message"})
_DEEPEST: Final = 6
_PLAIN: Final = frozenset({bool, int, float, str})
OURS: Final = (
    "lakeward_authz",
    "lakeward_catalog",
    "lakeward_cli",
    "lakeward_components",
    "lakeward_gateway",
    "lakeward_locations",
    "lakeward_servicekit",
    "lakeward_vending",
)
"""Packages whose loggers the configured level is for."""


def configure(*, level: Level = "info", format: Format = "auto", with_source: bool = False) -> None:  # noqa: A002 - the setting's name
    """Send the process's log to stderr; once, from a main. Replaces handlers that were there."""
    stream = sys.stderr
    text = format == "text" or (format == "auto" and stream.isatty())
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        TextFormatter(with_source=with_source, coloured=_coloured(stream))
        if text
        else JsonFormatter(with_source=with_source)
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)  # libraries speak up when something is wrong
    for package in OURS:
        logging.getLogger(package).setLevel(level.upper())
    # What these would cost for each record is paid by call sites that want it.
    logging.logProcesses = logging.logThreads = logging.logMultiprocessing = False


class JsonFormatter(logging.Formatter):
    """One JSON object a line: timestamp, level, logger, message, the request's ids, then the call site's fields."""

    def __init__(self, *, with_source: bool = False) -> None:
        """Format; `with_source` adds file and line."""
        super().__init__()
        self._with_source = with_source

    def format(self, record: logging.LogRecord) -> str:
        """Render a record."""
        line: dict[str, Any] = {
            "timestamp": _timestamp(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line.update(_ids())
        if self._with_source:
            line["source"] = f"{record.pathname}:{record.lineno}"
        line.update((key, value) for key, value in _fields(record) if key not in line)
        if record.exc_info is not None and record.exc_info[1] is not None:
            line["exception"] = _exception(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False, separators=(",", ":"), default=str)


class TextFormatter(logging.Formatter):
    """A line for people: time, level, message, fields as key=value."""

    def __init__(self, *, with_source: bool = False, coloured: bool = False) -> None:
        """Format; `with_source` adds file and line."""
        super().__init__()
        self._with_source = with_source
        self._coloured = coloured

    def format(self, record: logging.LogRecord) -> str:
        """Render a record."""
        fields = dict(_fields(record))
        ids = _ids()
        if "request_id" in ids:
            fields["request_id"] = ids["request_id"]
        if self._with_source:
            fields["source"] = f"{record.pathname}:{record.lineno}"
        told = " ".join(f"{key}={_shown(value)}" for key, value in fields.items())
        level = f"{record.levelname:<7}"
        if self._coloured and record.levelno >= logging.WARNING:
            level = f"\x1b[{31 if record.levelno >= logging.ERROR else 33}m{level}\x1b[0m"
        line = f"{_timestamp(record)[11:23]} {level} {record.getMessage()}{'  ' if told else ''}{told}"
        if record.exc_info is not None and record.exc_info[1] is not None:
            line += "\n" + _exception(record.exc_info[1])
        return line


def masked(key: str, value: object) -> object:
    """`value` as it may be logged under `key`: masked where its type or the key says that it is a secret."""
    return _masked(key, value, 0)


def _masked(key: str, value: object, depth: int) -> object:
    if isinstance(value, SecretStr) or _names_a_secret(key):
        return None if value is None else MASK
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return f"{len(value)} bytes"
        case dict() if depth < _DEEPEST:
            return {str(inner): _masked(str(inner), item, depth + 1) for inner, item in value.items()}
        case list() | tuple() | set() | frozenset() if depth < _DEEPEST:
            return [_masked(key, item, depth + 1) for item in value]
        case _:
            return str(value)


def _names_a_secret(key: str) -> bool:
    return _SECRET_WORDS.search(key) is not None and key.lower().replace("-", "_") not in _HARMLESS


def _fields(record: logging.LogRecord) -> Iterator[tuple[str, object]]:
    for key, value in vars(record).items():
        if key in _OWN or value is None:
            continue
        # most fields of each line are texts and numbers under names of no secret: they are told from others in place
        yield key, value if type(value) in _PLAIN and not _SECRET_WORDS.search(key) else masked(key, value)


def _ids() -> dict[str, str]:
    correlation = current()
    if correlation is None:
        return {}
    return {
        "request_id": correlation.request_id,
        "trace_id": correlation.trace_id,
        "span_id": correlation.span_id,
    }


def _timestamp(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _exception(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)).rstrip()


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return json.dumps(text, ensure_ascii=False) if " " in text or not text else text


def _coloured(stream: TextIO) -> bool:
    return stream.isatty()
