"""Shows a process's metrics to Prometheus: over HTTP, from a thread of its own, so that a loop that stands still is seen, too.

Whoever reaches the port may ask, so what asking takes is bounded: a few at a time, each with a few seconds, and one request a
connection.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from socketserver import ThreadingMixIn
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, ProcessCollector, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from lakeward_servicekit.telemetry.metrics import Counter, Gauge, Histogram, families

AT_ONCE: Final = 4
_SECONDS: Final = 5.0
_WAITING: Final = 16


class _Families(Collector):
    """Every family that is declared, without samples too: a name that is looked for is either here or nowhere."""

    def describe(self) -> Iterable[Metric]:
        """Nothing is known before a scrape: modules that are imported later declare more."""
        return ()

    def collect(self) -> Iterator[Metric]:
        for family in families():
            match family:
                case Counter():
                    counter = CounterMetricFamily(family.name, family.about, labels=family.labels)
                    for labels, value in family.values().items():
                        counter.add_metric(labels, value)
                    yield counter
                case Gauge():
                    gauge = GaugeMetricFamily(family.name, family.about, labels=family.labels)
                    for labels, value in family.values().items():
                        gauge.add_metric(labels, value)
                    yield gauge
                case Histogram():
                    yield _histogram(family)
            # whoever serves goes first: between two families the loop may have the interpreter
            time.sleep(0)


def _histogram(family: Histogram) -> Metric:
    shown = HistogramMetricFamily(family.name, family.about, labels=family.labels)
    bounds = [*map(str, family.bounds), "+Inf"]
    for labels, spread in family.seen():
        shown.add_metric(labels, list(zip(bounds, accumulate(spread.counts), strict=True)), spread.total)
    return shown


class _Handler(WSGIRequestHandler):
    timeout = _SECONDS

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 - the standard library's signature
        """Scrapes are no news."""


class _Server(ThreadingMixIn, WSGIServer):
    """Answers a few at a time; one more is closed unanswered."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = _WAITING

    def __init__(self, address: tuple[str, int]) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self._free = threading.BoundedSemaphore(AT_ONCE)
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the standard library's signature
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the standard library's signature
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the standard library's signature
        """A client that went away is its own matter."""


@contextmanager
def served(host: str, port: int) -> Iterator[int]:
    """Serve /metrics until the block ends.

    Args:
        host: address to listen on; one of IPv6 takes IPv4, too.
        port: 0 takes a free one.

    Yields:
        The port.

    Raises:
        OSError: the port can't be had.
    """
    registry = CollectorRegistry()
    registry.register(_Families())
    ProcessCollector(registry=registry)
    # every path answers, as with Prometheus's own clients
    with _Server((host, port)) as server:
        server.set_app(make_wsgi_app(registry))
        thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
