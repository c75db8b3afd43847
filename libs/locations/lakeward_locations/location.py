"""A location: a directory or file in an object store, parsed once into a form that can't be misread."""

from __future__ import annotations

import dataclasses
import enum
import functools
import re
from typing import Final, Self

from lakeward_locations.characters import hidden_character, is_sound, segment_fault

MAX_BYTES: Final = 4096


class Family(enum.StrEnum):
    """Schemes that name the same store."""

    S3 = "s3"
    AZURE = "abfss"
    GCS = "gs"


SCHEMES: Final = {
    "s3": Family.S3,
    "s3a": Family.S3,
    "s3n": Family.S3,
    "abfss": Family.AZURE,
    "wasbs": Family.AZURE,
    "gs": Family.GCS,
}

_SPLIT: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(?:/(.*))?\Z", re.DOTALL)
_HOST: Final = re.compile(r"[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_-])?\Z")
_SHOWN: Final = 200
_REMEMBERED_CHARACTERS: Final = 512


class LocationError(ValueError):
    """A text that is no location.

    Attributes:
        location: the text, cut to a length that can be shown.
        fault: what is wrong with it.
    """

    def __init__(self, location: str, fault: str) -> None:
        """Say that `location` is not one because of `fault`."""
        # a lone surrogate has no UTF-8, and what is shown must travel
        self.location: Final = location[:_SHOWN].encode(errors="backslashreplace").decode()
        self.fault: Final = fault
        super().__init__(f"{self.location!r} is not a location: {fault}")


