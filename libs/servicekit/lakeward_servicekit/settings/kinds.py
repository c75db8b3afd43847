"""What a value may be, and how text becomes it.

Text settings are taken as they stand, digits and braces included. Spans of time take `30s`, `500ms`, ISO 8601 (`PT30M`)
and plain seconds, wherever one is asked for, so that no name has a unit of its own to remember.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import re
import uuid
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final, Generic, TypeAlias, TypeVar
from urllib.parse import urlsplit

from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings import inline
from lakeward_servicekit.settings.inline import Raw

_UNITS: Final = {
    "us": timedelta(microseconds=1),
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "min": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
}
_SPAN: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(us|ms|s|min|m|h|d)?")
_ISO_SPAN: Final = re.compile(
    r"P(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?",
    re.IGNORECASE,
)
_U32: Final = 2**32 - 1

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

T_co = TypeVar("T_co", covariant=True)
Word = TypeVar("Word", bound=str)
_HIGHEST_PORT: Final = 65535


class NotThat(ValueError):  # noqa: N818 - it is an answer about a value, said in a problem's message
    """A value that can't be used. Its text says what would be right, as in "a port from 1 to 65535"."""


@dataclasses.dataclass(frozen=True, slots=True)
class Kind(Generic[T_co]):
    """A type of value.

    Attributes:
        name: for documentation: "duration".
        parse: from the value as written to the value; raises NotThat.
        secret: whether its values are masked wherever they are shown, and may come from a file (`<NAME>_FILE`).
    """

    name: str
    parse: Callable[[Raw], T_co]
    secret: bool = False


def _written(raw: Raw, right: str) -> str:
    if not isinstance(raw, str):
        raise NotThat(right)
    return raw.strip()


def _text(raw: Raw) -> str:
    if not isinstance(raw, str):
        raise NotThat("text")
    return raw


def _boolean(raw: Raw) -> bool:
    match _written(raw, "true or false").lower():
        case "true":
            return True
        case "false":
            return False
        case _:
            raise NotThat("true or false")


def integer(*, minimum: int = 0, maximum: int = _U32) -> Kind[int]:
    """A whole number within bounds, both included."""
    right = f"a whole number from {minimum} to {maximum}"

    def parse(raw: Raw) -> int:
        written = _written(raw, right)
        if not re.fullmatch(r"[+-]?\d{1,20}", written, re.ASCII) or not minimum <= int(written) <= maximum:
            raise NotThat(right)
        return int(written)

    return Kind("integer", parse)


def word(*words: Word, spellings: Mapping[str, Word] | None = None) -> Kind[Word]:
    """One of some words, in any case; `-` and `_` are alike. `spellings` maps further ones to a word."""
    right = "one of " + ", ".join(words)
    known = {spelled.lower().replace("_", "-"): meant for spelled, meant in (spellings or {}).items()}
    known |= {each.lower().replace("_", "-"): each for each in words}

    def parse(raw: Raw) -> Word:
        meant = known.get(_written(raw, right).lower().replace("_", "-"))
        if meant is None:
            raise NotThat(right)
        return meant

    return Kind("word", parse)


def span_of(text: str) -> timedelta | None:
    """A span of time from `30s`, `500ms`, `PT30M` or plain seconds; None where the text is none of these."""
    plain = _SPAN.fullmatch(text)
    try:
        if plain is not None:
            return float(plain[1]) * _UNITS[plain[2] or "s"]
        iso = _ISO_SPAN.fullmatch(text)
        if iso is None or text[-1:].upper() in {"P", "T"}:
            return None
        return timedelta(**{unit: float(count) for unit, count in iso.groupdict(default="0").items()})
    except OverflowError:
        return None


def _duration(raw: Raw) -> timedelta:
    right = "a span of time such as 30s, 500ms, PT30M or plain seconds"
    span = span_of(_written(raw, right))
    if span is None:
        raise NotThat(right)
    return span


def _comma_list(raw: Raw) -> tuple[str, ...]:
    right = 'a list such as a,b or ["a", "b"]'
    if isinstance(raw, str) and raw.strip().startswith("["):
        raw = _structure(raw, right)
    if isinstance(raw, list):
        return tuple(_written(item, right) for item in raw)
    return tuple(item.strip() for item in _written(raw, right).split(",") if item.strip())


def _array(raw: Raw) -> tuple[str, ...]:
    right = 'an array with brackets such as ["a", "b"]'
    items = _structure(raw, right) if isinstance(raw, str) else raw
    if not isinstance(items, list) or not all(isinstance(item, str) and item for item in items):
        raise NotThat(right)
    return tuple(str(item) for item in items)


