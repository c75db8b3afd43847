"""A decider that needs to know who calls does not start where nobody is asked."""

from __future__ import annotations

import copy
import dataclasses

import pytest

from lakeward_authz.bootstrap import authz
from lakeward_authz.settings import AuthzSettings
from lakeward_servicekit.settings.authorization import AuthzBackend
from lakeward_servicekit.settings.loading import load
from lakeward_servicekit.settings.problems import SettingsError

DECIDERS = sorted(set(AuthzBackend) - {AuthzBackend.ALLOW_ALL})


def settings(backend: AuthzBackend, **variables: str) -> AuthzSettings:
    environ = {"LAKEKEEPER__PG_DATABASE_URL_WRITE": "postgresql://nobody@127.0.0.1:1/x", **variables}
    loaded = load(AuthzSettings, environ).settings
    authorization = copy.copy(loaded.authorization)
    object.__setattr__(
        authorization, "backend", backend
    )  # past the check that a decider is built, which is another one
    return dataclasses.replace(loaded, authorization=authorization)


async def problem_of(given: AuthzSettings) -> str:
    with pytest.raises(SettingsError) as raised:
        async with authz(given):
            pass
    return str(raised.value)


@pytest.mark.parametrize("backend", DECIDERS)
async def test_a_decider_without_anybody_who_asks_for_tokens_stops_the_start_with_the_cure(
    backend: AuthzBackend,
) -> None:
    problem = await problem_of(settings(backend))
    assert f"AUTHZ_BACKEND is {backend.value!r}, which decides by who calls, and nobody is asked" in problem
    assert "LAKEKEEPER__OPENID_PROVIDER_URI" in problem
    assert "LAKEKEEPER__ENABLE_KUBERNETES_AUTHENTICATION" in problem


@pytest.mark.parametrize(
    "asking",
    [
        {"LAKEKEEPER__OPENID_PROVIDER_URI": "http://127.0.0.1:1"},
        {"LAKEKEEPER__OPENID_PROVIDERS__STAFF__URI": "http://127.0.0.1:1"},
        {"LAKEKEEPER__ENABLE_KUBERNETES_AUTHENTICATION": "true"},
    ],
)
async def test_with_anybody_who_asks_that_is_no_reason_to_stop(asking: dict[str, str]) -> None:
    given = settings(AuthzBackend.CEDAR, **asking)
    assert "decides by who calls" not in await problem_of(given)
