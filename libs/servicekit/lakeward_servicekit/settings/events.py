"""Where events go; the same for every service that writes some."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Family, Service
from lakeward_servicekit.settings.model import Contradiction, Settings, setting

LONGEST_KEPT: Final = 14  # as the log's slots have it; see events/postgres_log.py
_WRITERS: Final = frozenset({Service.CATALOG, Service.AUTHZ, Service.VENDING})


class EventSettings(Settings, read_by=_WRITERS):
    """Where events go. Without an address and a topic, NATS is off."""

    nats_address: str | None = setting(
        "NATS_ADDRESS",
        kinds.url("nats", "tls", "ws", "wss"),
        None,
        "NATS server with JetStream that events are published to.",
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
    kept_days: int = setting(
        "EVENTS__KEPT_DAYS",
        kinds.INTEGER,
        "7",
        "Days for which events can be read again, 1 to 14; a sink or consumer that is away for longer misses some.",
        family=Family.OURS,
    )
    log_cloudevents: bool = setting("LOG_CLOUDEVENTS", kinds.BOOLEAN, "false", "Whether each event is logged.")

    def __post_init__(self) -> None:
        wrong: list[tuple[str, str]] = []
        for one, other in (
            ("NATS_ADDRESS", "NATS_TOPIC"),
            ("NATS_USER", "NATS_PASSWORD"),
            ("NATS__CERT_FILE", "NATS__KEY_FILE"),
        ):
            first, second = (getattr(self, name.lower().replace("__", "_")) for name in (one, other))
            if (first is None) != (second is None):
                missing, given = (one, other) if first is None else (other, one)
                wrong.append((missing, f"is missing; {given} is set and needs it"))
        if not 1 <= self.kept_days <= LONGEST_KEPT:
            wrong.append(("EVENTS__KEPT_DAYS", f"is {self.kept_days}; it must be 1 to {LONGEST_KEPT}"))
        if wrong:
            raise Contradiction(*wrong)
