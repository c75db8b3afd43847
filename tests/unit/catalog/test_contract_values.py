"""Words of the catalog's use cases that travel as numbers have the contract's, since use cases know no contract."""

from __future__ import annotations

from lakeward_catalog.application.caller import Delegation
from lakeward_catalog.application.ports.access import Access
from lakeward_protocol.common.v1 import context_pb2
from lakeward_protocol.vending.v1 import permits_pb2


def test_every_delegation_of_the_contract_has_ours_and_nothing_more() -> None:
    contract = context_pb2.Delegation.DESCRIPTOR.values
    expected = {value.name.removeprefix("DELEGATION_"): value.number for value in contract if value.number}
    assert {word.name: word.value for word in Delegation} == expected


def test_a_level_of_access_is_the_contracts_of_that_name() -> None:
    contract = permits_pb2.Access.DESCRIPTOR.values_by_name
    assert {level.value for level in Access} == {contract[f"ACCESS_{level.name}"].number for level in Access}
