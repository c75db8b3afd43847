"""Methods on contracts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lakeward_protocol.catalog.v1 import contracts_pb2
from tests.support.catalog.expectations.case import WAREHOUSE, Case

CONTRACT_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "GetContracts": (
        Case(lambda house: contracts_pb2.GetContractsRequest(warehouse_id=house.warehouse_id), WAREHOUSE),
    ),
    "SetContracts": (
        Case(
            lambda house: contracts_pb2.SetContractsRequest(
                warehouse_id=house.warehouse_id, contracts=b'[{"name": "kept", "rules": {"columns-stay": true}}]'
            ),
            WAREHOUSE,
        ),
    ),
}
