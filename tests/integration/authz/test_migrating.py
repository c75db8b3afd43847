"""Rows that an older release wrote, after the revisions that came since."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lakeward_authz.adapters.postgres.migrations import versions
from lakeward_authz.adapters.postgres.rights import PostgresRights
from lakeward_authz.bootstrap import MIGRATIONS
from lakeward_authz.domain.permissions.lakeward import MODEL
from lakeward_authz.domain.permissions.objects import SERVER, user_subject
from lakeward_servicekit.postgres.migrating import migrate
from lakeward_servicekit.postgres.pools import open_pool
from lakeward_servicekit.secrecy import SecretStr

pytestmark = pytest.mark.integration

SCHEMA = "lakeward_authz"
_APPOINT = "insert into first_administrator (user_id, is_operator, appointed_at) values ($1, $2, now())"


@pytest.fixture
def empty(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture
async def old(empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SecretStr:
    """A database of the release that kept who was first and gave them nothing."""
    package = tmp_path / "first_revisions"
    (package / "versions").mkdir(parents=True)
    (package / "__init__.py").touch()
    (folder,) = versions.__path__
    for name in ("r0001_first_schema.py", "r0002_permissions.py"):
        shutil.copy(Path(folder) / name, package / "versions")
    monkeypatch.syspath_prepend(str(tmp_path))
    await migrate(SecretStr(empty), package="first_revisions", schema=SCHEMA)
    return SecretStr(empty)


@pytest.mark.parametrize(
    ("user_id", "is_operator", "relation"),
    [("oidc~ann", False, "admin"), ("oidc~ann", True, "operator"), (None, True, None)],
    ids=["administrator", "operator", "nobody"],
)
async def test_who_opened_the_server_before_that_was_a_grant_has_the_right_after(
    old: SecretStr, user_id: str | None, is_operator: bool, relation: str | None
) -> None:
    async with open_pool(old, size=1, name="test", schema=SCHEMA) as pool:
        await pool.execute(_APPOINT, user_id, is_operator)
        for _ in range(2):
            await migrate(old, package=MIGRATIONS, schema=SCHEMA)
        given = await pool.fetch("select subject, relation from grants where kind = 'server'")
        assert [tuple(row) for row in given] == ([] if relation is None else [(f"user:{user_id}", relation)])
        rights = await PostgresRights(pool).of(user_subject(user_id or "oidc~ann"), [SERVER])
        assert rights.held[0] is not None
        held = MODEL.types["server"].names(rights.held[0])
        assert ("can_create_project" in held) == (relation is not None)
