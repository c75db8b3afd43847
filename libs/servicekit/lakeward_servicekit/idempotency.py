"""Idempotency keys: a change that is asked for twice under one key happens once.

A key counts in its place (warehouse, project or server, and principal) and is bound to one request by a fingerprint. What it
did is written in the change's own transaction, so there is no moment in which one is there without the other. The record holds
ids, never a reply: a repetition is authorised anew and its reply made anew, credentials included. Refusals that would be the
same again are kept too; what a retry could win, faults, and refusals to let the caller in are not.

Two at once: in one process the second waits for the first; across processes the one that comes second to the unique row, or that
trips over what the first has done, looks again and answers from the first one's record.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Final, Protocol, TypeVar
from uuid import UUID

import msgspec

from lakeward_servicekit.errors import PREFIX, Family, Reason, Refusal, name_of, rule_of
from lakeward_servicekit.system import Clock

T = TypeVar("T")

_TWIN_WAIT: Final = timedelta(seconds=10)
_LASTING: Final = frozenset(
    {
        Family.FAMILY_INVALID_ARGUMENT,
        Family.FAMILY_NOT_FOUND,
        Family.FAMILY_ALREADY_EXISTS,
        Family.FAMILY_FAILED_PRECONDITION,
        Family.FAMILY_OUT_OF_RANGE,
    }
)
# Without a right to the place nothing is written in it, and a right that is granted a moment later must count. What the
# store refused is the world's state and not the request's fault.
_NEVER_KEPT: Final = frozenset(
    {
        Reason.REASON_NO_SUCH_WAREHOUSE,
        Reason.REASON_NO_SUCH_PROJECT,
        Reason.REASON_IDEMPOTENCY_KEY_REUSED,
        Reason.REASON_STORE_DENIED,
        Reason.REASON_CREDENTIAL_NOT_ISSUED,
    }
)


@dataclasses.dataclass(frozen=True, slots=True)
class KeyPlace:
    """Where an idempotency key counts: in one warehouse or project, for one principal."""

    owner: str
    principal: str
    key: UUID


@dataclasses.dataclass(frozen=True, slots=True)
class Remembered:
    """What a key did.

    Attributes:
        fingerprint: SHA-256 over method, idents and canonical JSON.
        outcome: JSON: ids of what was made, or a refusal's reason, message and metadata. Never a credential.
    """

    fingerprint: bytes
    outcome: bytes


@dataclasses.dataclass(frozen=True, slots=True)
class Record:
    """What a change writes of its key, in its own transaction."""

    place: KeyPlace
    remembered: Remembered
    until: datetime


class IdempotencyStore(Protocol):
    """What idempotency keys did, while they are remembered."""

    async def find(self, place: KeyPlace, *, now: datetime) -> Remembered | None:
        """None for a key that is new or forgotten."""
        ...

    async def keep_refusal(self, place: KeyPlace, remembered: Remembered, *, until: datetime) -> None:
        """Remember a lasting refusal, which changed nothing and so has no transaction; an earlier record stays."""
        ...


class Ledger(Protocol):
    """What a change writes beside its rows."""

    def remember(self, place: KeyPlace, remembered: Remembered, *, until: datetime) -> None:
        """Keep what a key did, when the change commits."""
        ...


class Change(Protocol):
    """A transaction that changes something."""

    @property
    def ledger(self) -> Ledger:
        """What it writes beside its rows."""
        ...


class Principal(Protocol):
    """For whom something is asked."""

    @property
    def key(self) -> str:
        """One text per principal."""
        ...


class Caller(Protocol):
    """Whose key it is."""

    @property
    def principal(self) -> Principal:
        """For whom it asks."""
        ...

    @property
    def idempotency_key(self) -> UUID | None:
        """None where the call has none."""
        ...


class Body(Protocol):
    """JSON that came along, and that may not have been read yet."""

    async def digest(self) -> bytes:
        """A hash of what it says, in whatever order."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Keyed:
    """What a key is bound to.

    Attributes:
        owner: where the key counts, by `of_warehouse` or `of_project`, or `OF_SERVER`.
        method: the use case, as "createTable".
        parameters: what else is asked for: idents, flags, ids; as JSON can hold it.
        body: the JSON that came along, if any. It is read only where something is kept or was kept under the key, so that who
            may do nothing here can't have it read.
    """

    owner: str
    method: str
    parameters: Mapping[str, object]
    body: Body | None = None

    async def fingerprint(self) -> bytes:
        """SHA-256 over method, parameters and body, with the members of every object in one order."""
        body = b"" if self.body is None else await self.body.digest()
        digest = hashlib.sha256()
        for part in (self.method.encode(), _ENCODER.encode(self.parameters), body):
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
        return digest.digest()


OF_SERVER: Final = "server"
"""Where a key counts that is about no warehouse or project that is there already."""


def of_warehouse(warehouse_id: UUID) -> str:
    """A key that counts in one warehouse."""
    return f"warehouse/{warehouse_id}"


def of_project(project_id: str) -> str:
    """A key that counts in one project."""
    return f"project/{project_id}"


