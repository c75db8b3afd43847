"""Find out whether a store tells places apart that differ by case alone.

Some stores match the policies of sessions without regard to case. That is a fact about the store and no fault of the profile: the
catalog then takes such places for one, so that no table lies beside another whose credentials would open it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lakeward_servicekit.errors import Reason, Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from lakeward_locations import Location
    from lakeward_vending.application.ports import ObjectStore

_CONTENT: Final = b"lakeward"
_LIMIT: Final = 1024
_DENIED: Final = frozenset({Reason.REASON_STORE_DENIED})
_ABSENT: Final = frozenset({Reason.REASON_FILE_NOT_FOUND})


async def tells_case(server: ObjectStore, vended: ObjectStore | None, *, opened: Location) -> bool:
    """Whether a directory is another one than its sibling that differs by case, to the keys of a store and to its policies.

    Args:
        server: the store, by the server's credential.
        vended: the same by a credential that opens `opened`; None where nothing is vended.
        opened: a directory whose name is in lower case and has a letter.

    Raises:
        Refusal: those of the store, but for the denials that are hoped for.
    """
    sibling = opened.parent().join(opened.segments[-1].upper())
    key = sibling.join("case-test").path
    await server.write(key, _CONTENT, content_type=None)
    if not await _refused(server.read(opened.join("case-test").path, limit=_LIMIT), _ABSENT):
        return False
    if vended is None:
        return True
    attempts: Sequence[Awaitable[object]] = (
        vended.read(key, limit=_LIMIT),
        vended.list_page(sibling.prefix, limit=1),
        vended.write(sibling.join("case-test-2").path, _CONTENT, content_type=None),
    )
    return all([await _refused(attempt, _DENIED) for attempt in attempts])


async def _refused(attempt: Awaitable[object], reasons: frozenset[Reason.ValueType]) -> bool:
    try:
        await attempt
    except Refusal as refusal:
        if refusal.reason not in reasons:
            raise
        return True
    return False
