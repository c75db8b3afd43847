"""ContractService over gRPC."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.contracts.setting import ContractSettings, SetContracts
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.domain.contracts.contract import encoded
from lakeward_catalog.transport import decode
from lakeward_protocol.catalog.v1 import contracts_pb2, contracts_pb2_grpc
from lakeward_servicekit.authorization.actions import Action


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ContractServicer(contracts_pb2_grpc.ContractServiceServicer):
    """What warehouses promise."""

    doors: Doors
    set: ContractSettings

    async def GetContracts(
        self, request: contracts_pb2.GetContractsRequest, caller: Caller
    ) -> contracts_pb2.GetContractsResponse:
        """See the contract."""
        warehouse = await self.doors.warehouse(
            decode.warehouse_id(request.warehouse_id), Action.WAREHOUSE_GET_METADATA, caller=caller, inactive_too=True
        )
        return contracts_pb2.GetContractsResponse(contracts=encoded(warehouse.contracts))

    async def SetContracts(
        self, request: contracts_pb2.SetContractsRequest, caller: Caller
    ) -> contracts_pb2.SetContractsResponse:
        """See the contract."""
        command = SetContracts(decode.warehouse_id(request.warehouse_id), request.contracts)
        warehouse = await self.set(command, caller=caller)
        return contracts_pb2.SetContractsResponse(contracts=encoded(warehouse.contracts))
