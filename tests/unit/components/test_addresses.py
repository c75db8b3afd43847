"""URLs and their parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward_components import nats, postgres
from lakeward_components.environment import TEST
from lakeward_components.errors import ComponentMisconfigured
from lakeward_components.provision import s3_store
from lakeward_components.sigv4 import Key


def test_a_postgres_url_survives_being_taken_apart() -> None:
    url = "postgresql://us%40er:p%2Fw%3A@db.example:6543/some"
    server = postgres.at(url)
    assert server.url == url
    assert (server.user, server.password, server.database) == ("us@er", "p/w:", "some")
    assert server.pid is None


def test_a_postgres_url_of_another_database_differs_in_that_alone() -> None:
    assert postgres.at("postgresql://u:p@h:1/a").url_of("b") == "postgresql://u:p@h:1/b"


def test_a_socket_url_names_the_folder_of_the_socket() -> None:
    server = postgres.PostgresServer("127.0.0.1", 15432, "u", "p", socket_folder=Path("/run/a b"))
    assert server.socket_url_of("d") == "postgresql://u:p@/d?host=/run/a%20b&port=15432"


@pytest.mark.parametrize("url", ["mysql://u:p@h/d", "postgresql:///d", "postgresql://h/d", "h:5432"])
def test_what_is_no_postgres_url_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(ComponentMisconfigured) as refused:
        postgres.at(url)
    assert url not in str(refused.value)


def test_a_nats_url_survives_being_taken_apart() -> None:
    assert nats.at("nats://u:p%40@h:4333").url == "nats://u:p%40@h:4333"
    assert nats.at("nats://h").url == "nats://h:4222"


def test_secrets_are_not_shown_with_their_values() -> None:
    shown = repr(
        [postgres.at("postgresql://u:verysecret@h/d"), nats.at("nats://u:verysecret@h"), Key("a", "verysecret")]
    )
    assert "verysecret" not in shown


async def test_a_store_url_without_its_keys_is_refused_by_the_missing_name(tmp_path: Path) -> None:
    environment = {"LAKEWARD_TEST_S3_URL": "http://store", "LAKEWARD_TEST_S3_ACCESS_KEY": "a"}
    with pytest.raises(ComponentMisconfigured, match="LAKEWARD_TEST_S3_SECRET_KEY"):
        await s3_store(tmp_path, names=TEST, environment=environment)


async def test_a_store_that_is_given_whole_is_not_started(tmp_path: Path) -> None:
    environment = {
        f"LAKEWARD_TEST_S3_{name}": name.lower()
        for name in ("ACCESS_KEY", "SECRET_KEY", "STS_ACCESS_KEY", "STS_SECRET_KEY", "ROLE_ARN", "BUCKET")
    }
    environment["LAKEWARD_TEST_S3_URL"] = "http://store:1/"
    store = await s3_store(tmp_path, names=TEST, environment=environment)
    assert (store.endpoint, store.bucket, store.outside_bucket) == ("http://store:1", "bucket", "outside")
    assert store.sts_only == Key("sts_access_key", "sts_secret_key")
    assert store.pid is None
