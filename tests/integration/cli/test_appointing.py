"""`lakeward authz appoint`, on a database that nobody administrates."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from lakeward_authz.adapters.builtin import Builtin
from lakeward_cli.appointing import appoint
from lakeward_cli.commands import authz
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Outcome
from lakeward_servicekit.authorization.objects import SERVER, ObjectRef
from lakeward_servicekit.authorization.principals import user
from tests.support.authz_stores import opened
from tests.support.authz_worlds import fill, small

pytestmark = pytest.mark.integration
GIVES = Demand(SERVER, Action.SERVER_CREATE_PROJECT)
RULES = Demand(ObjectRef.project("p"), Action.PROJECT_DELETE)


async def test_who_is_appointed_administrates_from_the_next_question_on_however_often_it_is_said(
    postgres_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = {"LAKEKEEPER__PG_DATABASE_URL_WRITE": postgres_url}
    async with opened(postgres_url) as stores:
        await fill(small(), stores.tree, stores.grants)
        engine, anne = Builtin(stores.rights), user("oidc~anne ~ü")
        assert await engine.decide(anne, [GIVES, RULES]) == [Outcome.HIDDEN, Outcome.HIDDEN]

        assert await appoint(environment, user="oidc~anne ~ü", operator=False) == 0
        assert capsys.readouterr().out == "oidc~anne ~ü is an administrator of this server\n"
        assert await engine.decide(anne, [GIVES, RULES]) == [Outcome.ALLOWED, Outcome.DENIED]
        revision = await stores.pool.fetchval("select sum(revision) from revisions")

        assert await appoint(environment, user="oidc~anne ~ü", operator=False) == 0
        assert capsys.readouterr().out == "oidc~anne ~ü was already an administrator of this server\n"
        assert await stores.pool.fetchval("select sum(revision) from revisions") == revision

        assert await appoint(environment, user="oidc~anne ~ü", operator=True) == 0
        assert await engine.decide(anne, [GIVES, RULES]) == [Outcome.ALLOWED, Outcome.ALLOWED]


async def test_openfga_is_told_of_who_is_appointed(postgres_url: str) -> None:
    async with opened(postgres_url) as stores:
        await stores.pool.execute(
            "insert into openfga_feeds (store_id, wanted_at, complete) values ('fed', now(), true)"
        )
        await appoint({"LAKEKEEPER__PG_DATABASE_URL_WRITE": postgres_url}, user="oidc~anne", operator=False)
        (row,) = await stores.pool.fetch("select tuple_user, relation, wanted from openfga_outbox")
        assert tuple(row) == ("user:oidc~anne", "admin", True)


async def test_what_is_no_users_id_is_refused_and_appoints_nobody(
    postgres_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with opened(postgres_url) as stores:
        for wrong in ("anne", "role:x", "oidc~", "oidc~a\nb", "OIDC~anne"):
            environment = {"LAKEKEEPER__PG_DATABASE_URL_WRITE": postgres_url}
            assert await appoint(environment, user=wrong, operator=False) == 1
            assert "no user's id" in capsys.readouterr().err
        assert not await stores.pool.fetch("select from grants")


def test_the_command_says_what_it_takes() -> None:
    told = CliRunner().invoke(authz, ["appoint", "--help"])
    assert told.exit_code == 0
    assert "oidc~4711" in told.output
