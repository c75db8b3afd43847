"""GET /v1/config: what an Iceberg client needs to start."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from lakeward_gateway.dialects.iceberg import documents, paths
from lakeward_gateway.dialects.iceberg.errors import RENDERED
from lakeward_gateway.encoding import GZIP, WORTHWHILE, gzipped
from lakeward_gateway.http import Request, Response, json_response
from lakeward_gateway.operation import Answer, Operation
from lakeward_gateway.query import Text, parse_query
from lakeward_protocol.catalog.v1 import warehouses_pb2, warehouses_pb2_grpc
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.keeping import Kept
from lakeward_servicekit.remembering import remembered

_WRITTEN_BYTES: Final = 4 << 20
_SEEN: Final = 256
_WAREHOUSE: Final = Text("warehouse", 'Required: the warehouse\'s name, "project/name", or its id.')


class Configs:
    """Configurations of warehouses, each written once.

    `uri` and `prefix` are overrides, since a client's own would lead elsewhere.

    Args:
        warehouses: answers each request anew; what is remembered is how its answer is written.
        endpoints: what is served.
        prefix_template: text around "{warehouse_id}".
    """

    def __init__(
        self,
        warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub,
        *,
        endpoints: Sequence[str],
        prefix_template: str,
    ) -> None:
        """See the class."""
        self._warehouses: Final = warehouses
        self._endpoints: Final = list(endpoints)
        self._prefix_template: Final = prefix_template
        # by the answer, the base of links and whether it is gzipped
        self._written: Final = Kept[tuple[bytes, str, bool], Response](size=_WRITTEN_BYTES)
        # In one process an equal answer is the same message, which nobody changes. It is kept beside what was written of it, so
        # that no other message can have its id.
        self._seen: Final = Kept[tuple[int, str, bool], tuple[warehouses_pb2.GetConfigResponse, Response]](_SEEN)

    async def __call__(self, request: Request, /) -> Response:
        """The configuration of one warehouse."""
        context = request.context
        base_uri = context.base_uri
        if not base_uri:
            raise Refusal(
                Reason.REASON_NO_HOST,
                "the request has no usable Host header, so no link to this server can be made; send one, or set BASE_URI",
            )
        asked = warehouses_pb2.GetConfigRequest()
        asked.warehouse = _named(request.query_string)
        asked.context.CopyFrom(context)
        config = await self._warehouses.GetConfig(asked)
        same = (id(config), base_uri, request.takes_gzip)
        seen = self._seen.look(same)
        if seen is not None:
            self._seen.used(same)
            return seen[1]
        written = await self._written_of(config, base_uri, takes_gzip=request.takes_gzip)
        self._seen.put(same, (config, written))
        return written

    async def _written_of(
        self, config: warehouses_pb2.GetConfigResponse, base_uri: str, *, takes_gzip: bool
    ) -> Response:
        key = (config.SerializeToString(deterministic=True), base_uri, takes_gzip)
        written = self._written.look(key)
        if written is None:
            written = await self._write(config, base_uri, takes_gzip=takes_gzip)
            self._written.put(key, written, size=len(written.body) + len(key[0]) + len(key[1]))
        else:
            self._written.used(key)
        return written

    async def _write(self, config: warehouses_pb2.GetConfigResponse, base_uri: str, *, takes_gzip: bool) -> Response:
        prefix = self._prefix_template.replace("{warehouse_id}", config.warehouse_id)
        lifetime = (
            config.idempotency_key_lifetime.ToTimedelta() if config.HasField("idempotency_key_lifetime") else None
        )
        plain = json_response(
            documents.CatalogConfig(
                defaults={**config.defaults, "prefix": prefix},
                overrides={**config.overrides, "uri": f"{base_uri}{paths.MOUNT}", "prefix": prefix},
                endpoints=self._endpoints,
                idempotency_key_lifetime=None if lifetime is None else iso_duration(lifetime),
            )
        )
        if not takes_gzip or len(plain.body) < WORTHWHILE:
            return Response(200, headers=plain.headers, body=plain.body, repeated=True)
        headers = (*plain.headers, GZIP)
        return Response(200, headers=headers, body=await gzipped(plain.body), encoded=True, repeated=True)


@remembered(entries=1024, longest=256)
def _named(query_string: bytes) -> str:
    """The warehouse that a query names; "" for none.

    Raises:
        Refusal: INVALID_FIELD.
    """
    return _WAREHOUSE.read(parse_query(query_string)) or ""


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
            handler=Configs(warehouses, endpoints=endpoints, prefix_template=prefix_template),
            query=(_WAREHOUSE,),
            answers={200: Answer("The configuration.", "CatalogConfig", documents.CatalogConfig)},
            renderings=RENDERED,
            tag="Configuration",
        ),
    )
