"""What version a service's schema has, and whether this binary may serve on it.

A release runs before and after its own migration. So a schema may be newer than the binary knows, as long as it says
that the binary's release is not too old for it, and may be behind the newest one, as long as it is not behind what the
binary needs.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.postgres.addresses import quoted

if TYPE_CHECKING:
    import asyncpg

    from lakeward_servicekit.postgres.pools import Pool

TABLE: Final = "schema_version"


class SchemaState(enum.Enum):
    """How a schema stands to a binary."""

    MISSING = "missing"
    BEHIND = "behind"
    READY = "ready"
    TOO_NEW = "too new"


@dataclasses.dataclass(frozen=True, slots=True)
class Version:
    """What a schema says of itself.

    Attributes:
        number: of its last migration.
        oldest_release: the oldest release that may use it: "0.1.0".
    """

    number: int
    oldest_release: str


@dataclasses.dataclass(frozen=True, slots=True)
class Needs:
    """What a binary asks of a schema.

    Attributes:
        service: whose schema, for messages: "catalog".
        schema: its name in Postgres.
        number: the migration below which this binary can't work.
        release: this binary's own: "0.1.0".
    """

    service: str
    schema: str
    number: int
    release: str


class SchemaMismatch(Exception):  # noqa: N818 - it says what is the case; the cure is in the message
    """This binary must not serve on this schema.

    Args:
        state: how it stands.
        message: what is the case, and what to do.
    """

    def __init__(self, state: SchemaState, message: str) -> None:
        """Refuse to serve; see the class."""
        super().__init__(message)
        self.state: Final = state


class MigrationFailed(Exception):  # noqa: N818 - the message says what to do
    """The schema was not brought to its newest version; nothing of it was changed."""


async def version_of(pool: Pool, schema: str) -> Version | None:
    """What a schema says of itself; None where it was never migrated.

    Raises:
        Refusal: DATABASE_UNAVAILABLE.
    """
    async with pool.reading() as connection:
        if await connection.fetchval("select to_regclass($1)", f"{quoted(schema)}.{TABLE}") is None:
            return None
        return _version(await connection.fetchrow(f"select number, oldest_release from {quoted(schema)}.{TABLE}"))  # noqa: S608 - an identifier, quoted


def _version(row: asyncpg.Record | None) -> Version | None:
    return None if row is None else Version(row["number"], row["oldest_release"])


def state_of(version: Version | None, needs: Needs) -> SchemaState:
    """How a schema stands to a binary."""
    if version is None:
        return SchemaState.MISSING
    if version.number < needs.number:
        return SchemaState.BEHIND
    if release_key(needs.release) < release_key(version.oldest_release):
        return SchemaState.TOO_NEW
    return SchemaState.READY


async def check_schema(pool: Pool, needs: Needs) -> None:
    """Refuse to serve on a schema that this binary can't work with.

    Raises:
        SchemaMismatch: it is missing, behind or too new.
        Refusal: DATABASE_UNAVAILABLE.
    """
    version = await version_of(pool, needs.schema)
    state = state_of(version, needs)
    if state is SchemaState.READY:
        return
    where = f"the schema {needs.schema} of {needs.service}"
    if version is None:
        raise SchemaMismatch(state, f"{where} does not exist yet; run `lakeward migrate` first")
    if state is SchemaState.BEHIND:
        raise SchemaMismatch(
            state,
            f"{where} is at version {version.number}, and release {needs.release} needs {needs.number}; "
            "run `lakeward migrate` of this release first",
        )
    raise SchemaMismatch(
        state,
        f"{where} may be used by release {version.oldest_release} or later, and this is {needs.release}; "
        "start a later release, there is no way back",
    )


def release_key(release: str) -> tuple[int, ...]:
    """A release as numbers that compare: "0.10.1rc1" as (0, 10, 1)."""
    numbers: list[int] = []
    for part in release.split("."):
        digits = part[: next((at for at, character in enumerate(part) if not character.isdecimal()), len(part))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)
