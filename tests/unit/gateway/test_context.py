from __future__ import annotations

import ipaddress
import tracemalloc
from collections.abc import Mapping

import pytest

from lakeward_gateway.context import Contexts, headers_by_name
from lakeward_gateway.forwarded import Links, Proxies
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.errors import Reason, Refusal

_PROXIES = Proxies((), heed_forwarded=False)
CONTEXTS = Contexts(links=Links(base_uri=None, proxies=_PROXIES), new_id=lambda: "made", proxies=_PROXIES)


def context(*lines: tuple[str, str]) -> context_pb2.RequestContext:
    headers = headers_by_name([(name.encode(), value.encode("latin-1")) for name, value in lines])
    return CONTEXTS.of({"scheme": "http", "client": None}, headers, request_id=CONTEXTS.request_id(headers))


def test_every_header_that_counts_reaches_the_context() -> None:
    found = context(
        ("host", "lake.test"),
        ("authorization", "Bearer dev"),
        ("x-request-id", "req-1"),
        ("traceparent", "00-11111111111111111111111111111111-2222222222222222-01"),
        ("x-project-id", " p1 "),
        ("x-assume-role", "role"),
        ("idempotency-key", "0198e000-0000-7000-8000-000000000001"),
        ("user-agent", "PyIceberg/0.10.0"),
        ("x-iceberg-access-delegation", "vended-credentials"),
    )
    assert found == context_pb2.RequestContext(
        request_id="req-1",
        traceparent="00-11111111111111111111111111111111-2222222222222222-01",
        authorization="Bearer dev",
        project_id="p1",
        assumed_role="role",
        base_uri="http://lake.test",
        user_agent="PyIceberg/0.10.0",
        delegation=[context_pb2.DELEGATION_VENDED_CREDENTIALS],
        idempotency_key="0198e000-0000-7000-8000-000000000001",
    )


def test_the_older_name_of_the_project_header_works_and_the_newer_wins() -> None:
    assert context(("x-project-ident", "old")).project_id == "old"
    assert context(("x-project-ident", "old"), ("x-project-id", "new")).project_id == "new"
    assert context(("x-project-ident", "old"), ("x-project-id", "")).project_id == "old"


@pytest.mark.parametrize("given", ["", "a" * 129, "two words\x00", "snö"])
def test_a_request_id_that_cannot_stand_in_a_log_is_replaced(given: str) -> None:
    assert context(("x-request-id", given)).request_id == "made"


def test_a_request_id_of_the_clients_own_is_kept_even_if_it_is_no_uuid() -> None:
    assert context(("x-request-id", "job-7/step-2")).request_id == "job-7/step-2"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["vended-credentials,remote-signing"], [1, 2]),
        (["vended-credentials", "remote-signing"], [1, 2]),
        ([" client-managed , unknown"], [3]),
        (["Vended-Credentials"], []),
        (["vended-credentials,vended-credentials"], [1]),
    ],
)
def test_access_delegation_is_a_list_on_one_line_or_on_several(lines: list[str], words: list[int]) -> None:
    found = context(*(("x-iceberg-access-delegation", line) for line in lines))
    assert list(found.delegation) == words


def test_a_user_agent_is_cut_to_256_bytes() -> None:
    assert context(("user-agent", "x" * 300)).user_agent == "x" * 256
    assert len(context(("user-agent", "ö" * 300)).user_agent.encode()) <= 256


@pytest.mark.parametrize("name", ["authorization", "idempotency-key", "x-project-id", "x-assume-role", "host"])
def test_a_header_that_may_stand_once_is_refused_twice(name: str) -> None:
    with pytest.raises(Refusal) as refused:
        context((name, "a"), (name, "a"))
    assert refused.value.reason == Reason.REASON_DUPLICATE_HEADER
    assert refused.value.metadata == {"header": name}


@pytest.mark.parametrize("key", ["", " ", "\t"])
def test_an_empty_idempotency_key_is_a_bad_one(key: str) -> None:
    with pytest.raises(Refusal) as refused:
        context(("idempotency-key", key))
    assert refused.value.reason == Reason.REASON_IDEMPOTENCY_KEY_INVALID


def test_what_is_remembered_of_one_request_is_told_of_none_that_differs() -> None:
    proxies = Proxies([ipaddress.ip_network("10.0.0.0/8")], heed_forwarded=True)
    contexts = Contexts(links=Links(base_uri=None, proxies=proxies), new_id=lambda: "made", proxies=proxies)
    usual = {
        b"host": b"lake.test",
        b"user-agent": b"spark",
        b"x-iceberg-access-delegation": b"vended-credentials",
        b"x-forwarded-for": b"192.0.2.1",
        b"x-forwarded-host": b"out.test",
        b"x-forwarded-proto": b"https",
        b"x-forwarded-port": b"8443",
        b"x-forwarded-prefix": b"/lake",
    }
    others = {
        b"host": b"other.test",
        b"user-agent": b"trino",
        b"x-iceberg-access-delegation": b"remote-signing",
        b"x-forwarded-for": b"192.0.2.2",
        b"x-forwarded-host": b"elsewhere.test",
        b"x-forwarded-proto": b"http",
        b"x-forwarded-port": b"9443",
        b"x-forwarded-prefix": b"/other",
    }
    asked = [(peer, usual) for peer in ("10.0.0.1", "192.0.2.9")]
    for name, value in others.items():
        without = {each: said for each, said in usual.items() if each != name}
        asked += [("10.0.0.1", {**usual, name: value}), ("10.0.0.1", without)]
    # those that host decides alone where no proxy names another
    asked += [("10.0.0.1", {b"host": host}) for host in (b"lake.test", b"other.test")]

    def found(peer: str, headers: Mapping[bytes, bytes], *, of: Contexts) -> context_pb2.RequestContext:
        return of.of({"scheme": "http", "client": (peer, 1)}, headers, request_id="r")

    for _ in range(2):
        for peer, headers in asked:
            fresh = Contexts(links=Links(base_uri=None, proxies=proxies), new_id=lambda: "made", proxies=proxies)
            assert found(peer, headers, of=contexts) == found(peer, headers, of=fresh)


def test_a_request_has_its_own_context_however_alike_the_last_one_was() -> None:
    lines = (("host", "lake.test"), ("user-agent", "spark"), ("x-iceberg-access-delegation", "vended-credentials"))
    first = context(*lines, ("authorization", "Bearer one"), ("x-project-id", "p"), ("x-assume-role", "r"))
    first.user_agent = "changed"
    first.delegation.append(context_pb2.DELEGATION_REMOTE_SIGNING)
    second = context(*lines)
    assert (second.user_agent, list(second.delegation)) == ("spark", [context_pb2.DELEGATION_VENDED_CREDENTIALS])
    assert (second.authorization, second.project_id, second.assumed_role) == ("", "", "")


def test_headers_that_no_honest_client_sends_are_not_remembered() -> None:
    def held(count: int, length: int) -> int:
        contexts = Contexts(links=Links(base_uri=None, proxies=_PROXIES), new_id=lambda: "made", proxies=_PROXIES)
        scope = {"scheme": "http", "client": None}
        tracemalloc.start()
        try:
            for number in range(count):
                agent = str(number).encode() + b"x" * length
                contexts.of(scope, {b"host": b"lake.test", b"user-agent": agent}, request_id="r")
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    assert held(200, 60_000) < 200_000
    assert held(20_000, 900) < 8_000_000
