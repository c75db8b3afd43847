"""Who the catalog talks to, in memory: identity, files, vending, and a gate that is open."""

from __future__ import annotations

import asyncio
import dataclasses
import gzip
import itertools
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from lakeward_catalog.application.caller import Delegation
from lakeward_catalog.application.ports.access import Access, Folder, SignedRequest, StorageRequest, Vended
from lakeward_catalog.application.ports.storage import Checked, CheckStatus, Claimed, PlaceMark
from lakeward_catalog.domain.bodies import text_of
from lakeward_catalog.domain.iceberg.files import is_gzip_name
from lakeward_catalog.domain.model import Incarnation, Storage, Tabular, Warehouse, WarehouseId
from lakeward_locations import Location
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.authorization.identity import Identified
from lakeward_servicekit.authorization.principals import ANONYMOUS, Principal, PrincipalKind, RoleId, UserId
from lakeward_servicekit.authorization.registrar import Presented
from lakeward_servicekit.deflated import Deflated, gzip_file
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.values import a_storage


class CountedIds:
    """Ids that count, so that two houses that were built alike have the same ones."""

    def __init__(self) -> None:
        self._next = itertools.count(1)

    def uuid7(self) -> UUID:
        return UUID(int=0x7 << 76 | 0x2 << 62 | next(self._next))

    def uuid4(self) -> UUID:
        return UUID(int=0x4 << 76 | 0x2 << 62 | next(self._next))


class TokenIdentity:
    """Takes the words of `authorization` for a user id; nobody without one. Records who was provisioned.

    Attributes:
        engines: of users whose tokens are trusted engines', which.
    """

    def __init__(self) -> None:
        self.engines: dict[str, tuple[str, ...]] = {}
        self.provisioned: list[str] = []
        self.administrator: str | None = None
        self.refuses_provisioning: Refusal | None = None

    async def authenticate(self, context: context_pb2.RequestContext) -> Identified:
        if not context.authorization:
            return Identified(ANONYMOUS)
        user_id, role_id = UserId(context.authorization), RoleId(context.assumed_role)
        kind = PrincipalKind.ROLE if role_id else PrincipalKind.USER
        return Identified(Principal(kind, user_id, role_id, self.engines.get(user_id, ())))

    async def provision_user(self, presented: Presented) -> UserId | None:
        if self.refuses_provisioning is not None:
            raise self.refuses_provisioning
        self.provisioned.append(presented.authorization)
        return UserId(presented.authorization) if presented.authorization else None

    async def bootstrap_administrator(self, presented: Presented, *, is_operator: bool) -> None:
        if self.administrator not in {None, presented.authorization}:
            raise Refusal(Reason.REASON_ALREADY_BOOTSTRAPPED, "another was first")
        self.administrator = presented.authorization


class MemoryFiles:
    """Files by location."""

    def __init__(self) -> None:
        self.stored: dict[str, bytes] = {}
        self.parts: list[tuple[str, int]] = []
        self.during: Callable[[], Awaitable[object]] | None = None
        self.refuses: Refusal | None = None

    def _check(self) -> None:
        if self.refuses is not None:
            raise self.refuses

    async def read(self, warehouse: Warehouse, location: str, *, within: Location, principal: str) -> bytes:
        self._check()
        if location not in self.stored:
            raise Refusal(Reason.REASON_FILE_NOT_FOUND, "no such file", location=location)
        content = self.stored[location]
        return gzip.decompress(content) if is_gzip_name(location) else content

    async def write(
        self, warehouse: Warehouse, tabular: Tabular, location: str, text: Deflated, *, principal: str
    ) -> None:
        self._check()
        assert Location.parse(tabular.location).contains(Location.parse(location))
        assert location not in self.stored
        self.stored[location] = gzip_file(text) if is_gzip_name(location) else text_of(text)

    async def delete(self, warehouse: Warehouse, tabular: Tabular, locations: Sequence[str], *, principal: str) -> None:
        self._check()
        for location in locations:
            self.stored.pop(location, None)

    async def is_empty(self, warehouse: Warehouse, location: Location, *, principal: str) -> bool:
        self._check()
        return not any(location.contains(Location.parse(stored)) for stored in self.stored)

    async def list_files(
        self, warehouse: Warehouse, tabular: Tabular, *, below: str, after: str, limit: int
    ) -> Sequence[tuple[str, int]]:
        self._check()
        if self.during is not None:
            await self.during()
        root = f"{tabular.location}/"
        paths = sorted(each.removeprefix(root) for each in self.stored if each.startswith(f"{root}{below}"))
        return [(path, len(self.stored[f"{root}{path}"])) for path in paths if path > after][:limit]

    async def read_part(self, warehouse: Warehouse, tabular: Tabular, path: str, *, offset: int, length: int) -> bytes:
        self._check()
        location = str(Location.parse(f"{tabular.location}/{path}"))
        if location not in self.stored:
            raise Refusal(Reason.REASON_FILE_NOT_FOUND, "no such file", location=location)
        self.parts.append((path, length))
        return self.stored[location][offset : offset + length]

    async def purge_page(self, warehouse: Warehouse, incarnation: Incarnation, location: Location) -> tuple[int, bool]:
        raise NotImplementedError