@dataclasses.dataclass(frozen=True, slots=True)
class Keeper:
    """How a change keeps what its key did. Without a key it keeps nothing."""

    place: KeyPlace | None
    keyed: Keyed
    lifetime: timedelta
    clock: Clock

    async def keep(self, change: Change, **ids: UUID | str) -> None:
        """Remember that the change was made, in the change's own transaction.

        Args:
            change: the transaction.
            **ids: what a repetition needs to make its reply; never a credential.

        Raises:
            Refusal: REQUEST_IN_PROGRESS, where another transaction kept the key first.
        """
        record = await self.record(**ids)
        if record is not None:
            change.ledger.remember(record.place, record.remembered, until=record.until)

    async def record(self, **ids: UUID | str) -> Record | None:
        """What is to be written in the change's own transaction; None without a key.

        Args:
            **ids: what a repetition needs to make its reply; never a credential.
        """
        if self.place is None:
            return None
        outcome = msgspec.json.encode({"done": {name: str(value) for name, value in ids.items()}})
        remembered = Remembered(await self.keyed.fingerprint(), outcome)
        return Record(self.place, remembered, self.clock.now() + self.lifetime)


class Once:
    """Runs what is keyed once per key. One per process, because twins in one process wait for each other here.

    Args:
        store: remembers.
        clock: the time.
        lifetime: how long a key's outcome is promised; None: keys are not heeded.
        grace: how much longer it is kept.
        twin_wait: how long a call waits for one with the same key in this process.
    """

    def __init__(
        self,
        *,
        store: IdempotencyStore,
        clock: Clock,
        lifetime: timedelta | None,
        grace: timedelta,
        twin_wait: timedelta = _TWIN_WAIT,
    ) -> None:
        """See the class."""
        self._store: Final = store
        self._clock: Final = clock
        self._lifetime: Final = lifetime
        self._kept_for: Final = (lifetime or timedelta()) + grace
        self._twin_wait: Final = twin_wait
        self._running: Final[dict[KeyPlace, asyncio.Future[None]]] = {}

    async def __call__(
        self,
        keyed: Keyed,
        *,
        caller: Caller,
        do: Callable[[Keeper], Awaitable[T]],
        again: Callable[[Mapping[str, str]], Awaitable[T]],
    ) -> T:
        """Do it, or answer for what was done.

        Args:
            keyed: what is asked for.
            caller: whose key it is.
            do: makes the change; calls `Keeper.keep` in its transaction, once.
            again: makes the reply of a change that was made, from the ids that were kept. Asks authz again; changes nothing.

        Raises:
            Refusal: IDEMPOTENCY_KEY_REUSED, REQUEST_IN_PROGRESS, and what `do` and `again` raise.
        """
        key = caller.idempotency_key
        if key is None or self._lifetime is None:
            return await do(Keeper(None, keyed, self._kept_for, self._clock))
        place = KeyPlace(keyed.owner, caller.principal.key, key)
        async with self._alone(place):
            done = await self._done(place, keyed)
            if done is None:
                try:
                    return await do(Keeper(place, keyed, self._kept_for, self._clock))
                except Refusal as refusal:
                    # it may have tripped over what its twin in another process did
                    done = await self._done(place, keyed) if _could_be_a_twins(refusal) else None
                    if done is None:
                        await self._keep_refusal(place, keyed, refusal)
                        raise
            return await again(done)

    @contextlib.asynccontextmanager
    async def _alone(self, place: KeyPlace) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._twin_wait.total_seconds()):
                while (twin := self._running.get(place)) is not None:
                    await asyncio.wait([twin])
        except TimeoutError:
            raise _in_progress(place) from None
        mine = self._running[place] = asyncio.get_running_loop().create_future()
        try:
            yield
        finally:
            del self._running[place]
            mine.set_result(None)

    async def _done(self, place: KeyPlace, keyed: Keyed) -> Mapping[str, str] | None:
        remembered = await self._store.find(place, now=self._clock.now())
        if remembered is None:
            return None
        if remembered.fingerprint != await keyed.fingerprint():
            shown = str(place.key)
            raise Refusal(
                Reason.REASON_IDEMPOTENCY_KEY_REUSED,
                f"idempotency key {shown} was used for another request; make a new key for each request",
                key=shown,
            )
        outcome = msgspec.json.decode(remembered.outcome, type=_Outcome)
        if outcome.refused is not None:
            refused = outcome.refused
            raise Refusal(Reason.Value(PREFIX + refused.reason), refused.message, **refused.metadata)
        return outcome.done

    async def _keep_refusal(self, place: KeyPlace, keyed: Keyed, refusal: Refusal) -> None:
        if rule_of(refusal.reason).family not in _LASTING or refusal.reason in _NEVER_KEPT:
            return
        refused = _Refused(name_of(refusal.reason), refusal.message, dict(refusal.metadata))
        remembered = Remembered(await keyed.fingerprint(), msgspec.json.encode(_Outcome(refused=refused)))
        await self._store.keep_refusal(place, remembered, until=self._clock.now() + self._kept_for)


class _Refused(msgspec.Struct, frozen=True):
    reason: str
    message: str
    metadata: dict[str, str]


class _Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    done: dict[str, str] = {}
    refused: _Refused | None = None


_ENCODER: Final = msgspec.json.Encoder(order="sorted")


def _could_be_a_twins(refusal: Refusal) -> bool:
    family = rule_of(refusal.reason).family
    return family in _LASTING or family == Family.FAMILY_ABORTED


def _in_progress(place: KeyPlace) -> Refusal:
    shown = str(place.key)
    return Refusal(
        Reason.REASON_REQUEST_IN_PROGRESS,
        f"the first request with idempotency key {shown} is still running; send this one again later",
        key=shown,
    )
