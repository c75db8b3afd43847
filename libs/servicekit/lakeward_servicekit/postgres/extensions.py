"""Extensions of Postgres that a schema is built on."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from lakeward_servicekit.postgres.addresses import quoted
from lakeward_servicekit.postgres.schemas import MigrationFailed

_STANDING: Final = """
select exists (select from pg_extension where extname = :name) as made,
       exists (select from pg_available_extensions where name = :name) as available
"""


def require_extension(connection: sa.Connection, name: str, *, use: str) -> None:
    """See that the database has a trusted extension; made where it lacks, in the schema that is migrated.

    Where it is there already it is used, whatever schema it is in.

    Args:
        connection: of a migration.
        name: of the extension: "pg_trgm".
        use: what it is needed for, to be read behind its name: "with which ...".

    Raises:
        MigrationFailed: the server does not bring it, or this role may not make it; the message says which, and what to do.
    """
    made, available = connection.execute(sa.text(_STANDING), {"name": name}).one()
    if made:
        return
    if not available:
        raise MigrationFailed(
            f"the database's server lacks the extension {name}, {use}; it is part of PostgreSQL's own contrib modules: "
            "install the server's package of these, or have the provider allow it"
        )
    try:
        with connection.begin_nested():
            connection.execute(sa.text(f"create extension if not exists {quoted(name)}"))
    except DBAPIError as refused:
        raise MigrationFailed(
            f"the extension {name}, {use}, can't be made: {refused.orig}; have the database's owner, or another role that may "
            f"create in the database, run `create extension {name}` there, and migrate again"
        ) from refused