class CountingAccess:
    """Vends a credential that says what it is for."""

    def __init__(self) -> None:
        self.vended: list[tuple[str, Access, str]] = []

    async def vend(
        self,
        warehouse: Warehouse,
        tabular: Tabular,
        level: Access,
        *,
        delegation: frozenset[Delegation],
        principal: str,
        min_validity: timedelta = timedelta(0),
    ) -> Vended:
        self.vended.append((tabular.location, level, principal))
        credential = {"s3.session-token": f"{level.name} {len(self.vended)}"}
        return Vended(credential, credential, None, sign_remotely=False, refresh_property="")

    async def sign(
        self, warehouse: Warehouse, folder: Folder | None, level: Access, request: StorageRequest, *, principal: str
    ) -> SignedRequest:
        if folder is None:
            place = request.uri.replace("https://s3/", "s3://")
            raise Refusal(Reason.REASON_SIGNING_OUTSIDE, "nothing lies there", location=place)
        return SignedRequest(request.uri, {"authorization": ("signed",)}, cacheable=False)


class PlainJudge:
    """Takes {"base": ..., "place": ..., "layout": ...} for a storage profile, and "store" where that is another than the place.

    Its secrets are whatever is kept, its marks whatever was claimed.
    """

    def __init__(self) -> None:
        self.marks: list[tuple[str, str, PlaceMark]] = []
        self.kept: dict[UUID, WarehouseId] = {}
        self.forgotten: list[UUID] = []
        self.steps: list[str] = []
        self.refuses: dict[str, Refusal] = {}
        self.tells_case: bool | None = True
        self.examined: list[Checked] = [Checked("lakekeeper-read-write", CheckStatus.PASSED, timedelta(seconds=1))]

    def _step(self, name: str) -> None:
        self.steps.append(name)
        if name in self.refuses:
            raise self.refuses[name]

    async def normalise(self, profile: bytes, *, secret_id: UUID | None, replaces: bytes | None) -> Storage:
        self._step("normalise")
        wanted: Mapping[str, Any] = json.loads(profile)
        if replaces is not None and json.loads(replaces)["base"] != wanted["base"]:
            raise Refusal(Reason.REASON_STORAGE_PROFILE_IMMUTABLE, "the base can't change", field="base")
        return a_storage(
            base=wanted["base"],
            profile=profile,
            place=wanted.get("place", "store"),
            layout=json.dumps(wanted.get("layout", {"type": "default"})).encode(),
            secret_id=secret_id,
            credential_kind=None if secret_id is None else "s3:access-key",
        )

    async def validate(self, warehouse_id: WarehouseId, storage: Storage, *, principal: str) -> Storage:
        self._step("validate")
        await asyncio.sleep(0)  # others run meanwhile, as with real storage
        return dataclasses.replace(storage, tells_case=self.tells_case)

    async def examine(self, warehouse_id: WarehouseId, storage: Storage, *, principal: str) -> Sequence[Checked]:
        self._step("examine")
        return self.examined

    async def claim_place(
        self,
        warehouse_id: WarehouseId,
        storage: Storage,
        *,
        installation: UUID,
        at: datetime,
        takes_over: Sequence[UUID],
    ) -> Claimed:
        self._step("claim")
        await asyncio.sleep(0)
        store, base = self._store_of(storage), Location.parse(storage.base_location)
        for held_store, held_base, mark in list(self.marks):
            if held_store != store or not Location.parse(held_base).overlaps(base):
                continue
            if mark.warehouse_id == warehouse_id and mark.installation == installation:
                return Claimed(None, fresh=False)
            if mark.installation != installation or mark.warehouse_id not in takes_over:
                return Claimed(mark, fresh=False)
            self.marks.remove((held_store, held_base, mark))
        made = PlaceMark(f"{storage.base_location}/.lakeward-warehouse", installation, warehouse_id, at)
        self.marks.append((store, storage.base_location, made))
        return Claimed(None, fresh=True)

    async def release_place(
        self, warehouse_id: WarehouseId, storage: Storage, *, claimed_before: datetime | None
    ) -> None:
        self._step("release")
        self.marks = [
            (store, base, mark)
            for store, base, mark in self.marks
            if (store, base, mark.warehouse_id) != (self._store_of(storage), storage.base_location, warehouse_id)
            or (claimed_before is not None and mark.claimed_at is not None and mark.claimed_at >= claimed_before)
        ]

    def _store_of(self, storage: Storage) -> str:
        """The store that an endpoint leads to, which only stores know."""
        return str(json.loads(storage.profile).get("store", storage.place))

    async def keep_secret(self, secret_id: UUID, warehouse_id: WarehouseId) -> None:
        self._step("keep")
        if self.kept.setdefault(secret_id, warehouse_id) != warehouse_id:
            raise Refusal(Reason.REASON_NO_SUCH_SECRET, "kept for another", secret=str(secret_id))

    async def forget_secret(self, secret_id: UUID) -> None:
        self._step("forget")
        self.kept.pop(secret_id, None)
        self.forgotten.append(secret_id)
