"""The contracts of a warehouse."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Final, Literal

import msgspec

from lakeward_gateway.dialects.management.errors import RENDERED
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import Request, Response, json_response
from lakeward_gateway.operation import Answer, Body, Operation
from lakeward_protocol.catalog.v1 import contracts_pb2, contracts_pb2_grpc

_PATH: Final = "/management/v1/warehouse/{warehouse_id}/contracts"
_Word = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]


class RequiredColumn(msgspec.Struct, frozen=True, rename="kebab", forbid_unknown_fields=True, omit_defaults=True):
    """A column that every table has: of this type, as Iceberg writes it, where one is given, and without nulls if `required`."""

    name: _Word
    type: _Word | None = None
    required: bool = False


class ContractRules(msgspec.Struct, frozen=True, rename="kebab", forbid_unknown_fields=True, omit_defaults=True):
    """What is promised; what is left out is not. Partitionings are lists of transforms, as ["day(ts)", "bucket[16](id)"]."""

    columns_stay: bool = False
    names_stay: bool = False
    types_only_widen: bool = False
    optional_stays: bool = False
    required_columns: list[RequiredColumn] = []
    allowed_partitionings: list[list[_Word]] | None = None
    properties_stay: list[_Word] = []
    refused_operations: list[
        Literal[
            "create",
            "commit",
            "rename",
            "drop",
            "undrop",
            "create-namespace",
            "update-namespace",
            "move-namespace",
            "drop-namespace",
        ]
    ] = []


class Contract(msgspec.Struct, frozen=True, rename="kebab", forbid_unknown_fields=True, omit_defaults=True):
    """A promise about what is in a namespace and below it, or in the whole warehouse; `checkers` are asked too."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    namespace: list[_Word] = []
    names: list[_Word] = []
    rules: ContractRules | None = None
    checkers: list[_Word] = []


class Contracts(msgspec.Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """All contracts of a warehouse."""

    contracts: list[Contract]


_decoder: Final = msgspec.json.Decoder(Contracts)
_listed: Final = msgspec.json.Decoder(list[Contract])
_encode: Final = msgspec.json.Encoder().encode


async def show(request: Request, *, contracts: contracts_pb2_grpc.ContractServiceAsyncStub) -> Response:
    """Which there are."""
    (warehouse_id,) = request.arguments
    found = await contracts.GetContracts(
        contracts_pb2.GetContractsRequest(context=request.context, warehouse_id=warehouse_id)
    )
    return _shown(found.contracts)


async def replace(request: Request, *, contracts: contracts_pb2_grpc.ContractServiceAsyncStub) -> Response:
    """Others in their place."""
    (warehouse_id,) = request.arguments
    document = await parsed(_decoder, request.body)
    found = await contracts.SetContracts(
        contracts_pb2.SetContractsRequest(
            context=request.context, warehouse_id=warehouse_id, contracts=_encode(document.contracts)
        )
    )
    return _shown(found.contracts)


def _shown(contracts: bytes) -> Response:
    return json_response(Contracts(_listed.decode(contracts)))


def operations(contracts: contracts_pb2_grpc.ContractServiceAsyncStub) -> Sequence[Operation]:
    """Reading and replacing."""
    answer = Answer("The contracts.", "Contracts", Contracts)
    return (
        Operation(
            id="get_warehouse_contracts",
            method="GET",
            path=_PATH,
            summary="The contracts that are asked before tables and views of a warehouse are changed.",
            handler=partial(show, contracts=contracts),
            answers={200: answer},
            renderings=RENDERED,
            tag="warehouse",
        ),
        Operation(
            id="set_warehouse_contracts",
            method="PUT",
            path=_PATH,
            summary="Replace the contracts of a warehouse, all at once.",
            handler=partial(replace, contracts=contracts),
            body=Body("Contracts", Contracts),
            answers={200: answer},
            renderings=RENDERED,
            tag="warehouse",
        ),
    )
