from __future__ import annotations

import dataclasses
import ipaddress

from lakeward_gateway.connections import Connections
from lakeward_gateway.forwarded import Proxies

HOME = ipaddress.ip_network("10.0.0.0/8")


@dataclasses.dataclass(eq=False)
class Line:
    """A connection as its bounds see it."""

    idle_since: float | None = None
    was_used: bool = True
    closed: bool = False

    def give_way(self) -> None:
        self.closed = True


def bounds(*, total: int = 3, per_client: int = 2) -> Connections:
    return Connections(total=total, per_client=per_client, proxies=Proxies((HOME,), heed_forwarded=True))


def test_connections_are_taken_up_to_the_bound_and_again_when_some_are_gone() -> None:
    connections = bounds()
    lines = [Line() for _ in range(3)]
    assert [connections.admit(line, f"192.0.2.{index}") for index, line in enumerate(lines)] == [None] * 3
    assert "3 connections are in use" in (connections.admit(Line(), "192.0.2.9") or "")
    connections.remove(lines[0])
    assert connections.admit(Line(), "192.0.2.9") is None
    assert len(connections) == 3


def test_the_one_that_was_idle_for_longest_gives_way() -> None:
    connections = bounds()
    busy, older, newer = Line(), Line(idle_since=1.0), Line(idle_since=2.0)
    for index, line in enumerate((newer, busy, older)):
        connections.admit(line, f"192.0.2.{index}")
    assert connections.admit(Line(), "192.0.2.9") is None
    assert [line.closed for line in (busy, older, newer)] == [False, True, False]


def test_one_that_never_asked_anything_gives_way_before_one_that_did() -> None:
    connections = bounds()
    used, silent = Line(idle_since=1.0), Line(idle_since=2.0, was_used=False)
    for index, line in enumerate((used, silent, Line())):
        connections.admit(line, f"192.0.2.{index}")
    assert connections.admit(Line(), "192.0.2.9") is None
    assert (used.closed, silent.closed) == (False, True)


def test_a_client_at_its_bound_gives_up_a_connection_of_its_own_or_is_refused() -> None:
    connections = bounds(total=10)
    others, own = Line(idle_since=0.0), Line(idle_since=5.0)
    connections.admit(others, "192.0.2.1")
    connections.admit(own, "192.0.2.2")
    connections.admit(Line(), "192.0.2.2")
    assert connections.admit(Line(), "192.0.2.2") is None
    assert (others.closed, own.closed) == (False, True)
    assert "LAKEWARD__MAX_CONNECTIONS_PER_CLIENT" in (connections.admit(Line(), "192.0.2.2") or "")
    assert connections.admit(Line(), "192.0.2.1") is None


def test_the_addresses_of_one_ipv6_site_are_one_client() -> None:
    connections = bounds(total=10)
    for host in ("1", "2"):
        assert connections.admit(Line(), f"2001:db8:0:7::{host}") is None
    assert connections.admit(Line(), "2001:db8:0:7::3") is not None
    assert connections.admit(Line(), "2001:db8:0:8::3") is None


def test_an_ipv4_address_is_the_same_client_on_a_socket_for_both() -> None:
    connections = bounds(total=10)
    assert connections.admit(Line(), "192.0.2.1") is None
    assert connections.admit(Line(), "::ffff:192.0.2.1") is None
    assert connections.admit(Line(), "::ffff:192.0.2.1") is not None
    assert connections.admit(Line(), "::ffff:192.0.2.2") is None


def test_a_trusted_proxy_speaks_for_many() -> None:
    connections = bounds(total=10)
    assert [connections.admit(Line(), "10.0.0.1") for _ in range(10)] == [None] * 10
    assert connections.admit(Line(), "10.0.0.1") is not None


def test_one_that_was_not_admitted_is_not_counted_when_it_goes() -> None:
    connections = bounds(total=1)
    connections.admit(Line(), "192.0.2.1")
    refused = Line()
    connections.admit(refused, "192.0.2.2")
    connections.remove(refused)
    assert len(connections) == 1


def test_only_so_many_are_told_at_once_that_there_is_no_room() -> None:
    connections = bounds(total=8)
    assert [connections.tell() for _ in range(3)] == [True, True, False]
    connections.told()
    assert connections.tell()
