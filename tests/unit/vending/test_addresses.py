from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.domain.addresses import AddressRules

OPEN = AddressRules()
CLOSED = AddressRules(denied=(ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("127.0.0.0/8")))


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "169.254.170.2",
        "[::ffff:169.254.169.254]",
        "::ffff:a9fe:a9fe",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::1",
        "::169.254.169.254",
        "fe80::1",
        "fe80::1%eth0",
        "fd00:ec2::254",
        "0.0.0.0",
        "::",
        "100.100.100.200",
        "168.63.129.16",
        "metadata.google.internal",
        "METADATA.google.internal.",
        "2852039166",
        "0xa9fea9fe",
        "0251.0376.0251.0376",
        "169.254.43518",
        "0",
        "0x",
    ],
)
def test_metadata_and_link_local_addresses_are_refused_in_every_spelling(host: str) -> None:
    with pytest.raises(Refusal) as caught:
        OPEN.check_host(host)
    assert caught.value.reason == Reason.REASON_ADDRESS_DENIED


@pytest.mark.parametrize("host", ["127.0.0.1", "10.1.2.3", "minio", "s3.amazonaws.com", "::1", "1.example.org", "a.1"])
def test_private_stores_are_open_unless_they_are_closed(host: str) -> None:
    OPEN.check_host(host)


@pytest.mark.parametrize("host", ["127.0.0.1", "10.1.2.3", "::ffff:10.1.2.3"])
def test_what_the_operator_closes_is_refused(host: str) -> None:
    with pytest.raises(Refusal):
        CLOSED.check_host(host)


def test_one_closed_address_among_those_a_name_resolves_to_is_enough() -> None:
    addresses = [ipaddress.ip_address("93.184.216.34"), ipaddress.ip_address("169.254.169.254")]
    with pytest.raises(Refusal) as caught:
        OPEN.check_addresses(addresses, host="innocent.example.org")
    assert caught.value.metadata["address"] == "innocent.example.org (169.254.169.254)"


@given(low=st.integers(0, 0xFFFF), mapping=st.sampled_from([0, 0xFFFF << 32, 0x64FF9B << 96]))
def test_no_embedding_of_a_link_local_address_passes(low: int, mapping: int) -> None:
    embedded = ipaddress.IPv6Address(mapping | 0xA9FE_0000 | low)
    with pytest.raises(Refusal):
        OPEN.check_host(str(embedded))
