"""Commits to a view, once per idempotency key, and what they reply."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.idempotency import Keeper, Once
from lakeward_catalog.application.tabulars.committing import Commits, CommitTabular
from lakeward_catalog.application.tabulars.kinds import TabularUpdate
from lakeward_catalog.application.tabulars.loaded import Loaded
from lakeward_catalog.application.tabulars.reading import ReadTabular, TabularReads
from lakeward_catalog.domain.iceberg.views.metadata import ViewMetadata
from lakeward_catalog.domain.model import Kind


@dataclasses.dataclass(frozen=True, slots=True)
class ViewCommits:
    """Makes commits to views."""

    once: Once
    commits: Commits[ViewMetadata]
    reads: TabularReads[ViewMetadata]

    async def __call__(self, command: CommitTabular, *, caller: Caller) -> Loaded:
        """Replace a view if its requirements hold.

        Raises:
            Refusal: what `Commits` raises; IDEMPOTENCY_KEY_REUSED, REQUEST_IN_PROGRESS.
        """
        warehouse_id, ident = command.warehouse_id, command.path
        return await self.once(
            command.keyed(Kind.VIEW),
            caller=caller,
            do=lambda keeper: self._commit(command, caller, keeper),
            again=lambda done: self.reads(ReadTabular(warehouse_id, ident, made=done["incarnation"]), caller=caller),
        )

    async def _commit(self, command: CommitTabular, caller: Caller, keeper: Keeper) -> Loaded:
        update = TabularUpdate(command.path, command.document)
        (committed,) = await self.commits(command.warehouse_id, [update], caller=caller, keeper=keeper)
        return await self.commits.reply(committed, caller=caller)
