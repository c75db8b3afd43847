"""Where events go; the same for every service that writes some."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Family, Service
from lakeward_servicekit.settings.model import Contradiction, Settings, setting

LONGEST_KEPT: Final = 13
_WRITERS: Final = frozenset({Service.CATALOG, Service.AUTHZ, Service.VENDING})


class EventSettings(Settings, read_by=_WRITERS):
    """Where events go. Without an address and a topic, NATS is off; without a topic and a server, Kafka is."""

    nats_address: str | None = setting(
        "NATS_ADDRESS",
        kinds.url("nats", "tls", "ws", "wss"),
        None,
        "NATS server that events are published to.",
    )
    nats_topic: str | None = setting(
        "NATS_TOPIC", kinds.matching(r"[^\s*>]+", "a NATS subject"), None, "First part of events' subjects."
    )
    nats_creds_file: Path | None = setting("NATS_CREDS_FILE", kinds.PATH, None, "Credentials file (JWT and nkey seed).")
    nats_nkey_file: Path | None = setting(
        "NATS__NKEY_FILE",
        kinds.PATH,
        None,
        "File with the seed of an nkey that the server knows.",
        family=Family.OURS,
    )
    nats_ca_file: Path | None = setting(
        "NATS__CA_FILE",
        kinds.PATH,
        None,
        "Authorities that the NATS server's certificate may be of; none: those that outbound calls trust.",
        family=Family.OURS,
    )
    nats_cert_file: Path | None = setting(
        "NATS__CERT_FILE",
        kinds.PATH,
        None,
        "Certificate that the client shows to the NATS server.",
        family=Family.OURS,
    )
    nats_key_file: Path | None = setting(
        "NATS__KEY_FILE", kinds.PATH, None, "Key of that certificate.", family=Family.OURS
    )
    nats_user: str | None = setting("NATS_USER", kinds.TEXT, None, "User.")
    nats_password: SecretStr | None = setting("NATS_PASSWORD", kinds.SECRET, None, "Password of the user.")
    nats_token: SecretStr | None = setting("NATS_TOKEN", kinds.SECRET, None, "Token.")
    nats_jetstream: bool = setting(
        "NATS__JETSTREAM",
        kinds.BOOLEAN,
        "true",
        "Whether a JetStream stream keeps events. Without it whoever listens at the moment hears them, as upstream has it.",
        family=Family.OURS,
    )
    nats_timeout: timedelta = setting(
        "NATS__TIMEOUT",
        kinds.DURATION,
        "5s",
        "Longest wait for an answer of the NATS server's; a connection that ends is noticed at once.",
        family=Family.OURS,
    )
    kafka_topic: str | None = setting("KAFKA_TOPIC", kinds.TEXT, None, "Kafka topic of events.")
    kafka_config: Mapping[str, SecretStr] | None = setting(
        "KAFKA_CONFIG",
        kinds.SECRET_TABLE,
        None,
        "Settings of the Kafka client by librdkafka's names, `bootstrap.servers` among them; or the same text in a file.",
    )
    kafka_every_topic: str | None = setting(
        "KAFKA__EVERY_TOPIC",
        kinds.TEXT,
        None,
        "Kafka topic of every event in its own form; `KAFKA_TOPIC` then has upstream's events alone.",
        family=Family.OURS,
    )
    webhook_url: str | None = setting(
        "WEBHOOK__URL", kinds.HTTP_URL, None, "Address that each event is posted to.", family=Family.OURS
    )
    webhook_secret: SecretStr | None = setting(
        "WEBHOOK__SECRET",
        kinds.SECRET,
        None,
        "Signs what is posted (`Lakeward-Signature`); none: nothing is signed.",
        family=Family.OURS,
    )
    webhook_timeout: timedelta = setting(
        "WEBHOOK__TIMEOUT", kinds.DURATION, "10s", "Longest wait for the answer to one event.", family=Family.OURS
    )
    log_max_gib: int = setting(
        "EVENT_LOG_MAX_GIB",
        kinds.COUNT,
        "32",
        "GiB of a service's log of events. Above, the oldest go, though a sink lack them.",
        family=Family.OURS,
    )
    kept_days: int = setting(
        "EVENTS__KEPT_DAYS",
        kinds.INTEGER,
        "7",
        "Days for which events can be read again, 1 to 13; a sink or consumer that is away for longer misses some.",
        family=Family.OURS,
    )
    log_cloudevents: bool = setting("LOG_CLOUDEVENTS", kinds.BOOLEAN, "false", "Whether each event is logged.")

    def __post_init__(self) -> None:
        wrong: list[tuple[str, str]] = []
        for one, other in (
            ("NATS_ADDRESS", "NATS_TOPIC"),
            ("NATS_USER", "NATS_PASSWORD"),
            ("NATS__CERT_FILE", "NATS__KEY_FILE"),
            ("KAFKA_TOPIC", "KAFKA_CONFIG"),
        ):
            first, second = (getattr(self, name.lower().replace("__", "_")) for name in (one, other))
            if (first is None) != (second is None):
                missing, given = (one, other) if first is None else (other, one)
                wrong.append((missing, f"is missing; {given} is set and needs it"))
        if self.kafka_every_topic is not None and self.kafka_topic is None:
            wrong.append(("KAFKA_TOPIC", "is missing; KAFKA__EVERY_TOPIC is set and needs it"))
        if self.webhook_secret is not None and self.webhook_url is None:
            wrong.append(("WEBHOOK__URL", "is missing; WEBHOOK__SECRET is set and needs it"))
        if self.nats_timeout <= timedelta(0):
            wrong.append(("NATS__TIMEOUT", f"is {self.nats_timeout}; it must be more than nothing"))
        if not 1 <= self.kept_days <= LONGEST_KEPT:
            wrong.append(("EVENTS__KEPT_DAYS", f"is {self.kept_days}; it must be 1 to {LONGEST_KEPT}"))
        if wrong:
            raise Contradiction(*wrong)