@dataclasses.dataclass(frozen=True, slots=True)
class Location:
    """A place in an object store. Made by `parse`; two spellings of one place have one `key`.

    Attributes:
        scheme: as given, in lower case; one of `SCHEMES`.
        host: the authority in lower case: a bucket, or "filesystem@account.host".
        segments: the path, case kept; empty for the whole bucket. None is empty, holds a slash or is a dot segment.
        key: "<family>://<canonical host>/seg/seg/". A place lies inside another exactly when its key starts with the
            other's, because each segment is closed by a slash that no segment holds.
    """

    scheme: str
    host: str
    segments: tuple[str, ...]
    key: str = dataclasses.field(compare=False, repr=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a location; one trailing slash makes no difference.

        Raises:
            LocationError: not an absolute URI of a known scheme, over 4096 bytes, with a query, a fragment, user
                information or a port, a hidden character, or a segment that is empty or could be read as structure.
        """
        return cls._of(*(_parts(text) if len(text) <= _REMEMBERED_CHARACTERS else _parts.__wrapped__(text)))

    @classmethod
    def _of(cls, scheme: str, host: str, segments: tuple[str, ...]) -> Self:
        family = SCHEMES[scheme]
        key = "/".join((f"{family}:/", _canonical_host(family, host), *segments, ""))
        return cls(scheme, host, segments, key)

    @property
    def family(self) -> Family:
        """The store that the scheme names."""
        return SCHEMES[self.scheme]

    @property
    def bucket(self) -> str:
        """The bucket, or Azure's filesystem."""
        return self.host.partition("@")[0]

    @property
    def path(self) -> str:
        """The object key: segments joined by slashes, without an outer slash; "" for the whole bucket."""
        return "/".join(self.segments)

    @property
    def prefix(self) -> str:
        """The key prefix of everything inside: `path` and a slash; "" for the whole bucket."""
        return "".join(f"{segment}/" for segment in self.segments)

    @property
    def directory(self) -> str:
        """The URI with a trailing slash."""
        return f"{self.scheme}://{self.host}/{self.prefix}"

    @property
    def key_end(self) -> str:
        """The first text, by code points, after the keys of everything here or inside.

        In SQL, over a column of collation "C": inside or equal is `key <= other.key and other.key < key_end`.
        """
        return self.key[:-1] + chr(ord("/") + 1)

    @property
    def folded_key(self) -> str:
        """The key without regard to case: one for all places that a store may take for one, that of an escape's digits included.

        Folding goes character by character, so what lies inside lies inside when both are folded.
        """
        return fold(self.key)

    def enclosing_keys(self) -> tuple[str, ...]:
        """Keys of all places that strictly contain this one, the bucket first: what could be taken above it."""
        head = self._of(self.scheme, self.host, ()).key
        keys = [head]
        for segment in self.segments:
            keys.append(f"{keys[-1]}{segment}/")
        return tuple(keys[:-1])

    def contains(self, other: Location) -> bool:
        """Whether `other` is this place or lies inside it, by whole segments; schemes of one family count as one."""
        return other.key.startswith(self.key)

    def strictly_contains(self, other: Location) -> bool:
        """Whether `other` lies inside this place and is not it."""
        return len(other.key) > len(self.key) and other.key.startswith(self.key)

    def overlaps(self, other: Location, *, folded: bool = False) -> bool:
        """Whether the two are one place or one lies inside the other; `folded`: without regard to case."""
        ours, theirs = (self.folded_key, other.folded_key) if folded else (self.key, other.key)
        return ours.startswith(theirs) or theirs.startswith(ours)

    def join(self, *segments: str) -> Self:
        """The place below, each argument one segment.

        Raises:
            LocationError: an argument is not one segment, or the whole gets too long.
        """
        joined = self._of(self.scheme, self.host, self.segments + segments)
        text = str(joined)
        if _length(text) > MAX_BYTES:
            raise LocationError(text, f"it is longer than {MAX_BYTES} bytes")
        for segment in segments:
            if hidden_character(segment) is not None or "?" in segment or "#" in segment:
                raise LocationError(text, f"{segment!r} holds a character that no location may hold")
            if not is_sound(segment) and (fault := segment_fault(segment)) is not None:
                raise LocationError(text, f"it has a segment that {fault}")
        return joined

    def parent(self) -> Self:
        """The place that it lies in.

        Raises:
            ValueError: it is a whole bucket.
        """
        if not self.segments:
            raise ValueError(f"{self} lies in nothing")
        return self._of(self.scheme, self.host, self.segments[:-1])

    def __str__(self) -> str:
        """The URI without a trailing slash."""
        return "/".join((f"{self.scheme}:/", self.host, *self.segments))


def fold(key: str) -> str:
    """A key, or the beginning of one, without regard to case."""
    return key.casefold()


# A place is read again and again on the way of one request, and by the next ones.
@functools.lru_cache(maxsize=1024)
def _parts(text: str) -> tuple[str, str, tuple[str, ...]]:
    """Scheme, host and segments; see `Location.parse`."""
    if _length(text) > MAX_BYTES:
        raise LocationError(text, f"it is longer than {MAX_BYTES} bytes")
    if (hidden := hidden_character(text)) is not None:
        raise LocationError(text, f"it holds the invisible character U+{ord(hidden):04X}")
    for mark, part in (("?", "query"), ("#", "fragment")):
        if mark in text:
            raise LocationError(text, f"it has a {part}; escape {mark!r} as %{ord(mark):02X}")
    split = _SPLIT.match(text)
    if split is None:
        raise LocationError(text, "it is not absolute; it starts with a scheme such as s3://")
    scheme, host, path = split[1].lower(), split[2].lower(), split[3] or ""
    family = SCHEMES.get(scheme)
    if family is None:
        raise LocationError(text, f"its scheme is {scheme}; known are {', '.join(SCHEMES)}")
    if (fault := _host_fault(family, split[2])) is not None:
        raise LocationError(text, fault)
    segments = tuple(path.removesuffix("/").split("/")) if path else ()
    for segment in segments:
        if not is_sound(segment) and (fault := segment_fault(segment)) is not None:
            raise LocationError(text, f"it has a segment that {fault}")
    return scheme, host, segments


def _length(text: str) -> int:
    # lone surrogates have no UTF-8; they are refused as hidden, after the length
    return len(text.encode(errors="surrogatepass"))


def _host_fault(family: Family, host: str) -> str | None:
    filesystem, at, account = host.partition("@")
    if family is Family.AZURE:
        if not at or not filesystem or not account:
            return "its host is not <filesystem>@<account>.<host>"
        parts = [filesystem, account]
    else:
        if at:
            return "it has user information before its host"
        parts = [filesystem]
    if not all(parts):
        return "its host is empty"
    for part in parts:
        if part.endswith("."):
            return "its host ends in a dot"
        if ".." in part or not _HOST.match(part.lower()) or not part.isascii():
            return f"its host {part!r} is not made of letters, digits, dots and dashes"
    return None


def _canonical_host(family: Family, host: str) -> str:
    # one Azure account is reached by two service names; files written by one are read by the other
    return host.replace(".blob.", ".dfs.", 1) if family is Family.AZURE else host
