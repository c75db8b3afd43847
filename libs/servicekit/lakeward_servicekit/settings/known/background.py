"""Names of tasks, events, caches and idempotency."""

from __future__ import annotations

from typing import Final, NamedTuple

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Service, Setting, Support

_CATALOG: Final = frozenset({Service.CATALOG})
_VENDING: Final = frozenset({Service.VENDING})
_AUTHZ: Final = frozenset({Service.AUTHZ})
_PLANNED: Final = Support.PLANNED

_TASKS: Final = (
    Setting("TASK_POLL_INTERVAL", kinds.DURATION, "10s", "How often a worker looks for tasks.", services=_CATALOG),
    Setting(
        "TASK_SOFT_DELETION_WORKERS",
        kinds.INTEGER,
        "2",
        "Workers that end the retention of dropped tabulars.",
        services=_CATALOG,
    ),
    Setting("TASK_TABULAR_PURGE_WORKERS", kinds.INTEGER, "2", "Workers that delete files.", services=_CATALOG),
    Setting(
        "TASK_LOG_CLEANUP_WORKERS",
        kinds.INTEGER,
        "2",
        "Workers that forget old tasks.",
        support=_PLANNED,
        services=_CATALOG,
    ),
    Setting(
        "TASK_EXPIRE_SNAPSHOTS_WORKERS",
        kinds.INTEGER,
        "2",
        "Workers that expire snapshots.",
        support=Support.COMMERCIAL,
        services=_CATALOG,
    ),
    Setting(
        "TASK_REMOVE_ORPHAN_FILES_WORKERS",
        kinds.INTEGER,
        "2",
        "Workers that remove orphan files.",
        support=Support.COMMERCIAL,
        services=_CATALOG,
    ),
)

_EVENTS: Final = (
    Setting(
        "NATS_ADDRESS",
        kinds.url("nats", "tls", "ws", "wss"),
        None,
        "NATS server with JetStream that events are published to.",
        services=_CATALOG,
    ),
    Setting(
        "NATS_TOPIC",
        kinds.matching(r"[^\s*>]+", "a NATS subject"),
        None,
        "First part of events' subjects.",
        services=_CATALOG,
    ),
    Setting("NATS_CREDS_FILE", kinds.PATH, None, "Credentials file (JWT and nkey seed).", services=_CATALOG),
    Setting("NATS_USER", kinds.TEXT, None, "User.", services=_CATALOG),
    Setting("NATS_PASSWORD", kinds.TEXT, None, "Password of the user.", secret=True, services=_CATALOG),
    Setting("NATS_TOKEN", kinds.TEXT, None, "Token.", secret=True, services=_CATALOG),
    Setting("KAFKA_TOPIC", kinds.TEXT, None, "Kafka topic of events.", support=_PLANNED, services=_CATALOG),
    Setting(
        "KAFKA_CONFIG",
        kinds.TABLE,
        None,
        "Settings of the Kafka client by their own names; or the same text in a file.",
        support=_PLANNED,
        secret=True,
        services=_CATALOG,
    ),
    Setting(
        "LOG_CLOUDEVENTS",
        kinds.BOOLEAN,
        "false",
        "Whether each event is logged.",
        services=_CATALOG,
    ),
)


class _Cache(NamedTuple):
    name: str
    capacity: str
    lifetime: str | None
    holds: str
    support: Support
    services: frozenset[Service]

    def settings(self) -> tuple[Setting, ...]:
        """The three settings that each cache has."""
        rows = (
            ("ENABLED", kinds.BOOLEAN, "true", f"Whether {self.holds} are cached."),
            ("CAPACITY", kinds.COUNT, self.capacity, f"Most {self.holds} in the cache."),
            ("TIME_TO_LIVE_SECS", kinds.DURATION, self.lifetime, f"How long {self.holds} stay cached."),
        )
        return tuple(
            Setting(f"CACHE__{self.name}__{name}", kind, default, about, support=self.support, services=self.services)
            for name, kind, default, about in rows
        )


_CACHES: Final = (
    _Cache("STC", "10000", None, "vended credentials", Support.SUPPORTED, _VENDING),
    _Cache("WAREHOUSE", "1000", "60", "warehouses", _PLANNED, _CATALOG),
    _Cache("NAMESPACE", "1000", "60", "namespaces", _PLANNED, _CATALOG),
    _Cache("SECRETS", "500", "600", "storage secrets", _PLANNED, _VENDING),
    _Cache("ROLE", "10000", "120", "roles", _PLANNED, _AUTHZ),
    _Cache("USER_ASSIGNMENTS", "50000", "120", "a user's roles", _PLANNED, _AUTHZ),
    _Cache("ROLE_MEMBERS", "1000", "120", "a role's members", _PLANNED, _AUTHZ),
)

_IDEMPOTENCY: Final = (
    Setting(
        "IDEMPOTENCY__ENABLED",
        kinds.BOOLEAN,
        "true",
        "Whether idempotency keys are kept and advertised.",
        services=_CATALOG,
    ),
    Setting(
        "IDEMPOTENCY__LIFETIME", kinds.DURATION, "PT30M", "How long a key's outcome is promised.", services=_CATALOG
    ),
    Setting("IDEMPOTENCY__GRACE_PERIOD", kinds.DURATION, "PT5M", "How much longer it is kept.", services=_CATALOG),
    Setting(
        "IDEMPOTENCY__CLEANUP_TIMEOUT", kinds.DURATION, "PT30S", "Longest time one cleaning takes.", services=_CATALOG
    ),
)

SETTINGS: Final = (*_TASKS, *_EVENTS, *(setting for cache in _CACHES for setting in cache.settings()), *_IDEMPOTENCY)
