"""Sessions whose statements go by keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from lakeward_servicekit.secrecy import SecretStr

# While a table is small, reading all of it is cheapest, and a plan is kept: of a table that grows, each statement would read all
# until somebody analyses it.
_BY_KEYS: Final = {"enable_seqscan": "off"}
_ONCE: Final = {
    "plan_cache_mode": "force_generic_plan",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    **_BY_KEYS,
}


def with_generic_plans(url: SecretStr) -> SecretStr:
    """A URL whose sessions plan a prepared statement once, as one that looks up key by key.

    For pools that ask one question again and again, with arrays of keys: those look cheap to plan anew for each number of keys,
    and planning three joins costs more than running them. Changes and listings are better off with plans for what they are given.
    """
    return _with(url, _ONCE)


def with_plans_by_keys(url: SecretStr) -> SecretStr:
    """A URL whose sessions read no table from one end to the other where an index has what is looked for.

    For pools whose statements are all about rows that they name, as changes are.
    """
    return _with(url, _BY_KEYS)


def _with(url: SecretStr, settings: Mapping[str, str]) -> SecretStr:
    parts = urlsplit(url.get_secret_value())
    query = [*parse_qsl(parts.query, keep_blank_values=True), *settings.items()]
    return SecretStr(urlunsplit(parts._replace(query=urlencode(query))))
