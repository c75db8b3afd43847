"""The permits that the catalog signs, with the storage profile that goes beside each.

Signing costs some tens of microseconds, and clients ask for the same again and again; so a permit is handed out until half of
its minute is over.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from lakeward_catalog.domain.model import Storage, Warehouse
from lakeward_protocol.vending.v1 import permits_pb2, vending_pb2
from lakeward_servicekit.keeping import Kept
from lakeward_servicekit.permits import PermitSigner
from lakeward_servicekit.system import Clock

_LIFETIME_SECONDS: Final = 60
_HANDED_OUT_FOR: Final = timedelta(seconds=30)
_CAPACITY: Final = 8192


class Permits:
    """Signs what was decided."""

    def __init__(self, signer: PermitSigner, clock: Clock, *, capacity: int = _CAPACITY) -> None:
        """Sign with `signer`, now; `capacity` permits are handed out again at most."""
        self._signer = signer
        self._clock = clock
        self._kept = Kept[object, tuple[vending_pb2.Storage, datetime]](capacity)

    def storage(
        self,
        warehouse_id: UUID,
        storage: Storage,
        *,
        incarnation: UUID | None,
        location: str,
        access: permits_pb2.Access.ValueType,
        purpose: permits_pb2.Purpose.ValueType,
        principal: str,
    ) -> vending_pb2.Storage:
        """A permit for one location and purpose, and the profile. Not to be changed: it is handed out again."""
        key = (warehouse_id, storage.secret_id, storage.profile, incarnation, location, access, purpose, principal)
        now = self._clock.now()
        cached = self._kept.look(key)
        if cached is not None and now < cached[1]:
            return cached[0]
        claims = permits_pb2.PermitClaims(
            warehouse_id=warehouse_id.bytes,
            incarnation=b"" if incarnation is None else incarnation.bytes,
            location=location,
            access=access,
            purpose=purpose,
            principal=principal,
            secret_id="" if storage.secret_id is None else str(storage.secret_id),
            profile_sha256=hashlib.sha256(storage.profile).digest(),
        )
        # `FromDatetime` takes ten times as long, and every new table needs two permits
        issued, ends = claims.issued_at, claims.expires_at
        issued.seconds, issued.nanos = int(now.timestamp()), now.microsecond * 1000
        ends.seconds, ends.nanos = issued.seconds + _LIFETIME_SECONDS, issued.nanos
        made = vending_pb2.Storage(permit=self._signer.sign(claims), profile=storage.profile)
        self._kept.put(key, (made, now + _HANDED_OUT_FOR))
        return made

    def for_files(
        self,
        warehouse: Warehouse,
        *,
        incarnation: UUID | None,
        location: str,
        access: permits_pb2.Access.ValueType,
        principal: str,
    ) -> vending_pb2.Storage:
        """A permit for the catalog's own files at a location."""
        return self.storage(
            warehouse.warehouse_id,
            warehouse.storage,
            incarnation=incarnation,
            location=location,
            access=access,
            purpose=permits_pb2.PURPOSE_FILES,
            principal=principal,
        )
