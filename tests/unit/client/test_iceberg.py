"""How engines are told to reach a warehouse, by what the client was told of who calls."""

from __future__ import annotations

import pytest

from lakeward.auth import ClientCredentials, TokenFile
from lakeward.errors import ConfigurationError
from lakeward.iceberg import Endpoint

URI, NAME = "https://lake.test/catalog", "p/it's"
APPLICATION = ClientCredentials("https://idp.test/token", "app", "s3cr3t", scope="lakeward")
BY_ITSELF = Endpoint(URI, NAME, APPLICATION, "t0ken")
BY_TOKEN = Endpoint(URI, NAME, TokenFile("/token"), "t0ken")
NOBODY = Endpoint(URI, NAME)


def test_an_engine_that_can_ask_the_provider_is_told_of_it_and_of_no_token() -> None:
    spark = BY_ITSELF.spark("sales")
    assert spark["spark.sql.catalog.sales"] == "org.apache.iceberg.spark.SparkCatalog"
    assert spark["spark.sql.catalog.sales.credential"] == "app:s3cr3t"
    assert spark["spark.sql.catalog.sales.oauth2-server-uri"] == "https://idp.test/token"
    trino = BY_ITSELF.trino()
    assert trino["iceberg.rest-catalog.oauth2.credential"] == "app:s3cr3t"
    assert trino["iceberg.rest-catalog.oauth2.scope"] == "lakeward"
    duckdb = BY_ITSELF.duckdb("sales")
    assert "CLIENT_SECRET 's3cr3t', OAUTH2_SERVER_URI 'https://idp.test/token', OAUTH2_SCOPE 'lakeward'" in duckdb
    for told in (str(spark), str(trino), duckdb):
        assert "t0ken" not in told


def test_otherwise_it_is_told_a_token_of_now_that_nobody_renews() -> None:
    assert BY_TOKEN.spark("sales")["spark.sql.catalog.sales.token"] == "t0ken"
    assert BY_TOKEN.spark("sales")["spark.sql.catalog.sales.token-refresh-enabled"] == "false"
    assert BY_TOKEN.trino()["iceberg.rest-catalog.oauth2.token"] == "t0ken"
    assert "TOKEN 't0ken'" in BY_TOKEN.duckdb("sales")


def test_where_nobody_is_asked_nothing_is_told_of_tokens() -> None:
    assert not [key for key in (*NOBODY.spark("s"), *NOBODY.trino()) if "token" in key or "oauth2" in key]
    assert "AUTHORIZATION_TYPE none" in NOBODY.duckdb("s")
    assert "auth" not in NOBODY.pyiceberg()


def test_names_are_quoted_for_duckdb() -> None:
    assert """ATTACH 'p/it''s' AS "a""b" (TYPE iceberg, ENDPOINT 'https://lake.test/catalog'""" in NOBODY.duckdb('a"b')


def test_a_client_id_that_engines_would_split_is_refused() -> None:
    told = Endpoint(URI, NAME, ClientCredentials("https://idp.test/token", "a:b", "s"), "t")
    with pytest.raises(ConfigurationError, match="colon"):
        told.trino()


def test_no_token_is_shown() -> None:
    assert "t0ken" not in repr(BY_TOKEN)
    assert "s3cr3t" not in repr(BY_ITSELF)