def _table(raw: Raw) -> Mapping[str, str]:
    right = 'a table of texts such as {"a.b"="c", d="e"}'
    table = _structure(raw, right) if isinstance(raw, str) else raw
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        raise NotThat(right)
    return {key: str(value) for key, value in table.items()}


def _structure(text: str, right: str) -> Raw:
    try:
        return inline.parse(text.strip())
    except ValueError as why:
        raise NotThat(f"{right}: {why}") from why


def url(*schemes: str) -> Kind[str]:
    """An absolute URL with one of `schemes`."""
    right = f"a URL such as {schemes[0]}://host"

    def parse(raw: Raw) -> str:
        written = _written(raw, right)
        try:
            parts = urlsplit(written)
            usable = parts.scheme.lower() in schemes and (parts.port is None or parts.port > 0)
        except ValueError:
            usable = False
            parts = urlsplit("")
        if not usable or not (parts.hostname or parts.query) or any(character.isspace() for character in written):
            raise NotThat(right)
        return written

    return Kind("url", parse)


def _address(raw: Raw) -> str:
    right = "an IP address such as 0.0.0.0 or ::"
    try:
        return str(ipaddress.ip_address(_written(raw, right)))
    except ValueError as why:
        raise NotThat(right) from why


def _networks(raw: Raw) -> tuple[Network, ...]:
    right = "a list of IP addresses and networks such as 10.0.0.0/8,::1"
    try:
        return tuple(ipaddress.ip_network(item) for item in _comma_list(raw))
    except ValueError as why:
        raise NotThat(right) from why


def _endpoint(raw: Raw) -> str:
    right = "host:port such as 127.0.0.1:8191 or [::1]:8191"
    host, colon, port = _written(raw, right).rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    if not colon or not host or (":" in host and not bracketed) or not port.isdecimal() or int(port) > _HIGHEST_PORT:
        raise NotThat(right)
    return f"{host}:{int(port)}"


def _uuid(raw: Raw) -> uuid.UUID:
    try:
        return uuid.UUID(_written(raw, "a UUID"))
    except ValueError as why:
        raise NotThat("a UUID") from why


def _path(raw: Raw) -> Path:
    written = _written(raw, "a path")
    if not written:
        raise NotThat("a path")
    return Path(written)


def matching(pattern: str, right: str) -> Kind[str]:
    """Text of a certain form; `right` says it in words."""
    compiled = re.compile(pattern)

    def parse(raw: Raw) -> str:
        written = _written(raw, right)
        if not compiled.fullmatch(written):
            raise NotThat(right)
        return written

    return Kind("text", parse)


def _id_pairs(raw: Raw) -> tuple[tuple[str, str], ...]:
    right = "a list of id:value pairs, each id once"
    pairs = [item.partition(":") for item in _comma_list(raw)]
    if not all(key and colon and value for key, colon, value in pairs) or len({pair[0] for pair in pairs}) < len(pairs):
        raise NotThat(right)
    return tuple((key.strip(), value.strip()) for key, _, value in pairs)


def secret(kind: Kind[str]) -> Kind[SecretStr]:
    """The same, and nobody may see it."""
    return Kind(kind.name, lambda raw: SecretStr(kind.parse(raw)), secret=True)


def _secret_pairs(raw: Raw) -> tuple[tuple[str, SecretStr], ...]:
    return tuple((key, SecretStr(value)) for key, value in _id_pairs(raw))


def _secret_table(raw: Raw) -> Mapping[str, SecretStr]:
    return {key: SecretStr(value) for key, value in _table(raw).items()}


def _as_written(raw: Raw) -> Raw:
    return raw


TEXT: Final = Kind("text", _text)
SECRET: Final = secret(TEXT)
BOOLEAN: Final = Kind("boolean", _boolean)
INTEGER: Final = integer()
COUNT: Final = integer(minimum=1)
PORT: Final = integer(minimum=0, maximum=_HIGHEST_PORT)
DURATION: Final = Kind("duration", _duration)
LIST: Final = Kind("comma list", _comma_list)
ARRAY: Final = Kind("array", _array)
TABLE: Final = Kind("table", _table)
SECRET_TABLE: Final = Kind("table", _secret_table, secret=True)
HTTP_URL: Final = url("http", "https")
POSTGRES_URL: Final = secret(url("postgresql", "postgres"))
IP: Final = Kind("IP address", _address)
NETWORKS: Final = Kind("networks", _networks)
ENDPOINT: Final = Kind("host:port", _endpoint)
UUID: Final = Kind("UUID", _uuid)
PATH: Final = Kind("path", _path)
ID_PAIRS: Final = Kind("id:value list", _id_pairs)
SECRET_PAIRS: Final = Kind("id:value list", _secret_pairs, secret=True)
AS_WRITTEN: Final = Kind("any", _as_written)
SECRET_AS_WRITTEN: Final = Kind("any", _as_written, secret=True)
