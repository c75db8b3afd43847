"""Loads that arrived together: each with its own caller and its own outcome, and none keeps the others waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final, TypeVar

from google.protobuf.message import Message

from lakeward_servicekit.errors import Reason, Refusal

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

MAX_BATCH: Final = 256
# A load that waits for a fresh credential, say, is not waited for by its neighbours; alone, it goes on where it was.
BATCH_SECONDS: Final = 0.05
# A full batch of replies stays well within a frame only if none of them is large.
MAX_BATCHED_BYTES: Final = 128 * 1024


async def together(
    items: Iterable[Item], answer: Callable[[Item], Awaitable[Outcome]], *, late: Outcome
) -> Sequence[Outcome]:
    """What each item is answered, in their order.

    Args:
        items: that came in one call.
        answer: answers one, and raises nothing.
        late: the outcome of one that takes longer than a batch waits.

    Raises:
        Refusal: TOO_LARGE, for more items than a batch may have.
    """
    batch = [*items]
    if len(batch) > MAX_BATCH:
        raise Refusal(
            Reason.REASON_TOO_LARGE,
            f"the batch has {len(batch)} items; at most {MAX_BATCH} are taken",
            what="batch",
            limit=str(MAX_BATCH),
        )
    if not batch:
        return ()
    if len(batch) == 1:
        return [await answer(batch[0])]  # it keeps nobody waiting
    loads = [asyncio.ensure_future(answer(item)) for item in batch]
    try:
        _, waiting = await asyncio.wait(loads, timeout=BATCH_SECONDS)
    finally:
        for load in loads:
            load.cancel()  # does nothing to what has ended
    return [late if load in waiting else load.result() for load in loads]


def too_late() -> Refusal:
    """The refusal of an item that takes longer than a batch waits."""
    return Refusal(
        Reason.REASON_TOO_LARGE,
        f"the load takes longer than the {BATCH_SECONDS} s that a batch waits; ask for it alone",
        what="time of a batch item",
        limit=str(BATCH_SECONDS),
    )


def check_size(response: Message) -> None:
    """Whether a reply may travel in a batch with others.

    Raises:
        Refusal: TOO_LARGE; asked for alone, it comes.
    """
    if response.ByteSize() > MAX_BATCHED_BYTES:
        raise Refusal(
            Reason.REASON_TOO_LARGE,
            f"the table's metadata is over {MAX_BATCHED_BYTES} bytes; ask for it alone",
            what="batch item",
            limit=str(MAX_BATCHED_BYTES),
        )
