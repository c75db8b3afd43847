"""The one table from what asyncpg raises to what callers are told.

    Refusal
    └── OutcomeUnknown ── the connection went while a change was being made: it may have happened, and may not

Everything else that is translated says that nothing was changed. What is not in the table is a bug, a constraint that a
use case knows by name, or a wrong statement, and passes as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import asyncpg

from lakeward_servicekit.errors import CommitStateUnknown, Reason, Refusal

_AWAY: Final = "the database can't be reached; nothing was changed"
_LOST: Final = (
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.IdleSessionTimeoutError,
    asyncpg.IdleInTransactionSessionTimeoutError,
)


class OutcomeUnknown(CommitStateUnknown):
    """Whether a change happened is not known: read it back before saying anything about it."""

    __slots__ = ()

    def __init__(self) -> None:
        """The connection went between the change and its answer."""
        super().__init__(
            Reason.REASON_COMMIT_STATE_UNKNOWN,
            "the connection to the database was lost while a change was being committed; read before trying again",
            object="the database",
        )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), ()


def _away(_: BaseException) -> Refusal:
    return Refusal(Reason.REASON_DATABASE_UNAVAILABLE, _AWAY)


def _refused(_: BaseException) -> Refusal:
    return Refusal(
        Reason.REASON_DATABASE_UNAVAILABLE,
        "the database refuses this service's role, password or database name; nothing was changed",
    )


def _read_only(_: BaseException) -> Refusal:
    return Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "the database is read-only at the moment; nothing was changed")


def _full(_: BaseException) -> Refusal:
    return Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "the database is out of resources; nothing was changed")


def _crowded(_: BaseException) -> Refusal:
    return Refusal(Reason.REASON_OVERLOADED, "the database has no connection left; try again later")


def _raced(_: BaseException) -> Refusal:
    return Refusal(
        Reason.REASON_CONCURRENT_CHANGE, "another change came between; read again and retry", object="the database"
    )


def _late(_: BaseException) -> Refusal:
    return Refusal(Reason.REASON_DEADLINE_EXCEEDED, "the database did not answer in time")


# The most specific class wins, whatever the order here.
_TABLE: Final[Mapping[type[BaseException], Callable[[BaseException], Refusal]]] = {
    asyncpg.SerializationError: _raced,
    asyncpg.DeadlockDetectedError: _raced,
    asyncpg.LockNotAvailableError: _raced,
    asyncpg.QueryCanceledError: _late,
    asyncpg.TooManyConnectionsError: _crowded,
    asyncpg.InsufficientResourcesError: _full,
    asyncpg.ReadOnlySQLTransactionError: _read_only,
    asyncpg.InvalidAuthorizationSpecificationError: _refused,
    asyncpg.InvalidCatalogNameError: _refused,
    **dict.fromkeys(_LOST, _away),
    asyncpg.CannotConnectNowError: _away,
    asyncpg.ConnectionDoesNotExistError: _away,
}


def refusal_of(error: BaseException) -> Refusal | None:
    """What a caller is told when asyncpg raises `error` in work that changed nothing; None where it passes as it is."""
    for cls in type(error).__mro__:
        made = _TABLE.get(cls)
        if made is not None:
            return made(error)
    return None


def is_lost(error: BaseException) -> bool:
    """Whether the server may have done what it was asked to, and its answer never came."""
    return isinstance(error, _LOST)


def unreachable(error: BaseException) -> Refusal:
    """What a caller is told when no connection could be made, for whatever reason the network or TLS gave."""
    known = refusal_of(error)
    return _away(error) if known is None else known
