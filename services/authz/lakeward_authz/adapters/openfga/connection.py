"""A client of one store of an OpenFGA server, and the version of the model that it is asked by.

A store may be shared: with other programs, and with other versions of ours. Two tuples a version say which model is whose, as
upstream keeps them: `auth_model_id:<model's id> openfga_id model_version:<prefix>-<version>`, and `auth_model_id:* exists` on
the same. Every call names its model.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final

import aiohttp
from openfga_sdk import ReadRequestTupleKey
from openfga_sdk.client import ClientConfiguration, OpenFgaClient
from openfga_sdk.client.models import (
    ClientBatchCheckItem,
    ClientBatchCheckRequest,
    ClientTuple,
    ClientWriteRequest,
    ConflictOptions,
)
from openfga_sdk.client.models.write_conflict_opts import (
    ClientWriteRequestOnDuplicateWrites,
    ClientWriteRequestOnMissingDeletes,
)
from openfga_sdk.configuration import RetryParams
from openfga_sdk.credentials import Credentials
from openfga_sdk.exceptions import OpenApiException
from openfga_sdk.models.create_store_request import CreateStoreRequest

from lakeward_authz.adapters.openfga.documents import authorization_model
from lakeward_authz.domain.permissions.lakeward import MODEL, VERSION
from lakeward_authz.domain.permissions.tuples import FgaTuple
from lakeward_servicekit.errors import Reason, Refusal

_LOG: Final = logging.getLogger(__name__)
MOST_WRITES: Final = 100
_MODEL: Final = "auth_model_id:"
_CONSISTENT: Final = "HIGHER_CONSISTENCY"
_FAILURES: Final = (OpenApiException, aiohttp.ClientError, OSError)  # a TimeoutError is an OSError


class OpenFga:
    """One store, asked by one model. Every method raises Refusal AUTHORIZATION_UNAVAILABLE; none ever guesses.

    Args:
        client: of the server.
        patience: for one answer, however many tries it takes.
        most_checks: in one request; no more than the server allows.
    """

    def __init__(self, client: OpenFgaClient, *, patience: timedelta, most_checks: int) -> None:
        """Ask through `client`."""
        self._client = client
        self._patience = patience.total_seconds()
        self._most_checks = most_checks

    async def allowed(self, checks: Sequence[tuple[FgaTuple, Sequence[FgaTuple]]]) -> Sequence[bool]:
        """Whether each tuple follows, from what the store holds and from the tuples that stand beside it.

        Caches of the server are passed by: an answer knows of every write that was answered before.
        """
        if not checks:
            return []
        items = [
            ClientBatchCheckItem(
                user=asked.user,
                relation=asked.relation,
                object=asked.object,
                correlation_id=str(number),
                contextual_tuples=[_client_tuple(each) for each in beside],
            )
            for number, (asked, beside) in enumerate(checks)
        ]
        options: dict[str, int | str | dict[str, int | str]] = {
            "max_batch_size": self._most_checks,
            "consistency": _CONSISTENT,
        }
        async with self._answering():
            response = await self._client.batch_check(ClientBatchCheckRequest(checks=items), options)
        found: dict[int, bool] = {}
        for one in response.result:
            if one.error is not None:
                raise _unavailable(f"it could not decide {one.request.relation} of {one.request.object}")
            found[int(one.correlation_id)] = bool(one.allowed)
        if len(found) != len(items):
            raise _unavailable(f"it answered {len(found)} of {len(items)} checks")
        return [found[number] for number in range(len(items))]

    async def write(self, changes: Sequence[tuple[FgaTuple, bool]]) -> None:
        """Make tuples be there or not; each is named once. What is so already is passed over."""
        options: Any = {"conflict": _PASS_OVER}
        for start in range(0, len(changes), MOST_WRITES):
            some = changes[start : start + MOST_WRITES]
            body = ClientWriteRequest(
                writes=[_client_tuple(each) for each, wanted in some if wanted],
                deletes=[_client_tuple(each) for each, wanted in some if not wanted],
            )
            async with self._answering():
                await self._client.write(body, options)

    async def tuples(self, *, on: str = "") -> AsyncIterator[FgaTuple]:
        """The tuples of one object, or of the whole store."""
        token = ""
        key = ReadRequestTupleKey(object=on) if on else ReadRequestTupleKey()  # type: ignore[no-untyped-call]
        while True:
            async with self._answering():
                page = await self._client.read(
                    key, {"page_size": 100, "continuation_token": token, "consistency": _CONSISTENT}
                )
            for one in page.tuples:
                yield FgaTuple(one.key.user, one.key.relation, one.key.object)
            token = page.continuation_token
            if not token:
                return

    async def model(self, *, prefix: str) -> str | None:
        """The id of this release's model in the store; None where it was never written."""
        version = _version(prefix)
        ids = [each.user async for each in self.tuples(on=version) if each.relation == "openfga_id"]
        # Two migrations at once leave two, which are alike.
        return min(ids).removeprefix(_MODEL) if ids else None

    async def migrate(self, *, prefix: str) -> str:
        """Write this release's model where it is not there yet, and answer its id."""
        known = await self.model(prefix=prefix)
        if known is not None:
            return known
        # a document, which the client sends as it is: its classes would only repeat the API's words
        document: Any = authorization_model(MODEL.rules)
        async with self._answering():
            written = await self._client.write_authorization_model(document)
        model_id: str = written.authorization_model_id
        self.ask_by(model_id)
        version = _version(prefix)
        marks = [FgaTuple(f"{_MODEL}{model_id}", "openfga_id", version), FgaTuple(f"{_MODEL}*", "exists", version)]
        await self.write([(mark, True) for mark in marks])
        _LOG.info("permission model written to OpenFGA", extra={"model": version, "model_id": model_id})
        return model_id

    def ask_by(self, model_id: str) -> None:
        """Name this model with every call from now on."""
        self._client.set_authorization_model_id(model_id)  # type: ignore[no-untyped-call]

    @contextlib.asynccontextmanager
    async def _answering(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._patience):
                yield
        except _FAILURES as error:
            # What it said may name users and objects: it goes to the log alone.
            _LOG.warning("OpenFGA gives no answer", extra={"cause": str(error)[:500]})
            raise _unavailable(type(error).__name__) from error


