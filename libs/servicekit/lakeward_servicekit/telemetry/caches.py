"""What is told of caches: how much they hold, and how often what was looked for was there.

A cache counts for itself, in two numbers that whoever looks into it adds to; here they are read when somebody asks.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Final, Protocol, TypeVar

from lakeward_servicekit.telemetry.metrics import Counter, Gauge, Labels

SIZE: Final = Gauge("lakekeeper_cache_size", "Entries that a cache holds.", ("cache_type",))
HITS: Final = Counter("lakekeeper_cache_hits_total", "Looks into a cache that found what was good.", ("cache_type",))
MISSES: Final = Counter("lakekeeper_cache_misses_total", "Looks into a cache that did not.", ("cache_type",))


class Counting(Protocol):
    """A cache that counts looks into it."""

    hits: int
    misses: int

    def __len__(self) -> int:
        """Entries."""
        ...


Cache = TypeVar("Cache", bound=Counting)
_told: Final[list[tuple[str, weakref.ref[Counting]]]] = []


def told(kind: str, cache: Cache) -> Cache:
    """Tell of a cache from now on, under one of a few words such as "secrets"; the cache itself. What it counted goes with it."""
    _told[:] = [each for each in _told if each[1]() is not None]
    _told.append((kind, weakref.ref(cache)))
    return cache


def _read(of: Callable[[Counting], float]) -> Callable[[], Iterator[tuple[Labels, float]]]:
    def reader() -> Iterator[tuple[Labels, float]]:
        for kind, reference in tuple(_told):
            cache = reference()
            if cache is not None:
                yield (kind,), of(cache)

    return reader


SIZE.always_read_from(_read(len))
HITS.always_read_from(_read(lambda cache: cache.hits))
MISSES.always_read_from(_read(lambda cache: cache.misses))
