"""Background tasks of the catalog."""

from __future__ import annotations

from datetime import timedelta

from lakeward_servicekit.settings.model import Settings, named


class TaskSettings(Settings):
    """Background tasks: how often workers look, how many there are of each kind."""

    poll_interval: timedelta = named("TASK_POLL_INTERVAL")
    purge_delay: timedelta = named("PURGE_DELAY")
    soft_deletion_workers: int = named("TASK_SOFT_DELETION_WORKERS")
    tabular_purge_workers: int = named("TASK_TABULAR_PURGE_WORKERS")
    log_cleanup_workers: int = named("TASK_LOG_CLEANUP_WORKERS")
