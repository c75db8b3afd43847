"""Where events go."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import SecretStr, model_validator

from lakeward_servicekit.settings.model import Contradiction, Settings, named


class EventSettings(Settings):
    """Where events go. Without an address and a topic, NATS is off: `nats_enabled` is false."""

    nats_address: str | None = named("NATS_ADDRESS")
    nats_topic: str | None = named("NATS_TOPIC")
    nats_creds_file: Path | None = named("NATS_CREDS_FILE")
    nats_user: str | None = named("NATS_USER")
    nats_password: SecretStr | None = named("NATS_PASSWORD")
    nats_token: SecretStr | None = named("NATS_TOKEN")
    kafka_topic: str | None = named("KAFKA_TOPIC")
    kafka_config: Mapping[str, SecretStr] | None = named("KAFKA_CONFIG")
    log_cloudevents: bool = named("LOG_CLOUDEVENTS")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        wrong: list[tuple[str, str]] = []
        for one, other in (("NATS_ADDRESS", "NATS_TOPIC"), ("NATS_USER", "NATS_PASSWORD")):
            first, second = getattr(self, one.lower()), getattr(self, other.lower())
            if (first is None) != (second is None):
                missing, given = (one, other) if first is None else (other, one)
                wrong.append((missing, f"is missing; {given} is set and needs it"))
        if wrong:
            raise Contradiction(*wrong)
        return self

    @property
    def nats_enabled(self) -> bool:
        """Whether events are published to NATS."""
        return self.nats_address is not None
