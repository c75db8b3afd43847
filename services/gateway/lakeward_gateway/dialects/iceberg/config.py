"""GET /v1/config: what an Iceberg client needs to start."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Final

from lakeward_gateway.dialects.iceberg import documents, paths
from lakeward_gateway.dialects.iceberg.errors import RENDERED
from lakeward_gateway.http import Request, Response, json_response
from lakeward_gateway.operation import Answer, Operation
from lakeward_gateway.query import Text
from lakeward_protocol.catalog.v1 import warehouses_pb2, warehouses_pb2_grpc
from lakeward_servicekit.errors import Reason, Refusal

_WAREHOUSE: Final = Text("warehouse", 'Required: the warehouse\'s name, or "project/name".')


async def get_config(
    request: Request,
    *,
    warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub,
    endpoints: Sequence[str],
    prefix_template: str,
) -> Response:
    """Configuration of one warehouse; `uri` and `prefix` are overrides, since a client's own would lead elsewhere."""
    context = request.context
    if not context.base_uri:
        raise Refusal(
            Reason.REASON_NO_HOST,
            "the request has no usable Host header, so no link to this server can be made; send one, or set BASE_URI",
        )
    config = await warehouses.GetConfig(
        warehouses_pb2.GetConfigRequest(context=context, warehouse=_WAREHOUSE.read(request.query) or "")
    )
    prefix = prefix_template.replace("{warehouse_id}", config.warehouse_id)
    lifetime = config.idempotency_key_lifetime.ToTimedelta() if config.HasField("idempotency_key_lifetime") else None
    return json_response(
        documents.CatalogConfig(
            defaults={**config.defaults, "prefix": prefix},
            overrides={**config.overrides, "uri": f"{context.base_uri}{paths.MOUNT}", "prefix": prefix},
            endpoints=list(endpoints),
            idempotency_key_lifetime=None if lifetime is None else iso_duration(lifetime),
        )
    )


def iso_duration(span: timedelta) -> str:
    """ISO 8601 in hours, minutes and seconds, as Java's Duration reads it: "PT30M"."""
    hours, rest = divmod(int(span.total_seconds()), 3600)
    parts = ((hours, "H"), (rest // 60, "M"), (rest % 60, "S"))
    return "PT" + ("".join(f"{count}{unit}" for count, unit in parts if count) or "0S")


def operations(
    warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub, *, prefix_template: str, others: Sequence[Operation]
) -> Sequence[Operation]:
    """The configuration endpoint.

    Args:
        warehouses: answers it.
        prefix_template: text around "{warehouse_id}".
        others: the operations that it lists beside itself.
    """
    endpoints = [paths.advertised("GET", paths.CONFIG)]
    endpoints += [paths.advertised(operation.method, operation.path) for operation in others]
    return (
        Operation(
            id="getConfig",
            method="GET",
            path=paths.CONFIG,
            summary="What a client needs to start: prefix, defaults, overrides and the endpoints that are served.",
            handler=partial(get_config, warehouses=warehouses, endpoints=endpoints, prefix_template=prefix_template),
            query=(_WAREHOUSE,),
            answers={200: Answer("The configuration.", "CatalogConfig", documents.CatalogConfig)},
            renderings=RENDERED,
            tag="Configuration",
        ),
    )
