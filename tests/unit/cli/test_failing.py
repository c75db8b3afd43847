"""How commands end."""

from __future__ import annotations

import pytest

from lakeward_cli import failing
from lakeward_components.errors import ComponentFailed
from lakeward_gateway.settings import PublicSettings
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.schemas import MigrationFailed
from lakeward_servicekit.process import EX_UNAVAILABLE, explained
from lakeward_servicekit.settings import loading
from lakeward_servicekit.settings.problems import EXIT_CODE


def test_a_bad_configuration_ends_with_78_and_all_its_problems(capsys: pytest.CaptureFixture[str]) -> None:
    environment = {"LAKEKEEPER__LISTEN_PORT": "none", "LAKEKEEPER__BIND_IP": "somewhere", "LAKEKEEPER__BASE_URL": "x"}
    with pytest.raises(SystemExit) as ended, explained():
        loading.load(PublicSettings, environment)
    assert ended.value.code == EXIT_CODE == 78
    said = capsys.readouterr().err
    for name in (*environment, "LAKEKEEPER__BASE_URI"):
        assert name in said


def test_what_is_away_ends_with_69_and_its_message(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, explained():
        raise Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "Postgres does not answer")
    assert ended.value.code == EX_UNAVAILABLE == 69
    assert capsys.readouterr().err == "lakeward: Postgres does not answer\n"


@pytest.mark.parametrize(
    ("failure", "status"), [(ComponentFailed("the store ended"), 69), (MigrationFailed("not allowed"), 1)]
)
def test_what_only_commands_meet_ends_with_its_message_too(
    failure: Exception, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended, failing.explained():
        raise failure
    assert ended.value.code == status
    assert capsys.readouterr().err == f"lakeward: {failure}\n"
