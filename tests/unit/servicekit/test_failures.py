"""What callers are told of what Postgres raises."""

from __future__ import annotations

import pickle

import asyncpg
import pytest

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres import failures
from lakeward_servicekit.postgres.schemas import Needs, SchemaState, Version, release_key, state_of


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (asyncpg.SerializationError("x"), Reason.REASON_CONCURRENT_CHANGE),
        (asyncpg.DeadlockDetectedError("x"), Reason.REASON_CONCURRENT_CHANGE),
        (asyncpg.QueryCanceledError("x"), Reason.REASON_DEADLINE_EXCEEDED),
        (asyncpg.AdminShutdownError("x"), Reason.REASON_DATABASE_UNAVAILABLE),
        (asyncpg.CannotConnectNowError("x"), Reason.REASON_DATABASE_UNAVAILABLE),
        (asyncpg.ConnectionDoesNotExistError("x"), Reason.REASON_DATABASE_UNAVAILABLE),
        (asyncpg.ConnectionFailureError("x"), Reason.REASON_DATABASE_UNAVAILABLE),
        (asyncpg.TooManyConnectionsError("x"), Reason.REASON_OVERLOADED),
        (asyncpg.DiskFullError("x"), Reason.REASON_DATABASE_UNAVAILABLE),
        (asyncpg.InvalidPasswordError("x"), Reason.REASON_DATABASE_UNAVAILABLE),
        (asyncpg.ReadOnlySQLTransactionError("x"), Reason.REASON_DATABASE_UNAVAILABLE),
    ],
)
def test_the_most_specific_class_decides_the_reason(error: Exception, reason: int) -> None:
    refusal = failures.refusal_of(error)
    assert refusal is not None
    assert refusal.reason == reason


@pytest.mark.parametrize(
    "error",
    [
        asyncpg.UniqueViolationError("x"),
        asyncpg.UndefinedTableError("x"),
        asyncpg.SyntaxOrAccessError("x"),
        ValueError("x"),
    ],
)
def test_what_a_use_case_or_a_bug_report_needs_passes_as_it_is(error: Exception) -> None:
    assert failures.refusal_of(error) is None


def test_only_a_lost_connection_leaves_an_outcome_unknown() -> None:
    assert failures.is_lost(asyncpg.ConnectionDoesNotExistError("x"))
    assert failures.is_lost(asyncpg.AdminShutdownError("x"))
    assert not failures.is_lost(asyncpg.SerializationError("x"))
    assert not failures.is_lost(asyncpg.QueryCanceledError("x"))


def test_what_the_network_says_is_not_passed_on_to_callers() -> None:
    refusal = failures.unreachable(ConnectionRefusedError("postgresql://u:hunter2@db"))
    assert refusal.reason == Reason.REASON_DATABASE_UNAVAILABLE
    assert "hunter2" not in str(refusal)


def test_an_unknown_outcome_travels_between_processes() -> None:
    again = pickle.loads(pickle.dumps(failures.OutcomeUnknown()))
    assert isinstance(again, failures.OutcomeUnknown)
    assert isinstance(again, Refusal)


@pytest.mark.parametrize(
    ("version", "state"),
    [
        (None, SchemaState.MISSING),
        (Version(4, "0.1.0"), SchemaState.BEHIND),
        (Version(5, "0.1.0"), SchemaState.READY),
        (Version(9, "0.9.0"), SchemaState.READY),
        (Version(9, "0.10.0"), SchemaState.READY),
        (Version(9, "0.11.0"), SchemaState.TOO_NEW),
        (Version(9, "1"), SchemaState.TOO_NEW),
    ],
)
def test_a_schema_serves_between_what_is_needed_and_what_it_allows(version: Version | None, state: SchemaState) -> None:
    assert state_of(version, Needs(service="catalog", schema="s", number=5, release="0.10.2")) is state


def test_releases_compare_by_number() -> None:
    assert release_key("0.10.1rc1") == (0, 10, 1)
    assert release_key("0.9") < release_key("0.10.0")
