"""Documents that commands take: profiles and credentials, which don't belong on a command line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

from lakeward.errors import ConfigurationError


def document(file: IO[str]) -> Mapping[str, Any]:
    """A JSON object.

    Raises:
        ConfigurationError: it is none. The text is not told: it may hold secrets.
    """
    try:
        found = json.load(file)
    except ValueError as error:
        reason = f"{error.msg} in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "it is no text"
        raise ConfigurationError(f"{file.name} is no JSON document: {reason}") from None
    if not isinstance(found, dict):
        raise ConfigurationError(f"{file.name} holds no JSON object")
    return found
