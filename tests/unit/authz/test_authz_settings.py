"""A decider that needs to know who calls does not start where nobody is asked."""

from __future__ import annotations

import pytest

from lakeward_authz.settings import AuthzSettings
from lakeward_servicekit.settings import authorization
from lakeward_servicekit.settings.authorization import AuthzBackend
from lakeward_servicekit.settings.loading import load
from lakeward_servicekit.settings.problems import SettingsError

DECIDERS = sorted(set(AuthzBackend) - {AuthzBackend.ALLOW_ALL})


@pytest.fixture(autouse=True)
def everything_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """That a decider is not built is another reason to stop."""
    monkeypatch.setattr(authorization, "BUILT", frozenset(AuthzBackend))


def settings(backend: AuthzBackend, **variables: str) -> AuthzSettings:
    environ = {
        "LAKEKEEPER__PG_DATABASE_URL_WRITE": "postgresql://nobody@127.0.0.1:1/x",
        "LAKEKEEPER__AUTHZ_BACKEND": backend.value,
        "LAKEKEEPER__OPENFGA__ENDPOINT": "http://127.0.0.1:1",
        **variables,
    }
    return load(AuthzSettings, environ).settings


@pytest.mark.parametrize("backend", DECIDERS)
def test_a_decider_stops_the_start_where_nobody_is_asked_who_they_are_and_says_the_cure(backend: AuthzBackend) -> None:
    with pytest.raises(SettingsError) as raised:
        settings(backend)
    problem = str(raised.value)
    assert f"LAKEKEEPER__AUTHZ_BACKEND is {backend.value!r}, which decides by who calls, and nobody is asked" in problem
    assert "LAKEKEEPER__OPENID_PROVIDER_URI" in problem
    assert "LAKEKEEPER__ENABLE_KUBERNETES_AUTHENTICATION" in problem


@pytest.mark.parametrize("backend", DECIDERS)
@pytest.mark.parametrize(
    "asking",
    [
        {"LAKEKEEPER__OPENID_PROVIDER_URI": "http://127.0.0.1:1"},
        {"LAKEKEEPER__OPENID_PROVIDERS__STAFF__URI": "http://127.0.0.1:1"},
        {"LAKEKEEPER__ENABLE_KUBERNETES_AUTHENTICATION": "true"},
    ],
)
def test_with_anybody_who_asks_it_may_decide(backend: AuthzBackend, asking: dict[str, str]) -> None:
    assert settings(backend, **asking).authorization.backend == backend


def test_where_everything_is_allowed_nobody_need_be_asked() -> None:
    assert not settings(AuthzBackend.ALLOW_ALL).authentication.enabled


def openfga_at(endpoint: str | None, **variables: str) -> str:
    """What is said of an OpenFGA there; "" where it may decide."""
    environ = {
        "LAKEKEEPER__PG_DATABASE_URL_WRITE": "postgresql://nobody@127.0.0.1:1/x",
        "LAKEKEEPER__AUTHZ_BACKEND": "openfga",
        "LAKEKEEPER__OPENID_PROVIDER_URI": "http://127.0.0.1:1",
        **({} if endpoint is None else {"LAKEKEEPER__OPENFGA__ENDPOINT": endpoint}),
        **variables,
    }
    try:
        load(AuthzSettings, environ)
    except SettingsError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("endpoint", "complaint"),
    [
        (None, "is missing"),
        ("grpc://openfga:8081", "is an address for gRPC"),
        ("grpcs://openfga.example.org", "is an address for gRPC"),
        ("http://openfga:8081", "names port 8081, where OpenFGA serves gRPC"),
        ("http://localhost:35081", "names port 35081, where OpenFGA serves gRPC"),
    ],
)
def test_openfga_is_asked_by_http_and_its_grpc_address_stops_the_start(endpoint: str | None, complaint: str) -> None:
    problem = openfga_at(endpoint)
    assert f"LAKEKEEPER__OPENFGA__ENDPOINT {complaint}" in problem
    assert "http://openfga.example.org:8080" in problem


@pytest.mark.parametrize("endpoint", ["http://openfga:8080", "https://openfga.example.org", "http://127.0.0.1:1/fga/"])
def test_openfga_is_taken_wherever_its_http_api_is(endpoint: str) -> None:
    assert openfga_at(endpoint) == ""


def test_client_credentials_come_whole_or_not_at_all() -> None:
    problem = openfga_at("http://openfga:8080", LAKEKEEPER__OPENFGA__CLIENT_ID="lakeward")
    assert "LAKEKEEPER__OPENFGA__CLIENT_SECRET is missing" in problem
    assert "LAKEKEEPER__OPENFGA__TOKEN_ENDPOINT is missing" in problem


def test_where_another_decides_openfga_may_be_anywhere() -> None:
    provider = {"LAKEKEEPER__OPENID_PROVIDER_URI": "http://127.0.0.1:1"}
    grpc = {"LAKEKEEPER__OPENFGA__ENDPOINT": "grpc://openfga:8081"}
    assert settings(AuthzBackend.BUILTIN, **provider, **grpc).deciding.openfga.endpoint == "grpc://openfga:8081"


@pytest.mark.parametrize("name", ["OPENID_PROVIDER_URI", "OPENID_PROVIDERS__STAFF__URI"])
def test_a_providers_address_holds_no_password_since_callers_are_told_whom_to_ask(name: str) -> None:
    with pytest.raises(SettingsError) as raised:
        settings(AuthzBackend.ALLOW_ALL, **{f"LAKEKEEPER__{name}": "https://reader:hunter2@idp.example.org/realm"})
    assert f"LAKEKEEPER__{name} holds a user or password" in str(raised.value)
    assert "hunter2" not in str(raised.value)
