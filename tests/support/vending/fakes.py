"""Vending's ports in memory, with the real ones' rules."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import itertools
from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

from lakeward_locations import Location
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.application.ports import Grant, ListedObject, Moved, ObjectStore, Storage, StoredSecret
from lakeward_vending.application.refusals import FileExists, FileTooLarge, StoreDenied
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.addresses import Address
from lakeward_vending.domain.credentials import Credential
from lakeward_vending.domain.s3.keys import Session, SigningKey, SigningTerms
from lakeward_vending.domain.secret import Secret

TERMS = SigningTerms(("x-forwarded-prefix",), holds_bodies=True)
START = dt.datetime(2026, 8, 21, 12, 0, tzinfo=dt.UTC)


class FakeClock:
    def __init__(self, now: dt.datetime = START) -> None:
        self.time = now

    def now(self) -> dt.datetime:
        return self.time

    def advance(self, **parts: float) -> None:
        self.time += dt.timedelta(**parts)


class CountingIds:
    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def uuid4(self) -> UUID:
        return UUID(int=next(self._numbers))


class FakeSecrets:
    """A SecretStore; a key that is not in `keys` makes what it sealed unreadable."""

    def __init__(self, keys: Sequence[str] = ("one",)) -> None:
        self.keys = list(keys)
        self.rows: dict[UUID, _Row] = {}
        self.retired: set[str] = set()
        self.reads = 0

    async def find(self, secret_id: UUID) -> StoredSecret | None:
        self.reads += 1
        row = self.rows.get(secret_id)
        if row is None:
            return None
        self._check_key(row)
        return StoredSecret(row.credential, row.warehouse_id)

    async def stage(
        self,
        secret_id: UUID,
        credential: Credential,
        *,
        staged_by: str,
        warehouse_id: UUID | None,
        now: dt.datetime,
        project_id: str | None = None,
    ) -> None:
        del staged_by, project_id
        if self.keys[0] in self.retired:
            raise Refusal(Reason.REASON_SECRET_UNREADABLE, f"the key {self.keys[0]} is retired", key_id=self.keys[0])
        self.rows[secret_id] = _Row(credential, self.keys[0], now, warehouse_id)

    async def keep(self, secret_id: UUID, *, warehouse_id: UUID, now: dt.datetime) -> bool:
        del now
        row = self.rows.get(secret_id)
        if row is None or any(each not in {None, warehouse_id} for each in (row.warehouse_id, row.staged_for)):
            return False
        self.rows[secret_id] = dataclasses.replace(row, warehouse_id=warehouse_id)
        return True

    async def forget(self, secret_id: UUID) -> None:
        self.rows.pop(secret_id, None)

    async def sweep(self, *, staged_before: dt.datetime, limit: int) -> int:
        old = [key for key, row in self.rows.items() if row.warehouse_id is None and row.staged_at < staged_before]
        for key in old[:limit]:
            del self.rows[key]
        return len(old[:limit])

    async def reencrypt(self, *, limit: int) -> int:
        old = [key for key, row in self.rows.items() if row.key != self.keys[0]][:limit]
        for key in old:
            self._check_key(self.rows[key])
            self.rows[key] = dataclasses.replace(self.rows[key], key=self.keys[0])
        return len(old)

    async def retire(self) -> None:
        self.retired = (self.retired | {*self.keys, *(row.key for row in self.rows.values())}) - {self.keys[0]}

    async def move(self, *, after: UUID | None, limit: int) -> Moved:
        return Moved(None, 0, ())

    def _check_key(self, row: _Row) -> None:
        if row.key not in self.keys:
            raise Refusal(Reason.REASON_SECRET_UNREADABLE, f"the key {row.key} is not in the ring", key_id=row.key)


@dataclasses.dataclass(frozen=True)
class _Row:
    credential: Credential
    key: str
    staged_at: dt.datetime
    staged_for: UUID | None
    warehouse_id: UUID | None = None


class FakeObjects:
    """An ObjectStore over a dict that several share, through a credential that may be confined.

    Args:
        objects: by key; shared.
        prefix: what the credential opens.
        access: what it may do there.
        folds: what disregards case: "policies", "keys".
    """

    def __init__(
        self,
        objects: dict[str, bytes] | None = None,
        *,
        prefix: str = "",
        access: Access = Access.READ_WRITE_DELETE,
        folds: frozenset[str] = frozenset(),
    ) -> None:
        self._folds = folds
        self.objects = {} if objects is None else objects
        self._prefix = prefix
        self._access = access

    async def read(self, key: str, *, limit: int) -> bytes | None:
        self._check(key, Access.READ)
        if "keys" in self._folds:
            key = next((each for each in self.objects if each.casefold() == key.casefold()), key)
        if key not in self.objects:
            return None
        content = self.objects[key]
        if len(content) > limit:
            raise FileTooLarge(key, limit)
        return content

    async def write(self, key: str, content: bytes, *, content_type: str | None) -> None:
        del content_type
        self._check(key, Access.READ_WRITE)
        if self.objects.setdefault(key, content) != content:
            raise FileExists(key)

    async def delete(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._check(key, Access.READ_WRITE_DELETE)
        for key in keys:
            self.objects.pop(key, None)

    async def list_page(self, prefix: str, *, limit: int) -> Sequence[str]:
        self._check(prefix, Access.READ)
        return sorted(key for key in self.objects if key.startswith(prefix))[:limit]

    async def list_objects(self, prefix: str, *, after: str, limit: int) -> Sequence[ListedObject]:
        self._check(prefix, Access.READ)
        keys = sorted(key for key in self.objects if key.startswith(prefix) and key > after)
        return [ListedObject(key, len(self.objects[key])) for key in keys[:limit]]

    async def read_part(self, key: str, *, offset: int, length: int) -> bytes | None:
        self._check(key, Access.READ)
        return None if key not in self.objects else self.objects[key][offset : offset + length]

    def _check(self, key: str, access: Access) -> None:
        compared = (key.casefold(), self._prefix.casefold()) if "policies" in self._folds else (key, self._prefix)
        if not compared[0].startswith(compared[1]) or self._access < access:
            raise StoreDenied(f"fake at {key}")


class FakeStores:
    """S3's stores, in memory.

    Args:
        clock: the time.
        enforces_scope: false is a store that ignores session policies.
        life: of credentials.
        terms: on which the own key signs; None: the store obeys what anybody adds.
        obeys_forwarding: the store holds session policies against a path that it does not act on.
        folds_policies, folds_keys: the store disregards case.
    """

    def __init__(
        self,
        clock: FakeClock,
        *,
        enforces_scope: bool = True,
        life: dt.timedelta = dt.timedelta(hours=1),
        terms: SigningTerms | None = TERMS,
        obeys_forwarding: bool = False,
        folds_policies: bool = False,
        folds_keys: bool = False,
    ) -> None:
        self._folds = frozenset(["policies"] * folds_policies + ["keys"] * folds_keys)
        self.objects: dict[str, bytes] = {}
        self.grants: list[Grant] = []
        self.opened = 0
        self.terms = terms
        self.terms_asked = 0
        self.obeys_forwarding = obeys_forwarding
        self._clock = clock
        self._enforces_scope = enforces_scope
        self._life = life
        self._scopes: dict[str, Grant] = {}

    async def open(self, storage: Storage) -> ObjectStore:
        del storage
        self.opened += 1
        return FakeObjects(self.objects, folds=self._folds)

    async def open_as(self, storage: Storage, key: SigningKey) -> ObjectStore:
        del storage
        grant = self._scopes[key.access_key_id]
        prefix = grant.location.prefix if self._enforces_scope else ""
        return FakeObjects(self.objects, prefix=prefix, access=grant.access, folds=self._folds)

    async def signing_key(self, storage: Storage) -> SigningKey:
        assert storage.credential is not None
        return SigningKey(
            storage.credential.text("access-key-id") or "", storage.credential.secret("secret-access-key"), None
        )

    async def signing_terms(self, storage: Storage) -> SigningTerms:
        del storage
        self.terms_asked += 1
        if self.terms is None:
            raise Refusal(Reason.REASON_SIGNING_DISABLED, "the store obeys what anybody adds")
        return self.terms

    async def read_as_forwarded(self, storage: Storage, key: SigningKey, name: str, *, inside: Location) -> None:
        del inside
        if not self.obeys_forwarding:
            store = await self.open_as(storage, key)
            await store.read(name, limit=1000)

    async def mint(self, grant: Grant) -> Session:
        await asyncio.sleep(0)  # lets others ask meanwhile
        self.grants.append(grant)
        key = f"AK{len(self.grants)}"
        self._scopes[key] = grant
        return Session(key, Secret("sk"), Secret("tok"), self._clock.now() + self._life)


class FakeResolver:
    def __init__(self, addresses: dict[str, Sequence[Address]]) -> None:
        self.addresses = addresses

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        del port
        return self.addresses[host]


async def refusal_of(work: Awaitable[object]) -> Refusal:
    """The refusal that `work` ends in."""
    try:
        await work
    except Refusal as refusal:
        return refusal
    raise AssertionError("nothing was refused")


Load = Callable[[], Awaitable[tuple[str, float]]]
