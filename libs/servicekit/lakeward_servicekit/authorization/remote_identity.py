"""An Identity and a Registrar over a channel to authz, which remembers whom a token belongs to.

Remembered is what verifying a token found, by the token's hash: for a minute at most, never past the token's end, and only
while the providers' configuration and keys are those it was found under. Refusals are not remembered, nor is anything of an
assumed role, which may be taken away. Tokens themselves are kept nowhere.

That a token's user was recorded is remembered by the token's hash as well, and for good: a user's row is never removed, and
recording with the same claims changes nothing that is there.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, NamedTuple, cast

import grpc.aio

from lakeward_protocol.authz.v1 import identity_pb2 as pb
from lakeward_protocol.authz.v1 import identity_pb2_grpc
from lakeward_protocol.common.v1.context_pb2 import RequestContext
from lakeward_servicekit.authorization.identity import OPEN_REVISION, Identified
from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.authorization.registrar import Presented
from lakeward_servicekit.authorization.wire import principal_of
from lakeward_servicekit.keeping import Kept, Once
from lakeward_servicekit.rpc.client import Channel
from lakeward_servicekit.telemetry.caches import told

REMEMBERED_SECONDS: Final = 60.0
_CAPACITY: Final = 10_000
_SECONDS: Final = 15.0


class _Remembered(NamedTuple):
    identified: Identified
    until: float
    revision: str


class RemoteIdentity:
    """Asks authz whom requests come from.

    Args:
        channel: to authz.
        capacity: tokens that are remembered at most.
        clock: seconds on a clock that never goes back.
        now: the time, in UTC, which tokens' ends are compared with.
    """

    def __init__(
        self,
        channel: Channel,
        *,
        capacity: int = _CAPACITY,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Ask over `channel`; remember nothing yet."""
        self._stub = identity_pb2_grpc.IdentityServiceStub(cast("grpc.aio.Channel", channel))
        self._clock = clock
        self._now = now
        self._remembered = told("tokens", Kept[bytes, _Remembered](capacity))
        self._asking = Once[bytes, Identified]()
        self._recorded = Kept[bytes, UserId](capacity)
        self._revision = ""
        self._last = b"", hashlib.sha256().digest()
        # Set while no provider is configured: then the answer is the same for every token, and none is hashed.
        self._everybody: Identified | None = None
        self._everybody_until = -float("inf")

    async def authenticate(self, context: RequestContext) -> Identified:
        """See `Identity`."""
        if context.assumed_role:
            return (await self._ask(context.authorization, context.assumed_role))[0]
        at = self._clock()
        if self._everybody is not None and at < self._everybody_until:
            return self._everybody
        digest = self._digest(context.authorization)
        remembered = self._remembered.look(digest)
        if remembered is not None and at < remembered.until and remembered.revision == self._revision:
            self._remembered.hits += 1
            return remembered.identified
        self._remembered.misses += 1
        return await self._asking(digest, lambda: self._ask_and_remember(digest, context.authorization))

    async def provision_user(self, presented: Presented) -> UserId | None:
        """See `Registrar`."""
        if self._everybody is not None and self._clock() < self._everybody_until:
            return None
        digest = self._digest(presented.authorization)
        recorded = self._recorded.look(digest)
        if recorded is not None:
            self._recorded.used(digest)
            return recorded
        request = pb.ProvisionUserRequest(context=_of(presented))
        user_id = UserId((await self._stub.ProvisionUser(request)).user_id)
        if not user_id:
            return None
        self._recorded.put(digest, user_id)
        return user_id

    def _digest(self, authorization: str) -> bytes:
        # who calls, and whether that was recorded, are asked one after the other, and hashing a token costs what ten looks do
        presented = authorization.encode()
        last, digest = self._last
        if not hmac.compare_digest(last, presented):
            digest = hashlib.sha256(presented).digest()
            self._last = presented, digest
        return digest

    async def bootstrap_administrator(self, presented: Presented, *, is_operator: bool) -> None:
        """See `Registrar`."""
        request = pb.BootstrapAdministratorRequest(context=_of(presented), is_operator=is_operator)
        await self._stub.BootstrapAdministrator(request)

    async def _ask_and_remember(self, digest: bytes, authorization: str) -> Identified:
        at, now = self._clock(), self._now()
        identified, revision = await self._ask(authorization, "")
        until = at + REMEMBERED_SECONDS
        if identified.expires_at is not None:
            until = min(until, at + (identified.expires_at - now).total_seconds())
        self._revision = revision
        if revision == OPEN_REVISION:
            self._everybody, self._everybody_until = identified, until
            return identified
        self._everybody = None
        self._remembered.put(digest, _Remembered(identified, until, revision))
        return identified

    async def _ask(self, authorization: str, assumed_role: str) -> tuple[Identified, str]:
        context = RequestContext(authorization=authorization, assumed_role=assumed_role)
        response = await self._stub.Authenticate(pb.AuthenticateRequest(context=context), timeout=_SECONDS)
        ends = response.expires_at.ToDatetime(UTC) if response.HasField("expires_at") else None
        identified = Identified(principal_of(response.principal), response.display_name or None, ends)
        return identified, response.revision


def _of(presented: Presented) -> RequestContext:
    return RequestContext(
        authorization=presented.authorization, request_id=presented.request_id, traceparent=presented.traceparent
    )
