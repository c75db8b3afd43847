"""What the catalog makes of its settings at the start."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from lakeward_catalog.application.workers import Terms
from lakeward_catalog.background import terms_of
from lakeward_catalog.bootstrap import check_server_id
from lakeward_catalog.domain.model import Server
from lakeward_catalog.settings import IdentitySettings, TaskSettings
from lakeward_servicekit.settings.loading import load
from lakeward_servicekit.settings.problems import SettingsError

_SERVER = Server(server_id=UUID(int=0), installation_id=uuid4(), bootstrapped=True)


def test_a_start_that_names_another_server_than_the_database_is_refused_with_both_ids() -> None:
    named = uuid4()
    with pytest.raises(SettingsError) as refused:
        check_server_id(IdentitySettings(server_id=named), _SERVER)
    (problem,) = refused.value.problems
    assert problem.variable == "LAKEKEEPER__SERVER_ID"
    assert str(named) in problem.message
    assert str(_SERVER.server_id) in problem.message


@pytest.mark.parametrize("named", [None, UUID(int=0)])
def test_a_start_that_names_this_server_or_none_goes_on(named: UUID | None) -> None:
    check_server_id(IdentitySettings(server_id=named), _SERVER)


def test_queues_heed_the_settings_and_keep_their_own_silence_where_nothing_is_said() -> None:
    own = Terms(silence=timedelta(minutes=2))
    heeded = terms_of(own, said(QUEUE_CONFIG__MAX_RETRIES="3", QUEUE_CONFIG__MAX_AGE="3600", TASK_POLL_INTERVAL="1"))
    assert (heeded.attempts, heeded.silence, heeded.poll) == (3, timedelta(hours=1), timedelta(seconds=1))
    assert terms_of(own, said()).silence == own.silence
    assert terms_of(own, said(QUEUE_CONFIG__MAX_RETRIES="0")).attempts == 1


def said(**settings: str) -> TaskSettings:
    return load(TaskSettings, {f"LAKEKEEPER__{name}": value for name, value in settings.items()}).settings
