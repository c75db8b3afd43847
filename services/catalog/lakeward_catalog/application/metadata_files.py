"""Writing metadata files, and taking back those of changes that surely did not happen."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, Final, TypeVar

from lakeward_catalog.application.ports.files import Files
from lakeward_catalog.domain.bodies import Body, check_size
from lakeward_catalog.domain.iceberg.files import deletable
from lakeward_catalog.domain.model import Tabular, Warehouse
from lakeward_servicekit.errors import Refusal

_log = logging.getLogger(__name__)
T = TypeVar("T")
_DELETE_AFTER_COMMIT: Final = "write.metadata.delete-after-commit.enabled"
_background: Final[set[asyncio.Task[Any]]] = set()


async def write_metadata(files: Files, warehouse: Warehouse, tabular: Tabular, body: Body, *, principal: str) -> None:
    """Write a tabular's metadata file from its stored parts, without compressing or inflating anything here.

    Raises:
        Refusal: TOO_LARGE; what `Files.write` raises.
    """
    check_size(body.whole)
    assert tabular.metadata_location is not None, "a staged one has no file"
    await files.write(warehouse, tabular, tabular.metadata_location, body.whole, principal=principal)


async def take_back(
    files: Files, warehouse: Warehouse, tabular: Tabular, locations: Sequence[str], *, principal: str
) -> None:
    """Delete files that nothing points to, as well as may be; one that stays is an orphan, which harms nobody."""
    if not locations:
        return
    try:
        await files.delete(warehouse, tabular, locations, principal=principal)
    except Refusal as refusal:
        _log.warning(
            "metadata files that nothing points to could not be deleted",
            extra={"locations": list(locations), "reason": str(refusal)},
        )


def forget_trimmed(
    files: Files,
    warehouse: Warehouse,
    tabular: Tabular,
    trimmed: Sequence[str],
    properties: Mapping[str, str],
    *,
    principal: str,
) -> None:
    """Delete, after the reply, old metadata files that fell out of the log; only in the table's own metadata folder."""
    if properties.get(_DELETE_AFTER_COMMIT, "true").lower() not in {"true", "yes", "1"}:
        return
    mine = deletable(tabular.location, trimmed)
    if mine:
        in_background(take_back(files, warehouse, tabular, mine, principal=principal))


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Run work that must not stop halfway, even if the caller is gone.

    Raises:
        asyncio.CancelledError: the caller was cancelled; the work goes on.
    """
    task = asyncio.ensure_future(work)
    _background.add(task)
    task.add_done_callback(_background.discard)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(_ended)  # nobody else hears now how it ends
        raise


def in_background(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Run work that outlives its caller."""
    task = asyncio.ensure_future(work)
    _background.add(task)
    task.add_done_callback(_ended)
    return task


def _ended(task: asyncio.Task[Any]) -> None:
    _background.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None and not isinstance(error, Refusal):
        _log.error("background work failed", exc_info=error)
