"""A checker over HTTP: one POST of JSON a change, answered `{"allowed": true}` or `{"allowed": false, "reason": "..."}`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

import httpx
import msgspec

from lakeward_catalog.application.ports.gates import CheckerAway, Question
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.tls import client_context, explain

MOST_ANSWERED: Final = 64 * 1024
MOST_SHOWN: Final = 1000
_CONNECTIONS: Final = 32


class _Answer(msgspec.Struct):
    allowed: bool
    reason: str = ""


_encode: Final = msgspec.json.Encoder().encode
_decoder: Final = msgspec.json.Decoder(_Answer)


class HttpChecker:
    """`ContractChecker` over HTTP. No redirect is followed, and no proxy taken from the environment."""

    def __init__(self, client: httpx.AsyncClient, url: str, *, longest: timedelta) -> None:
        """Ask at `url` through `client`, for at most `longest` a change."""
        self._client: Final = client
        self._url: Final = url
        self._seconds: Final = longest.total_seconds()

    async def objection(self, question: Question) -> str | None:
        """See `ContractChecker`."""
        try:
            async with asyncio.timeout(self._seconds):
                status, content = await self._asked(_encode(_document(question)))
        except TimeoutError:
            raise CheckerAway(f"no answer within {self._seconds:g} seconds") from None
        except httpx.HTTPError as failure:
            raise CheckerAway(explain(failure) or type(failure).__name__) from None
        if status != httpx.codes.OK:
            raise CheckerAway(f"it answered with status {status}")
        try:
            answer = _decoder.decode(content)
        except msgspec.DecodeError:
            raise CheckerAway("its answer is not a document with `allowed`") from None
        return None if answer.allowed else objection_of(answer.reason)

    async def _asked(self, content: bytes) -> tuple[int, bytes]:
        headers = {"content-type": "application/json"}
        async with self._client.stream("POST", self._url, content=content, headers=headers) as response:
            answer = bytearray()
            async for part in response.aiter_bytes():
                answer += part
                if len(answer) > MOST_ANSWERED:
                    raise CheckerAway(f"its answer is longer than {MOST_ANSWERED} bytes")
            return response.status_code, bytes(answer)


@asynccontextmanager
async def http_checker(
    url: str, *, longest: timedelta, token: SecretStr | None, ca_file: Path | None
) -> AsyncIterator[HttpChecker]:
    """A checker whose connections last as long as the block.

    Args:
        url: where it is asked; http or https.
        longest: wait for each answer.
        token: sent as a bearer token.
        ca_file: authorities that its certificate may come from; None: those that every client trusts.

    Raises:
        TlsSetupError: the file can't be used.
    """
    headers = {} if token is None else {"authorization": f"Bearer {token.get_secret_value()}"}
    async with httpx.AsyncClient(
        verify=client_context(ca_file=None if ca_file is None else str(ca_file)),
        headers=headers,
        timeout=longest.total_seconds(),
        limits=httpx.Limits(max_connections=_CONNECTIONS),
        trust_env=False,
    ) as client:
        yield HttpChecker(client, url, longest=longest)


def objection_of(reason: str) -> str:
    """Why a checker objects, in a length that can be shown, and in one line."""
    return " ".join(reason.split())[:MOST_SHOWN] or "it gives no reason"


def _document(question: Question) -> Mapping[str, object]:
    change = question.change
    document: dict[str, object] = {
        "contract": question.contract,
        "operation": change.operation.value,
        "principal": change.principal,
        "project-id": change.warehouse.project_id,
        "warehouse-id": str(change.warehouse.warehouse_id),
        "warehouse": change.warehouse.name,
        "namespace": change.namespace.parts,
    }
    if change.name is not None and change.kind is not None:
        document |= {"name": change.name, "kind": change.kind.slug}
    if change.object_id is not None:
        document["object-id"] = str(change.object_id)
    if question.old is not None:
        document["old-metadata"] = msgspec.Raw(question.old)
    if question.new is not None:
        document["new-metadata"] = msgspec.Raw(question.new)
    if change.properties is not None:
        document["namespace-properties"] = change.properties
    match change.destination:
        case TabularIdent(namespace=namespace, name=name):
            document["destination"] = {"namespace": namespace.parts, "name": name}
        case NamespaceIdent(parts=parts):
            document["destination"] = {"namespace": parts}
        case None:
            pass
    return document