@asynccontextmanager
async def opened(
    url: str,
    *,
    store: str,
    credentials: Credentials | None = None,
    patience: timedelta = timedelta(seconds=3),
    most_checks: int = 50,
) -> AsyncIterator[OpenFga]:
    """A store of this name, made where it is missing.

    Args:
        url: of the server's HTTP API.
        store: its name; the first made of several counts.
        credentials: None where the server asks for none.
        patience: see `OpenFga`.
        most_checks: see `OpenFga`.

    Raises:
        Refusal: AUTHORIZATION_UNAVAILABLE.
    """
    configuration = ClientConfiguration(
        api_url=url,
        credentials=credentials,
        retry_params=RetryParams(max_retry=1, min_wait_in_ms=50),  # type: ignore[no-untyped-call]
        timeout_millisec=int(patience.total_seconds() * 1000),
    )
    async with OpenFgaClient(configuration) as client:
        made = OpenFga(client, patience=patience, most_checks=most_checks)
        client.set_store_id(await _store_id(client, made, store))
        yield made


async def _store_id(client: OpenFgaClient, asked: OpenFga, name: str) -> str:
    token = ""
    found: list[tuple[str, str]] = []
    while True:
        async with asked._answering():  # noqa: SLF001 - the same module's
            page = await client.list_stores({"page_size": 100, "continuation_token": token, "name": name})
        found += [(str(store.created_at), store.id) for store in page.stores if store.name == name]
        token = page.continuation_token
        if not token:
            break
    if found:
        return min(found)[1]
    wanted = CreateStoreRequest(name=name)  # type: ignore[no-untyped-call]
    async with asked._answering():  # noqa: SLF001 - the same module's
        store_id: str = (await client.create_store(wanted)).id
    return store_id


def _version(prefix: str) -> str:
    return f"model_version:{prefix}-{VERSION}"


def _client_tuple(each: FgaTuple) -> ClientTuple:
    return ClientTuple(user=each.user, relation=each.relation, object=each.object)


def _unavailable(why: str) -> Refusal:
    return Refusal(
        Reason.REASON_AUTHORIZATION_UNAVAILABLE,
        f"who may do this can't be found out now: OpenFGA gives no answer ({why}); retry later",
    )


_PASS_OVER: Final = ConflictOptions(
    on_duplicate_writes=ClientWriteRequestOnDuplicateWrites.IGNORE,
    on_missing_deletes=ClientWriteRequestOnMissingDeletes.IGNORE,
)
