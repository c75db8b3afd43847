"""Sessions for point reads."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from lakeward_servicekit.secrecy import SecretStr

_SETTING: Final = ("plan_cache_mode", "force_generic_plan")


def with_generic_plans(url: SecretStr) -> SecretStr:
    """A URL whose sessions plan a prepared statement once.

    For pools that ask one question again and again, with arrays of keys: those look cheap to plan anew for each number of keys,
    and planning three joins costs more than running them. Changes and listings are better off with plans for what they are given.
    """
    parts = urlsplit(url.get_secret_value())
    query = [*parse_qsl(parts.query, keep_blank_values=True), _SETTING]
    return SecretStr(urlunsplit(parts._replace(query=urlencode(query))))
