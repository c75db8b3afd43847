"""A checker over gRPC: `lakeward.contracts.v1.ContractCheckerService`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

import grpc
import grpc.aio

from lakeward_catalog.adapters.contracts.http import MOST_ANSWERED, objection_of
from lakeward_catalog.application.ports.gates import CheckerAway, Question
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_protocol.contracts.v1 import checker_pb2, checker_pb2_grpc
from lakeward_servicekit.secrecy import SecretStr

_MOST_ASKED: Final = 256 * 1024 * 1024
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MOST_ANSWERED),
    ("grpc.max_send_message_length", _MOST_ASKED),
    ("grpc.enable_http_proxy", 0),
)


class GrpcChecker:
    """`ContractChecker` over gRPC."""

    def __init__(self, channel: grpc.aio.Channel, *, longest: timedelta, token: SecretStr | None) -> None:
        """Ask through `channel`, for at most `longest` a change; `token` goes along as a bearer token."""
        self._stub: Final[checker_pb2_grpc.ContractCheckerServiceAsyncStub] = (
            checker_pb2_grpc.ContractCheckerServiceStub(channel)
        )
        self._seconds: Final = longest.total_seconds()
        self._token: Final = token

    async def objection(self, question: Question) -> str | None:
        """See `ContractChecker`."""
        proof = () if self._token is None else (("authorization", f"Bearer {self._token.get_secret_value()}"),)
        try:
            answer = await self._stub.CheckChange(_request(question), timeout=self._seconds, metadata=proof)
        except grpc.aio.AioRpcError as failure:
            raise CheckerAway(f"it answered with {failure.code().name}") from None
        return None if answer.allowed else objection_of(answer.reason)


@asynccontextmanager
async def grpc_checker(
    address: str, *, secure: bool, longest: timedelta, token: SecretStr | None, ca_file: Path | None
) -> AsyncIterator[GrpcChecker]:
    """A checker whose channel lasts as long as the block.

    Args:
        address: host:port.
        secure: with TLS.
        longest: wait for each answer.
        token: sent as a bearer token.
        ca_file: authorities that its certificate may come from; None: gRPC's own.
    """
    if secure:
        authorities = None if ca_file is None else ca_file.read_bytes()  # noqa: ASYNC240 - once, at the start
        channel = grpc.aio.secure_channel(address, grpc.ssl_channel_credentials(authorities), options=_OPTIONS)
    else:
        channel = grpc.aio.insecure_channel(address, options=_OPTIONS)
    async with channel:
        yield GrpcChecker(channel, longest=longest, token=token)


def _request(question: Question) -> checker_pb2.CheckChangeRequest:
    change = question.change
    request = checker_pb2.CheckChangeRequest(
        contract=question.contract,
        operation=change.operation.value,
        principal=change.principal,
        project_id=change.warehouse.project_id,
        warehouse_id=str(change.warehouse.warehouse_id),
        warehouse=change.warehouse.name,
        namespace=change.namespace.parts,
        name=change.name or "",
        kind="" if change.kind is None else change.kind.slug,
        object_id="" if change.object_id is None else str(change.object_id),
        old_metadata=question.old or b"",
        new_metadata=question.new or b"",
        namespace_properties=change.properties or {},
    )
    match change.destination:
        case TabularIdent(namespace=namespace, name=name):
            request.destination_namespace.extend(namespace.parts)
            request.destination_name = name
        case NamespaceIdent(parts=parts):
            request.destination_namespace.extend(parts)
        case None:
            pass
    return request
