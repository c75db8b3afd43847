"""From variables to the classes that services take."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_authz.settings import AuthenticationSettings
from lakeward_catalog.settings import RequestSettings, TaskSettings
from lakeward_gateway.settings import PublicSettings
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings.authorization import AuthorizationSettings, AuthzBackend
from lakeward_servicekit.settings.catalogue import Service
from lakeward_servicekit.settings.events import EventSettings
from lakeward_servicekit.settings.loading import Loaded, load
from lakeward_servicekit.settings.postgres import PostgresSettings
from lakeward_servicekit.settings.problems import EXIT_CODE, SettingsError
from lakeward_servicekit.settings.server import IdempotencySettings, PageSettings
from lakeward_servicekit.settings.services import TlsSettings, WorkloadSettings
from lakeward_servicekit.settings.showing import effective
from lakeward_vending.settings import PASSPHRASE_ID, SecretSettings

if TYPE_CHECKING:
    from pathlib import Path

_PG = {"LAKEKEEPER__PG_DATABASE_URL_WRITE": "postgresql://u:hunter2@db/d"}


def _refused(shape: type[object], environ: dict[str, str]) -> list[str]:
    with pytest.raises(SettingsError) as refused:
        load(shape, environ)
    return [str(problem) for problem in refused.value.problems]


def test_defaults_are_those_of_the_reference() -> None:
    server, requests = load(PublicSettings, {}).settings, load(RequestSettings, {}).settings
    assert (server.listen_port, server.bind_ip, server.max_request_time) == (8181, "0.0.0.0", timedelta(seconds=30))
    assert server.enable_default_project
    assert server.default_project_id == "00000000-0000-0000-0000-000000000000"
    assert requests.reserved_namespaces == {"system", "examples", "information_schema"}


def test_the_newer_prefix_wins_name_by_name() -> None:
    loaded = load(
        PublicSettings,
        {
            "LAKEKEEPER__LISTEN_PORT": "2",
            "ICEBERG_REST__LISTEN_PORT": "1",
            "ICEBERG_REST__MAX_REQUEST_BODY_SIZE": "7777",
        },
    )
    assert (loaded.settings.listen_port, loaded.settings.max_request_body_size) == (2, 7777)
    assert [warning for warning in loaded.warnings if "LAKEKEEPER__LISTEN_PORT counts" in warning]


def test_our_names_are_read_with_our_prefix_alone() -> None:
    assert len(load(PublicSettings, {"LAKEWARD__TRUSTED_PROXIES": "10.0.0.0/8, ::1"}).settings.trusted_proxies) == 2
    assert "LAKEWARD__TRUSTED_PROXIES" in _refused(PublicSettings, {"LAKEKEEPER__TRUSTED_PROXIES": "::1"})[0]
    assert "LAKEKEEPER__LISTEN_PORT" in _refused(PublicSettings, {"LAKEWARD__LISTEN_PORT": "1"})[0]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("LAKEKEEPER__LISTEN_PRT", "LAKEKEEPER__LISTEN_PORT"),
        ("LAKEKEEPER__PG_PASWORD", "LAKEKEEPER__PG_PASSWORD"),
        ("LAKEKEEPER__PG_PASSWRD_FILE", "LAKEKEEPER__PG_PASSWORD_FILE"),
        ("LAKEKEEPER__OPENID_PROVIDERS__CORP__URL", "LAKEKEEPER__OPENID_PROVIDERS__CORP__URI"),
        ("LAKEWARD__TLS__CERTFILE", "LAKEWARD__TLS__CERT_FILE"),
    ],
)
def test_a_name_nobody_knows_stops_the_start_and_the_nearest_known_one_is_said(written: str, meant: str) -> None:
    (problem,) = _refused(PublicSettings, {written: "1"})
    assert problem == f"{written} is a name nobody knows; the nearest known name is {meant}"


def test_a_known_name_that_is_not_supported_yet_warns_once_and_its_bad_value_still_stops() -> None:
    loaded = load(PublicSettings, {"LAKEKEEPER__HEALTH_CHECK_FREQUENCY_SECONDS": "5s"})
    assert loaded.warnings == (
        "LAKEKEEPER__HEALTH_CHECK_FREQUENCY_SECONDS has no effect: this build does not support it yet",
    )
    (problem,) = _refused(PublicSettings, {"LAKEKEEPER__HEALTH_CHECK_FREQUENCY_SECONDS": "soon"})
    assert "is 'soon'; it must be a span of time" in problem


def test_everything_that_is_wrong_is_said_at_once() -> None:
    problems = _refused(
        PublicSettings,
        {
            "LAKEKEEPER__LISTEN_PORT": "eighty",
            "LAKEKEEPER__BIND_IP": "localhost",
            "LAKEKEEPER__MAINTENANCE_MODE": "on",
            "LAKEKEEPER__NONSENSE_OF_MINE": "1",
        },
    )
    assert len(problems) == 4
    assert "LAKEKEEPER__LISTEN_PORT is 'eighty'; it must be a whole number from 0 to 65535" in problems
    assert EXIT_CODE == 78


def test_problems_of_all_groups_of_a_service_come_together() -> None:
    @dataclasses.dataclass(frozen=True)
    class Service:
        pg: PostgresSettings
        pages: PageSettings
        secrets: SecretSettings

    Service.__annotations__ = {"pg": PostgresSettings, "pages": PageSettings, "secrets": SecretSettings}
    problems = _refused(Service, {"LAKEKEEPER__PAGINATION_SIZE_DEFAULT": "2000"})
    assert [problem.split()[0] for problem in problems] == [
        "LAKEKEEPER__PG_DATABASE_URL_WRITE",
        "LAKEKEEPER__PAGINATION_SIZE_DEFAULT",
        "LAKEKEEPER__PG_ENCRYPTION_KEY",
    ]


def test_a_value_that_was_refused_is_not_reported_missing_too() -> None:
    (problem,) = _refused(PostgresSettings, {"LAKEKEEPER__PG_DATABASE_URL_WRITE": ""})
    assert problem == "LAKEKEEPER__PG_DATABASE_URL_WRITE can't be used; it must be a URL such as postgresql://host"


@pytest.mark.parametrize("password", ["12345", "true", "[x", "{a=", " padded ", 'quo"te', "a,b"])
def test_a_text_is_taken_as_it_stands_even_where_it_looks_like_something_else(password: str) -> None:
    environ = {
        "LAKEKEEPER__PG_HOST_W": "db",
        "LAKEKEEPER__PG_PORT": "5432",
        "LAKEKEEPER__PG_USER": "u",
        "LAKEKEEPER__PG_DATABASE": "d",
        "LAKEKEEPER__PG_PASSWORD": password,
    }
    settings = load(PostgresSettings, environ).settings
    assert settings.password is not None
    assert settings.password.get_secret_value() == password


def test_quotes_that_enclose_a_value_are_stripped_as_upstream_does() -> None:
    environ = {"LAKEKEEPER__NATS_USER": '"007"', "LAKEKEEPER__NATS_PASSWORD": '"12\\"3"'}
    settings = load(EventSettings, environ).settings
    assert settings.nats_user == "007"
    assert settings.nats_password is not None
    assert settings.nats_password.get_secret_value() == '12"3'


@pytest.mark.parametrize(
    ("written", "span"),
    [
        ("30s", timedelta(seconds=30)),
        ("500ms", timedelta(milliseconds=500)),
        ("PT30M", timedelta(minutes=30)),
        ("P1D", timedelta(days=1)),
        ("P1DT2H", timedelta(days=1, hours=2)),
        ("45", timedelta(seconds=45)),
        ('"45"', timedelta(seconds=45)),
        ("1.5", timedelta(seconds=1.5)),
    ],
)
def test_a_span_of_time_has_several_forms(written: str, span: timedelta) -> None:
    assert load(TaskSettings, {"LAKEKEEPER__TASK_POLL_INTERVAL": written}).settings.poll_interval == span


@pytest.mark.parametrize("written", ["", "soon", "P", "PT", "-5s", "5 weeks", "P1M", "9" * 400, "nan"])
def test_what_is_no_span_of_time_is_refused(written: str) -> None:
    assert _refused(TaskSettings, {"LAKEKEEPER__TASK_POLL_INTERVAL": written})


def test_comma_lists_are_trimmed_and_may_have_brackets() -> None:
    for written in ("a, b ,c", '["a", "b", c]'):
        environ = {"LAKEKEEPER__OPENID_PROVIDER_URI": "https://idp", "LAKEKEEPER__OPENID_AUDIENCE": written}
        assert load(AuthenticationSettings, environ).settings.openid_audience == ("a", "b", "c")


def test_a_whole_level_may_be_an_inline_table_and_a_single_name_wins_over_it() -> None:
    environ = {
        "LAKEKEEPER__IDEMPOTENCY": '{lifetime="PT1H", enabled=false, grace_period=9s}',
        "LAKEKEEPER__IDEMPOTENCY__LIFETIME": "PT2H",
    }
    settings = load(IdempotencySettings, environ).settings
    assert (settings.lifetime, settings.enabled, settings.grace_period) == (
        timedelta(hours=2),
        False,
        timedelta(seconds=9),
    )
    (problem,) = _refused(IdempotencySettings, {"LAKEKEEPER__IDEMPOTENCY": '{lifetme="PT1H"}'})
    assert "holds IDEMPOTENCY__LIFETME, which is a name nobody knows" in problem


def test_providers_may_be_one_table_or_single_names_with_hyphens_and_any_case() -> None:
    environ = {
        "LAKEKEEPER__OPENID_PROVIDERS": '{zed={uri="https://z", audience=["x", "y"]}}',
        "lakekeeper__openid_providers__My-Idp__uri": "https://m",
        "LAKEKEEPER__OPENID_PROVIDER_URI": "https://first",
    }
    providers = load(AuthenticationSettings, environ).settings.providers
    assert [(key, provider.uri) for key, provider in providers.items()] == [
        ("oidc", "https://first"),
        ("my-idp", "https://m"),
        ("zed", "https://z"),
    ]
    assert providers["zed"].audience == ("x", "y")


def test_a_provider_without_its_address_or_with_a_taken_id_is_refused() -> None:
    environ = {
        "LAKEKEEPER__OPENID_PROVIDERS__CORP__AUDIENCE": "a",
        "LAKEKEEPER__OPENID_PROVIDERS__OIDC__URI": "https://x",
    }
    problems = _refused(AuthenticationSettings, environ)
    assert problems[0].startswith("LAKEKEEPER__OPENID_PROVIDERS__CORP__URI is missing")
    assert "is taken" in problems[1]


def test_no_provider_means_open_endpoints_unless_something_was_meant_to_guard_them() -> None:
    assert not load(AuthenticationSettings, {}).settings.enabled
    assert _refused(AuthenticationSettings, {"LAKEKEEPER__KUBERNETES_AUTHENTICATION_AUDIENCE": "lakehouse"})
    assert _refused(AuthenticationSettings, {"LAKEKEEPER__OPENID_AUDIENCE": "lakehouse"})


def test_kubernetes_alone_asks_callers_who_they_are() -> None:
    settings = load(AuthenticationSettings, {"LAKEKEEPER__ENABLE_KUBERNETES_AUTHENTICATION": "true"}).settings
    assert settings.enabled
    assert not settings.providers


def test_another_cluster_is_never_reached_with_the_pods_own_token_or_trust() -> None:
    environ = {
        "LAKEKEEPER__ENABLE_KUBERNETES_AUTHENTICATION": "true",
        "LAKEWARD__KUBERNETES__API_SERVER": "https://10.0.0.1:6443",
        "LAKEWARD__KUBERNETES__CA_FILE": "/etc/ca.pem",
    }
    (problem,) = _refused(AuthenticationSettings, environ)
    assert problem.startswith("LAKEWARD__KUBERNETES__TOKEN_FILE is missing")


def test_each_provider_has_a_clock_leeway_of_our_own_prefix() -> None:
    environ = {
        "LAKEKEEPER__OPENID_PROVIDER_URI": "https://first",
        "LAKEKEEPER__OPENID_PROVIDERS__STAFF__URI": "https://staff",
        "LAKEWARD__OPENID_PROVIDERS__STAFF__CLOCK_LEEWAY": "5s",
    }
    providers = load(AuthenticationSettings, environ).settings.providers
    assert (providers["oidc"].clock_leeway, providers["staff"].clock_leeway) == (
        timedelta(seconds=60),
        timedelta(seconds=5),
    )


def test_a_trusted_engine_is_read_with_its_identities() -> None:
    environ = {
        "LAKEKEEPER__TRUSTED_ENGINES__TRINO1__TYPE": "trino",
        "LAKEKEEPER__TRUSTED_ENGINES__TRINO1__OWNER_PROPERTY": "trino.run-as-owner",
        "LAKEKEEPER__TRUSTED_ENGINES__TRINO1__IDENTITIES__OIDC__SUBJECTS": '["svc"]',
        "LAKEKEEPER__INSTANCE_ADMINS": "[oidc~alice, oidc~bob]",
    }
    settings = load(AuthorizationSettings, environ).settings
    assert settings.trusted_engines["trino1"].identities["oidc"].subjects == ("svc",)
    assert settings.instance_admins == ("oidc~alice", "oidc~bob")
    del environ["LAKEKEEPER__TRUSTED_ENGINES__TRINO1__OWNER_PROPERTY"]
    assert "OWNER_PROPERTY is missing" in _refused(AuthorizationSettings, environ)[0]


@pytest.mark.parametrize("word", ["allowall", "Allow-All", " allow_all "])
def test_an_authorizer_has_its_spellings(word: str) -> None:
    assert load(AuthorizationSettings, {"LAKEKEEPER__AUTHZ_BACKEND": word}).settings.backend is AuthzBackend.ALLOW_ALL


@pytest.mark.parametrize("word", ["opnfga", "", "cedar", "none"])
def test_a_misspelt_or_absent_authorizer_stops_the_start(word: str) -> None:
    (problem,) = _refused(AuthorizationSettings, {"LAKEKEEPER__AUTHZ_BACKEND": word})
    assert problem.startswith("LAKEKEEPER__AUTHZ_BACKEND is")


def test_names_of_earlier_versions_hand_their_value_on_and_warn() -> None:
    loaded = load(TaskSettings, {"ICEBERG_REST__QUEUE_CONFIG__POLL_INTERVAL": "3"})
    assert loaded.settings.poll_interval == timedelta(seconds=3)
    assert "earlier name of LAKEKEEPER__TASK_POLL_INTERVAL" in loaded.warnings[0]
    both = {"LAKEKEEPER__TASK_TABULAR_EXPIRATION_WORKERS": "9", "ICEBERG_REST__TASK_SOFT_DELETION_WORKERS": "4"}
    assert load(TaskSettings, both).settings.soft_deletion_workers == 4


@pytest.mark.parametrize("prefix", ["ICEBERG_REST__", "LAKEKEEPER__"])
def test_the_queues_of_earlier_versions_are_configured_by_their_plain_numbers(prefix: str) -> None:
    plain = {"MAX_RETRIES": "3", "MAX_AGE": "90", "POLL_INTERVAL": "7"}
    loaded = load(TaskSettings, {f"{prefix}QUEUE_CONFIG__{name}": value for name, value in plain.items()})
    tasks = loaded.settings
    assert (tasks.max_attempts, tasks.max_silence, tasks.poll_interval) == (
        3,
        timedelta(seconds=90),
        timedelta(seconds=7),
    )
    assert len([warning for warning in loaded.warnings if "an earlier name of" in warning]) == 3
    assert load(TaskSettings, {f"{prefix}QUEUE_CONFIG": "{max_retries=2, max_age=3600}"}).settings.max_attempts == 2


@pytest.mark.parametrize("written", ["5", "PT25H"])
def test_a_silence_that_no_worker_could_keep_or_that_never_ends_is_refused(written: str) -> None:
    assert _refused(TaskSettings, {"LAKEKEEPER__QUEUE_CONFIG__MAX_AGE": written})


def test_each_name_with_the_oldest_prefix_warns_and_counts() -> None:
    loaded = load(PublicSettings, {"ICEBERG_REST__LISTEN_PORT": "80", "LAKEKEEPER__BIND_IP": "::1"})
    assert loaded.settings.listen_port == 80
    (warning,) = loaded.warnings
    assert warning.startswith("ICEBERG_REST__LISTEN_PORT has the prefix of upstream's releases before 0.5")


def test_one_underscore_where_two_belong_is_told_and_what_kubernetes_sets_is_not() -> None:
    loaded = load(
        PublicSettings,
        {"LAKEKEEPER_BASE_URI": "http://x", "LAKEKEEPER_PORT": "tcp://1", "LAKEKEEPER_SERVICE_HOST": "1.2.3.4"},
    )
    assert loaded.warnings == ("LAKEKEEPER_BASE_URI has no effect; LAKEKEEPER__BASE_URI would",)


def test_a_secret_may_come_from_a_file_whose_last_line_break_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "pw").write_text('"as it stands"\n')
    environ = {
        "LAKEKEEPER__NATS_ADDRESS": "nats://n",
        "LAKEKEEPER__NATS_TOPIC": "lake",
        "LAKEKEEPER__NATS_TOKEN_FILE": str(tmp_path / "pw"),
    }
    settings = load(EventSettings, environ).settings
    assert settings.nats_token is not None
    assert settings.nats_token.get_secret_value() == '"as it stands"'


def test_a_file_that_cannot_be_read_stops_the_start(tmp_path: Path) -> None:
    (problem,) = _refused(EventSettings, {"LAKEKEEPER__NATS_TOKEN_FILE": str(tmp_path / "none")})
    assert "can't be read: No such file" in problem


def test_a_variable_wins_over_its_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("of the file")
    environ = {"LAKEKEEPER__NATS_TOKEN_FILE": str(tmp_path / "token")}
    assert _token(load(EventSettings, environ)) == "of the file"
    both = load(EventSettings, {**environ, "LAKEKEEPER__NATS_TOKEN": "of the variable"})
    assert _token(both) == "of the variable"
    assert any("LAKEKEEPER__NATS_TOKEN counts" in warning for warning in both.warnings)


def _token(loaded: Loaded[EventSettings]) -> str:
    assert loaded.settings.nats_token is not None
    return loaded.settings.nats_token.get_secret_value()


def test_a_table_of_secrets_may_come_from_a_file_with_lines_and_is_masked(tmp_path: Path) -> None:
    (tmp_path / "kafka").write_text('{"bootstrap.servers"="broker:1",\n "sasl.password"="hunter2"}')
    environ = {"LAKEKEEPER__KAFKA_TOPIC": "lake", "LAKEKEEPER__KAFKA_CONFIG_FILE": str(tmp_path / "kafka")}
    found = load(EventSettings, environ).environment.found
    assert "hunter2" not in repr(found["KAFKA_CONFIG"])
    assert found["KAFKA_CONFIG"].value == {
        "bootstrap.servers": SecretStr("broker:1"),
        "sasl.password": SecretStr("hunter2"),
    }


@pytest.mark.parametrize("key", [None, "", "<This is unsafe, please set a proper key>", "changeme"])
def test_a_placeholder_is_no_encryption_key(key: str | None) -> None:
    environ = {} if key is None else {"LAKEKEEPER__PG_ENCRYPTION_KEY": key}
    (problem,) = _refused(SecretSettings, environ)
    assert "is unset or a placeholder" in problem


def test_the_first_key_of_the_ring_encrypts_and_the_passphrase_stays_readable() -> None:
    keys = {name: base64.b64encode(name.encode() * 16).decode() for name in ("k2", "k1")}
    environ = {
        "LAKEWARD__ENCRYPTION_KEYS": f"k2:{keys['k2']}, k1:{keys['k1']}",
        "LAKEKEEPER__PG_ENCRYPTION_KEY": "correct horse",
    }
    ring = load(SecretSettings, environ).settings.key_ring
    assert [key.id for key in ring] == ["k2", "k1", PASSPHRASE_ID]
    assert ring[0].key == b"k2" * 16
    assert len(ring[2].key) == 32
    assert "k2k2" not in repr(ring)


def test_a_key_of_the_wrong_length_is_named_and_not_shown() -> None:
    (problem,) = _refused(SecretSettings, {"LAKEWARD__ENCRYPTION_KEYS": "old:c2hvcnQ="})
    assert "at the ids old" in problem
    assert "c2hvcnQ" not in problem


def test_parts_become_a_url_with_what_needs_quoting_quoted() -> None:
    environ = {
        "LAKEKEEPER__PG_HOST_W": "db",
        "LAKEKEEPER__PG_HOST_R": "replica",
        "LAKEKEEPER__PG_PORT": "5432",
        "LAKEKEEPER__PG_USER": "u",
        "LAKEKEEPER__PG_PASSWORD": "p/@:w",
        "LAKEKEEPER__PG_DATABASE": "d",
        "LAKEKEEPER__PG_SSL_MODE": "VerifyFull",
    }
    settings = load(PostgresSettings, environ).settings
    assert settings.write_url.get_secret_value() == "postgresql://u:p%2F%40%3Aw@db:5432/d?sslmode=verify-full"
    assert "@replica:5432" in settings.read_url.get_secret_value()
    assert settings.direct_url == settings.write_url
    del environ["LAKEKEEPER__PG_PORT"]
    assert "LAKEKEEPER__PG_PORT is missing" in _refused(PostgresSettings, environ)[0]


@pytest.mark.parametrize("schema", ["pg_mine", "information_schema", "1a", "a-b", "a" * 56])
def test_a_schema_prefix_that_postgres_would_not_take_is_refused(schema: str) -> None:
    assert _refused(PostgresSettings, {**_PG, "LAKEKEEPER__PG_SCHEMA": schema})


def test_each_service_has_a_schema_of_its_own() -> None:
    assert load(PostgresSettings, _PG).settings.schema_of("catalog") == "lakeward_catalog"
    acme = load(PostgresSettings, {**_PG, "LAKEKEEPER__PG_SCHEMA": "acme"}).settings
    assert acme.schema_of("authz") == "acme_authz"


def test_half_a_pair_is_refused() -> None:
    assert _refused(EventSettings, {"LAKEKEEPER__NATS_ADDRESS": "nats://n"}) == [
        "LAKEKEEPER__NATS_TOPIC is missing; NATS_ADDRESS is set and needs it"
    ]
    assert _refused(TlsSettings, {"LAKEWARD__TLS__CERT_FILE": "/nowhere"})


def test_peers_keys_are_checked_at_the_start() -> None:
    good = base64.b64encode(bytes(32)).decode()
    assert load(WorkloadSettings, {"LAKEWARD__WORKLOAD__PEERS": f"catalog:{good}"}).settings.peer_keys == {
        "catalog": bytes(32)
    }
    assert _refused(WorkloadSettings, {"LAKEWARD__WORKLOAD__PEERS": "catalog:AAAA"})


def test_the_effective_configuration_shows_where_values_come_from_and_no_secret() -> None:
    environ = {
        **_PG,
        "LAKEKEEPER__NATS_ADDRESS": "nats://user:hunter2@n:4222",
        "LAKEKEEPER__OPENID_PROVIDERS__CORP__URI": "https://corp",
        "ICEBERG_REST__LISTEN_PORT": "80",
    }
    lines = [str(line) for line in effective(load(PublicSettings, environ).environment)]
    assert "LAKEKEEPER__LISTEN_PORT=80  # ICEBERG_REST__LISTEN_PORT" in lines
    assert "LAKEKEEPER__OPENID_PROVIDERS__CORP__URI=https://corp  # LAKEKEEPER__OPENID_PROVIDERS__CORP__URI" in lines
    assert "LAKEKEEPER__MAX_REQUEST_TIME=30s  # default" in lines
    assert not any("hunter2" in line for line in lines)
    only = [
        str(line) for line in effective(load(PublicSettings, environ).environment, services=frozenset({Service.AUTHZ}))
    ]
    assert not any("LISTEN_PORT" in line for line in only)


def test_no_class_shows_a_secret() -> None:
    assert "hunter2" not in repr(load(PostgresSettings, _PG))


@given(
    st.dictionaries(
        st.sampled_from(["LISTEN_PORT", "BASE_URI", "KV2", "CACHE", "PG_PASSWORD", "INSTANCE_ADMINS"]), st.text()
    )
)
def test_no_value_breaks_the_reading_of_the_environment(values: dict[str, str]) -> None:
    with contextlib.suppress(SettingsError):
        load(PublicSettings, {f"LAKEKEEPER__{name}": value for name, value in values.items()})
