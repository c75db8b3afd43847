"""A client of one store of an OpenFGA server, and the version of the model that it is asked by.

A store may be shared: with other programs, and with other versions of ours. Two tuples a version say which model is whose, as
upstream keeps them: `auth_model_id:<model's id> openfga_id model_version:<prefix>-<version>`, and `auth_model_id:* exists` on
the same. Every call names its model.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

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
from openfga_sdk.exceptions import ApiException, OpenApiException
from openfga_sdk.models.create_store_request import CreateStoreRequest

from lakeward_authz.adapters.openfga.documents import authorization_model
from lakeward_authz.domain.permissions.lakeward import MODEL, VERSION
from lakeward_authz.domain.permissions.tuples import FgaTuple
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.telemetry import spans

_LOG: Final = logging.getLogger(__name__)
MOST_WRITES: Final = 100
_MODEL: Final = "auth_model_id:"
_MARKED: Final = "model_version:"
_NOT_FOUND: Final = 404
_FINE: Final = 200
_NOT_WELL: Final = range(500, 600)
_SERVING: Final = b'"SERVING"'
_LONGEST_WORD: Final = 256
_UNKNOWN: Final = frozenset(
    {"store_id_not_found", "authorization_model_not_found", "latest_authorization_model_not_found"}
)
_SERVER: Final = {"peer.service": "openfga"}
_CONSISTENT: Final = "HIGHER_CONSISTENCY"
_FAILURES: Final = (OpenApiException, aiohttp.ClientError, OSError)  # a TimeoutError is an OSError


@dataclasses.dataclass(frozen=True, slots=True)
class StoreAddress:
    """Where a store is, and how it is asked.

    Attributes:
        url: of the server's HTTP API.
        store: its name; it is made where it is missing, and the first made of several counts.
        prefix: of our models' versions in it.
        credentials: None where the server asks for none.
        writes_model: whether this release's model is written where it is missing; without, it must be there.
        patience: for one answer, however many tries it takes.
        most_checks: in one request; no more than the server allows.
    """

    url: str
    store: str
    prefix: str
    credentials: Credentials | None = dataclasses.field(default=None, repr=False)
    writes_model: bool = True
    patience: timedelta = timedelta(seconds=3)
    most_checks: int = 50


class OpenFga:
    """One store, asked by one model. Every method raises Refusal AUTHORIZATION_UNAVAILABLE; none ever guesses.

    Nothing is asked before the store was prepared. One that the server does not know any more has to be prepared again.

    Args:
        client: of the server.
        address: which store.
        session: asks the same server how it is.
    """

    def __init__(self, client: OpenFgaClient, address: StoreAddress, session: aiohttp.ClientSession) -> None:
        """Ask through `client`."""
        self._client = client
        self._address = address
        self._session = session
        self._tells = True  # whether the server says how it is
        self._store_id = ""
        self._is_prepared = False

    @property
    def store_id(self) -> str:
        """The store's id; "" while it is not prepared."""
        return self._store_id if self._is_prepared else ""

    @property
    def patience(self) -> timedelta:
        """For one answer."""
        return self._address.patience

    async def prepare(self) -> None:
        """Find the store and this release's model in it, or make them where they are missing."""
        if not self._is_prepared:
            self._ask_by(await self.migrate())
            self._is_prepared = True

    async def ping(self) -> None:
        """Ask the server whether it answers; for readiness."""
        async with self._answering():
            await self._client.list_stores({"page_size": 1})

    async def hear(self) -> None:
        """The same for who asks all the time: by its page on health, which costs us half, where it has one."""
        if self._tells:
            async with self._answering(), self._session.get(f"{self._address.url}/healthz") as reply:
                well = reply.status == _FINE and _SERVING in await reply.content.read(_LONGEST_WORD)
                self._tells = well or reply.status in _NOT_WELL
                if reply.status in _NOT_WELL:
                    raise unavailable(f"it says that it is not well, with {reply.status}")
        if not self._tells:
            await self.ping()

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
            "max_batch_size": self._address.most_checks,
            "consistency": _CONSISTENT,
        }
        async with self._answering():
            response = await self._client.batch_check(ClientBatchCheckRequest(checks=items), options)
        found: dict[int, bool] = {}
        for one in response.result:
            if one.error is not None:
                raise unavailable(f"it could not decide {one.request.relation} of {one.request.object}")
            found[int(one.correlation_id)] = bool(one.allowed)
        if len(found) != len(items):
            raise unavailable(f"it answered {len(found)} of {len(items)} checks")
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

    async def model(self) -> str | None:
        """The id of this release's model in the store; None where it was never written."""
        await self._find()
        ids = [each.user async for each in self.tuples(on=self._version) if each.relation == "openfga_id"]
        # Two migrations at once leave two, which are alike.
        return min(ids).removeprefix(_MODEL) if ids else None

    async def migrate(self) -> str:
        """Make the store, and write this release's model, where they are not there yet; the model's id."""
        known = await self.model()
        if known is not None:
            return known
        if not self._address.writes_model:
            raise unavailable(f"its store {self._address.store!r} has no model {self._version.removeprefix(_MARKED)}")
        # a document, which the client sends as it is: its classes would only repeat the API's words
        document: Any = authorization_model(MODEL.rules)
        async with self._answering():
            written = await self._client.write_authorization_model(document)
        model_id: str = written.authorization_model_id
        self._ask_by(model_id)
        marks = [
            FgaTuple(f"{_MODEL}{model_id}", "openfga_id", self._version),
            FgaTuple(f"{_MODEL}*", "exists", self._version),
        ]
        await self.write([(mark, True) for mark in marks])
        _LOG.info("permission model written to OpenFGA", extra={"model": VERSION, "model_id": model_id})
        return model_id

    @property
    def _version(self) -> str:
        return f"{_MARKED}{self._address.prefix}-{VERSION}"

    def _ask_by(self, model_id: str) -> None:
        """Name this model with every call from now on."""
        self._client.set_authorization_model_id(model_id)  # type: ignore[no-untyped-call]

    async def _find(self) -> None:
        """Find the store by its name, or make it."""
        if self._store_id:
            return
        found = await self._stores()
        if not found:
            wanted = CreateStoreRequest(name=self._address.store)  # type: ignore[no-untyped-call]
            async with self._answering():
                await self._client.create_store(wanted)
            # Another may have made one at the same time: all take the first.
            found = await self._stores()
        if not found:
            raise unavailable(f"its store {self._address.store!r} is not there once it was made")
        self._store_id = min(found)[1]
        self._client.set_store_id(self._store_id)  # type: ignore[no-untyped-call]

    async def _stores(self) -> list[tuple[str, str]]:
        """When each store of the name was made, and its id."""
        token, name = "", self._address.store
        found: list[tuple[str, str]] = []
        while True:
            async with self._answering():
                page = await self._client.list_stores({"page_size": 100, "continuation_token": token, "name": name})
            found += [(str(store.created_at), store.id) for store in page.stores if store.name == name]
            token = page.continuation_token
            if not token:
                return found

    @contextlib.asynccontextmanager
    async def _answering(self) -> AsyncIterator[None]:
        try:
            with spans.inner("openfga", attributes=_SERVER):
                async with asyncio.timeout(self._address.patience.total_seconds()):
                    yield
        except _FAILURES as error:
            if _is_unknown(error):
                self._store_id, self._is_prepared = "", False
            # What it said may name users and objects: it goes to the log alone.
            _LOG.warning("OpenFGA gives no answer", extra={"cause": str(error)[:500]})
            raise unavailable(type(error).__name__) from error


