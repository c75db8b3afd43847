"""How long the outcome of a request is remembered under its key."""

from __future__ import annotations

from datetime import timedelta
from typing import Self

from pydantic import model_validator

from lakeward_servicekit.settings.model import Contradiction, Settings, named


class IdempotencySettings(Settings):
    """Idempotency keys. A row may be deleted after `lifetime` and `grace_period`."""

    enabled: bool = named("IDEMPOTENCY__ENABLED")
    lifetime: timedelta = named("IDEMPOTENCY__LIFETIME")
    grace_period: timedelta = named("IDEMPOTENCY__GRACE_PERIOD")
    cleanup_timeout: timedelta = named("IDEMPOTENCY__CLEANUP_TIMEOUT")

    @model_validator(mode="after")
    def _lasting(self) -> Self:
        if self.enabled and self.lifetime <= timedelta(0):
            raise Contradiction(("IDEMPOTENCY__LIFETIME", "must be longer than nothing, such as PT30M"))
        return self
