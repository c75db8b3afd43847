"""What a process counts, and how it is shown."""

from __future__ import annotations

import gc
import socket
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from lakeward_servicekit.keeping import Kept, Loaded
from lakeward_servicekit.telemetry import caches, exposition
from lakeward_servicekit.telemetry.exposition import AT_ONCE, served
from lakeward_servicekit.telemetry.metrics import Counter, Gauge, Histogram, Spread


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with served("127.0.0.1", 0) as port:
        yield port


def scraped(port: int) -> Mapping[str, Mapping[tuple[tuple[str, str], ...], float]]:
    """Values by the sample's name and labels."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
        text = reply.read().decode()
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def fresh(name: str) -> str:
    return f"test_{name}_{uuid4().hex}"


@given(st.lists(st.floats(0, 10), max_size=30))
def test_each_observation_is_in_every_bucket_that_it_is_not_above(amounts: Sequence[float]) -> None:
    bounds = (0.1, 1.0, 5.0)
    spread = Spread(bounds)
    for amount in amounts:
        spread.observe(amount)
    cumulated = [sum(spread.counts[: index + 1]) for index in range(4)]
    assert cumulated == [sum(amount <= bound for amount in amounts) for bound in (*bounds, float("inf"))]
    assert spread.total == pytest.approx(sum(amounts))


def test_what_was_counted_is_scraped(port: int) -> None:
    counter, gauge = Counter(fresh("c_total"), "Things.", ("kind",)), Gauge(fresh("g"), "A thing.")
    histogram = Histogram(fresh("h_seconds"), "Times.", ("kind",), bounds=(0.5, 1.0))
    counter.series('odd "name"\n').value += 3
    gauge.series().value = 1.5
    histogram.series("a").observe(0.7)
    found = scraped(port)
    assert found[f"{counter.name}_total"][(("kind", 'odd "name"\n'),)] == 3
    assert found[gauge.name][()] == 1.5
    buckets = found[f"{histogram.name}_bucket"]
    assert {dict(labels)["le"]: value for labels, value in buckets.items()} == {"0.5": 0.0, "1.0": 1.0, "+Inf": 1.0}
    assert found[f"{histogram.name}_sum"][(("kind", "a"),)] == 0.7


def test_a_family_without_series_is_shown_by_its_name_and_its_type(port: int) -> None:
    family = Counter(fresh("idle_total").replace("total_", "") + "_total", "Nothing happened.", ("kind",))
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
        assert f"# TYPE {family.name} counter" in reply.read().decode()


def test_two_that_tell_of_one_series_are_added_up_while_they_tell() -> None:
    gauge = Gauge(fresh("pools"), "Pools.", ("pool",))
    with gauge.read_from(lambda: [(("a",), 1)]):
        with gauge.read_from(lambda: [(("a",), 2), (("b",), 5)]):
            assert gauge.values() == {("a",): 3, ("b",): 5}
        assert gauge.values() == {("a",): 1}
    assert gauge.values() == {}


def test_a_name_is_declared_once_and_each_label_has_a_value() -> None:
    gauge = Gauge(fresh("once"), "One.", ("a", "b"))
    with pytest.raises(ValueError, match="already"):
        Gauge(gauge.name, "Another.")
    with pytest.raises(ValueError, match="labels"):
        gauge.series("one")


def test_more_than_a_few_clients_at_once_are_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exposition._Handler, "timeout", 60)
    with served("127.0.0.1", 0) as port:
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(AT_ONCE)]
        try:
            with socket.create_connection(("127.0.0.1", port)) as one_more:
                one_more.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
                one_more.settimeout(10)
                assert _received(one_more) == b""
        finally:
            for each in silent:
                each.close()


def test_clients_that_ask_for_nothing_do_not_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exposition._Handler, "timeout", 0.3)
    with served("127.0.0.1", 0) as port:
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(AT_ONCE)]
        for each in silent:
            with each:
                each.settimeout(10)
                assert _received(each) == b""
        assert scraped(port)


def test_a_cache_is_told_of_while_it_lives() -> None:
    kind = fresh("cache")
    kept = caches.told(kind, Kept[str, int](2))
    also = caches.told(kind, Loaded[str, int](2))
    kept.put("a", 1)
    kept.hits += 2
    also.misses += 1
    told = (caches.SIZE, caches.HITS, caches.MISSES)
    assert [family.values()[(kind,)] for family in told] == [1, 2, 1]
    del kept, also
    gc.collect()
    assert [family.values().get((kind,)) for family in told] == [None, None, None]


async def test_what_is_loaded_counts_hits_and_misses() -> None:
    loaded = Loaded[str, int](2)

    async def load() -> tuple[int, float]:
        return 7, 60.0

    assert [await loaded.get("a", load) for _ in range(3)] == [7, 7, 7]
    assert (loaded.hits, loaded.misses, len(loaded)) == (2, 1, 1)


def test_every_family_that_is_declared_can_be_rendered() -> None:
    registry = CollectorRegistry()
    registry.register(exposition._Families())
    assert list(registry.collect())


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1024)
    except ConnectionResetError:
        return b""
