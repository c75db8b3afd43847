"""The parts of the catalog's use cases: what `bootstrap` makes once."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.announcements import Announcer
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import Once
from lakeward_catalog.application.metadata_files import to_the_end
from lakeward_catalog.application.outcomes import Outcomes
from lakeward_catalog.application.ports.access import ClientAccess
from lakeward_catalog.application.ports.counting import CallStore
from lakeward_catalog.application.ports.files import Files
from lakeward_catalog.application.ports.gates import ChangeGate
from lakeward_catalog.application.ports.measuring import Measuring
from lakeward_catalog.application.ports.storage import StorageJudge, UnnamedSecrets
from lakeward_catalog.application.ports.stores import VersionStore
from lakeward_catalog.application.ports.tags import TagStore
from lakeward_catalog.application.ports.tasks import TaskRecords
from lakeward_catalog.application.ports.upkeep import ScheduleStore, StatisticsStore, Upkeep
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.application.tables.signer_scopes import SignerScopes
from lakeward_catalog.application.tabulars.means import Shield
from lakeward_servicekit.authorization.identity import Identity
from lakeward_servicekit.authorization.registrar import Registrar
from lakeward_servicekit.events.history import HistoryReads
from lakeward_servicekit.starts import Starts
from lakeward_servicekit.system import Clock, Ids


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Each part once. Only `bootstrap`, `composition` and `background` see all of them together."""

    identity: Identity
    registrar: Registrar
    doors: Doors
    changes: Changes
    tags: TagStore
    task_records: TaskRecords
    versions: VersionStore
    upkeep: Upkeep
    schedules: ScheduleStore
    statistics: StatisticsStore
    calls: CallStore
    documents: Documents
    outcomes: Outcomes
    files: Files
    measuring: Measuring
    access: ClientAccess
    scopes: SignerScopes
    storage: StorageJudge
    unnamed_secrets: UnnamedSecrets
    gate: ChangeGate
    checkers: frozenset[str]
    once: Once
    announcer: Announcer
    history: HistoryReads
    clock: Clock
    ids: Ids
    rules: Rules
    shield: Shield = to_the_end
    starts: Starts = dataclasses.field(default_factory=Starts)
