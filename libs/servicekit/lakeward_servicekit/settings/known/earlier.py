"""Names of earlier versions: those with a successor hand their value on, the others have no effect. All warn."""

from __future__ import annotations

from typing import Final

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Setting, Support


def _renamed(name: str, kind: kinds.Kind[object], instead: str) -> Setting:
    return Setting(name, kind, None, f"An earlier name of {instead}.", instead=instead)


def _gone(name: str, kind: kinds.Kind[object], about: str) -> Setting:
    return Setting(name, kind, None, about, support=Support.GONE)


SETTINGS: Final = (
    _renamed("METRICS_PORT", kinds.PORT, "METRICS__PORT"),
    _renamed("TASK_TABULAR_EXPIRATION_WORKERS", kinds.INTEGER, "TASK_SOFT_DELETION_WORKERS"),
    _renamed("TASK_REMOVE_ORPHANED_FILES_WORKERS", kinds.INTEGER, "TASK_REMOVE_ORPHAN_FILES_WORKERS"),
    _renamed("QUEUE_CONFIG__POLL_INTERVAL", kinds.DURATION, "TASK_POLL_INTERVAL"),
    _renamed("QUEUE_CONFIG__MAX_RETRIES", kinds.INTEGER, "TASK_MAX_ATTEMPTS"),
    _renamed("QUEUE_CONFIG__MAX_AGE", kinds.DURATION, "TASK_MAX_SILENCE"),
    _gone("HEALTH_CHECK_JITTER_MILLIS", kinds.INTEGER, "Spread of the health checks."),
)
