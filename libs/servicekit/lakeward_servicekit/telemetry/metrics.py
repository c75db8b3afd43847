"""Metrics: what a process counts, each declared once beside what it counts.

A family is a metric with its labels; its series are made where a part is made, not where it works: `series` looks one up, and
what a request does to a series is an addition to a number of Python. Nothing is locked, so a series is written by one thread
alone, the loop's; a scrape reads it from another one and may see a sum a moment before its count.

What is known anyway (how large a pool is, what a cache holds) is not counted a second time: a reader tells it when somebody asks.

A label's values come from a fixed set: methods, routes, queues, outcomes. Never an id, a name, or what a caller sent.
`exposition` shows the families to Prometheus.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Final, Generic, Literal, TypeAlias, TypeVar

Kind: TypeAlias = Literal["counter", "gauge", "histogram"]
Labels: TypeAlias = tuple[str, ...]
Reader: TypeAlias = Callable[[], Iterable[tuple[Labels, float]]]
"""Tells values by the values of a family's labels; it may be called in any thread, and does no I/O."""

QUICK: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Bounds in seconds for what a caller waits for."""
PAUSES: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Bounds in seconds for what should not be noticed."""
LONG: Final = (0.01, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0)
"""Bounds in seconds for work that nobody waits for."""


class Number:
    """One series of a counter or a gauge. A counter's `value` is only ever added to."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        """Zero."""
        self.value = 0.0


class Spread:
    """One series of a histogram.

    Attributes:
        counts: observations by bound, not cumulated; the last is for those beyond every bound.
        total: of all that was observed.
    """

    __slots__ = ("_bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        """Nothing observed yet."""
        self._bounds: Final = bounds
        self.counts: Final = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, amount: float) -> None:
        """Take one observation in; one at a bound counts below it."""
        self.counts[bisect_left(self._bounds, amount)] += 1
        self.total += amount


Series = TypeVar("Series", Number, Spread)


class Family(Generic[Series]):
    """A metric.

    Args:
        name: as Prometheus has it; a counter's ends in `_total`.
        about: one sentence for whoever reads it.
        labels: names of its labels.

    Raises:
        ValueError: another one has this name.
    """

    kind: ClassVar[Kind]

    def __init__(self, name: str, about: str, labels: Labels = ()) -> None:
        """Declare it for this process; see the class."""
        if name in _declared:
            raise ValueError(
                f"there is a metric {name} already; one module declares it, and the others import it from there"
            )
        self.name: Final = name
        self.about: Final = about
        self.labels: Final = labels
        self._series: Final[dict[Labels, Series]] = {}
        _declared[name] = self

    def series(self, *values: str) -> Series:
        """The series of these values of its labels, in their order; made where it is new.

        Raises:
            ValueError: there are more or fewer values than labels.
        """
        found = self._series.get(values)
        if found is None:
            if len(values) != len(self.labels):
                raise ValueError(f"{self.name} has the labels {self.labels}, and not as many values: {values}")
            found = self._series[values] = self._made()
        return found

    def seen(self) -> Sequence[tuple[Labels, Series]]:
        """Every series by the values of its labels."""
        return list(self._series.items())

    def _made(self) -> Series:
        raise NotImplementedError


class _Numbers(Family[Number]):
    def __init__(self, name: str, about: str, labels: Labels = ()) -> None:
        super().__init__(name, about, labels)
        self._readers: list[Reader] = []

    def _made(self) -> Number:
        return Number()

    @contextmanager
    def read_from(self, reader: Reader) -> Iterator[None]:
        """Have `reader` asked, too, until the block ends. What several tell of one series is added up."""
        self._readers.append(reader)
        try:
            yield
        finally:
            # not `remove`, which compares: two bound methods of equal objects would be taken for each other
            self._readers = [each for each in self._readers if each is not reader]

    def always_read_from(self, reader: Reader) -> None:
        """Have `reader` asked, too, for as long as the process runs."""
        self._readers.append(reader)

    def values(self) -> Mapping[Labels, float]:
        """What it shows now."""
        found = {labels: series.value for labels, series in self.seen()}
        for reader in tuple(self._readers):
            for labels, value in reader():
                found[labels] = found.get(labels, 0.0) + value
        return found


class Counter(_Numbers):
    """Counts what happened since the process started."""

    kind = "counter"


class Gauge(_Numbers):
    """Shows how something is now."""

    kind = "gauge"


class Histogram(Family[Spread]):
    """Shows how amounts are spread.

    Args:
        name: as Prometheus has it, with its unit at the end.
        about: one sentence for whoever reads it.
        labels: names of its labels.
        bounds: upper bounds, which belong to what is below, growing.
    """

    kind = "histogram"

    def __init__(self, name: str, about: str, labels: Labels = (), *, bounds: Sequence[float] = QUICK) -> None:
        """Declare it for this process; see the class."""
        super().__init__(name, about, labels)
        self.bounds: Final = tuple(bounds)

    def _made(self) -> Spread:
        return Spread(self.bounds)


AnyFamily: TypeAlias = Counter | Gauge | Histogram
_declared: Final[dict[str, Family[Any]]] = {}


def families() -> Sequence[AnyFamily]:
    """What the modules that are loaded have declared, by name."""
    return [each for _, each in sorted(_declared.items()) if isinstance(each, Counter | Gauge | Histogram)]