@asynccontextmanager
async def connected(address: StoreAddress) -> AsyncIterator[OpenFga]:
    """A store, of which nothing is asked yet."""
    configuration = ClientConfiguration(
        api_url=address.url,
        credentials=address.credentials,
        retry_params=RetryParams(max_retry=1, min_wait_in_ms=50),  # type: ignore[no-untyped-call]
        timeout_millisec=int(address.patience.total_seconds() * 1000),
    )
    # Where it is told to look for a proxy a session does so for each request, in a thread.
    hearing = aiohttp.ClientSession(trust_env=is_proxied(address.url))
    async with OpenFgaClient(configuration) as client, hearing as session:
        yield OpenFga(client, address, session)


def is_proxied(url: str) -> bool:
    """Whether the environment names a proxy for what the server is asked, as the client goes by one then."""
    place = urlsplit(url)
    return place.scheme in getproxies() and not proxy_bypass(place.netloc.rpartition("@")[2])


def _is_unknown(error: Exception) -> bool:
    """Whether the server says that it does not know the store or the model, as one that was started empty does."""
    return isinstance(error, ApiException) and (error.status == _NOT_FOUND or error.code in _UNKNOWN)


def _client_tuple(each: FgaTuple) -> ClientTuple:
    return ClientTuple(user=each.user, relation=each.relation, object=each.object)


def unavailable(why: str) -> Refusal:
    """Nothing is decided, for what OpenFGA is or does: "it is being told ..."."""
    return Refusal(
        Reason.REASON_AUTHORIZATION_UNAVAILABLE,
        f"who may do this can't be found out now: OpenFGA gives no answer ({why}); retry later",
    )


_PASS_OVER: Final = ConflictOptions(
    on_duplicate_writes=ClientWriteRequestOnDuplicateWrites.IGNORE,
    on_missing_deletes=ClientWriteRequestOnMissingDeletes.IGNORE,
)
