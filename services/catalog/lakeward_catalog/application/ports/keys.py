"""What idempotency keys did."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import Protocol
from uuid import UUID


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


class IdempotencyStore(Protocol):
    """What idempotency keys did, while they are remembered."""

    async def find(self, place: KeyPlace, *, now: datetime) -> Remembered | None:
        """None for a key that is new or forgotten."""
        ...

    async def keep_refusal(self, place: KeyPlace, remembered: Remembered, *, until: datetime) -> None:
        """Remember a lasting refusal, which changed nothing and so has no transaction; an earlier record stays."""
