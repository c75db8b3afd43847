"""Names of tasks and caches that have no effect yet."""

from __future__ import annotations

from typing import Final, NamedTuple

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Service, Setting, Support

_CATALOG: Final = frozenset({Service.CATALOG})
_VENDING: Final = frozenset({Service.VENDING})
_AUTHZ: Final = frozenset({Service.AUTHZ})
_PLANNED: Final = Support.PLANNED

_TASKS: Final = (
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


class _Cache(NamedTuple):
    name: str
    capacity: str
    lifetime: str
    holds: str
    services: frozenset[Service]

    def settings(self) -> tuple[Setting, ...]:
        """The three settings that each cache has."""
        rows = (
            ("ENABLED", kinds.BOOLEAN, "true", f"Whether {self.holds} are cached."),
            ("CAPACITY", kinds.COUNT, self.capacity, f"Most {self.holds} in the cache."),
            ("TIME_TO_LIVE_SECS", kinds.DURATION, self.lifetime, f"How long {self.holds} stay cached."),
        )
        return tuple(
            Setting(f"CACHE__{self.name}__{name}", kind, default, about, support=_PLANNED, services=self.services)
            for name, kind, default, about in rows
        )


_CACHES: Final = (
    _Cache("WAREHOUSE", "1000", "60", "warehouses", _CATALOG),
    _Cache("NAMESPACE", "1000", "60", "namespaces", _CATALOG),
    _Cache("SECRETS", "500", "600", "storage secrets", _VENDING),
    _Cache("ROLE", "10000", "120", "roles", _AUTHZ),
    _Cache("USER_ASSIGNMENTS", "50000", "120", "a user's roles", _AUTHZ),
    _Cache("ROLE_MEMBERS", "1000", "120", "a role's members", _AUTHZ),
)

SETTINGS: Final = (*_TASKS, *(setting for cache in _CACHES for setting in cache.settings()))
