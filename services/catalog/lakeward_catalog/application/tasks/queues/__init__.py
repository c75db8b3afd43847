"""The queues, each a module of its own; a new one is a module, its name in `Queue` and its line here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lakeward_catalog.application.tasks.kinds import QueueKind
from lakeward_catalog.application.tasks.queues import (
    generic_statistics,
    namespace_drop,
    purging,
    soft_deletion,
    statistics,
    task_log_cleanup,
    warehouse_drop,
)
from lakeward_catalog.domain.tasks import Queue

KINDS: Final[Mapping[Queue, QueueKind]] = MappingProxyType(
    {
        module.KIND.queue: module.KIND
        for module in (
            purging,
            soft_deletion,
            task_log_cleanup,
            statistics,
            generic_statistics,
            namespace_drop,
            warehouse_drop,
        )
    }
)
