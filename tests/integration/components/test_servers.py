"""What the servers promise beyond answering."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import asyncpg
import boto3
import httpx
import jwt
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from lakeward_components import databases, postgres, provision
from lakeward_components.environment import TEST
from lakeward_components.errors import ComponentFailed
from lakeward_components.oidc import ALICE, DUCKDB, SPARK, Client, OidcProvider
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store
from lakeward_components.sigv4 import Key
from tests.support.components import S3Place
from tests.support.tokens import client_token, expiring_token, user_token

pytestmark = pytest.mark.integration


def client_of(store: S3Store, key: Key, *, service: str = "s3", token: str | None = None) -> Any:
    return boto3.client(
        service,
        endpoint_url=store.endpoint,
        region_name=store.region,
        aws_access_key_id=key.access_key,
        aws_secret_access_key=key.secret_key,
        aws_session_token=token,
        config=Config(s3={"addressing_style": "path"}),
    )


def session_of(place: S3Place, *, policy: dict[str, Any] | None = None) -> Any:
    more = {} if policy is None else {"Policy": json.dumps(policy)}
    sts = client_of(place.store, place.store.sts_only, service="sts")
    credentials = sts.assume_role(RoleArn=place.store.role_arn, RoleSessionName="a-test", **more)["Credentials"]
    key = Key(credentials["AccessKeyId"], credentials["SecretAccessKey"])
    return client_of(place.store, key, token=credentials["SessionToken"])


def refusal_of(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


def test_the_key_for_sessions_reaches_no_object_by_itself(s3_store: S3Place) -> None:
    s3 = client_of(s3_store.store, s3_store.store.sts_only)
    with pytest.raises(ClientError) as refused:
        s3.put_object(Bucket=s3_store.store.bucket, Key=f"{s3_store.prefix}/a", Body=b"x")
    assert refusal_of(refused) == "AccessDenied"


def test_a_session_of_the_role_reaches_the_bucket_and_not_the_outside_one(s3_store: S3Place) -> None:
    session = session_of(s3_store)
    session.put_object(Bucket=s3_store.store.bucket, Key=f"{s3_store.prefix}/a", Body=b"x")
    with pytest.raises(ClientError) as refused:
        session.put_object(Bucket=s3_store.store.outside_bucket, Key="a", Body=b"x")
    assert refusal_of(refused) == "AccessDenied"


def test_a_session_policy_confines_to_its_prefix(s3_store: S3Place) -> None:
    resource = f"arn:aws:s3:::{s3_store.store.bucket}/{s3_store.prefix}/in/*"
    statement = {"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"], "Resource": [resource]}
    session = session_of(s3_store, policy={"Version": "2012-10-17", "Statement": [statement]})
    session.put_object(Bucket=s3_store.store.bucket, Key=f"{s3_store.prefix}/in/a", Body=b"x")
    with pytest.raises(ClientError) as refused:
        session.put_object(Bucket=s3_store.store.bucket, Key=f"{s3_store.prefix}/inside/a", Body=b"x")
    assert refusal_of(refused) == "AccessDenied"


async def test_a_bucket_that_exists_can_be_made_again(s3_server: S3Store, unique_name: str) -> None:
    await s3_server.make_bucket(unique_name)
    await s3_server.make_bucket(unique_name)


async def test_a_data_folder_that_lies_too_deep_for_a_socket_is_served_over_tcp_alone(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100)
    async with postgres.running(deep) as server:
        assert server.socket_folder is None
        assert await databases.answers(server)


async def test_postgres_answers_over_its_socket(tmp_path_factory: pytest.TempPathFactory) -> None:
    async with postgres.running(tmp_path_factory.mktemp("pg")) as server:
        url = server.socket_url_of("postgres")
        assert url is not None
        connection = await asyncpg.connect(url)
        assert await connection.fetchval("select inet_client_addr()") is None
        await connection.close()


async def test_settings_of_the_caller_reach_postgres_and_ours_stay(tmp_path: Path) -> None:
    async with postgres.running(tmp_path, settings={"max_connections": "17"}) as server:
        connection = await asyncpg.connect(server.url)
        assert await connection.fetchval("show max_connections") == "17"
        assert await connection.fetchval("show shared_buffers") == "32MB"
        # what was acknowledged outlives the machine
        for name in ("fsync", "full_page_writes", "synchronous_commit"):
            assert await connection.fetchval(f"show {name}") == "on"
        await connection.close()


async def test_a_given_port_that_is_taken_is_refused(tmp_path: Path, postgres_server: PostgresServer) -> None:
    with pytest.raises(ComponentFailed, match=str(postgres_server.port)):
        await postgres.start(tmp_path, port=postgres_server.port)


async def test_a_database_can_be_copied_from_another(postgres_server: PostgresServer, unique_name: str) -> None:
    await databases.create(postgres_server, unique_name)
    try:
        connection = await asyncpg.connect(postgres_server.url_of(unique_name))
        await connection.execute("create table kept as select 1 as n")
        await connection.close()
        copy = await databases.create(postgres_server, f"{unique_name}c", template=unique_name)
        connection = await asyncpg.connect(copy)
        assert await connection.fetchval("select n from kept") == 1
        await connection.close()
    finally:
        await databases.drop(postgres_server, f"{unique_name}c")
        await databases.drop(postgres_server, unique_name)
    assert not await databases.exists(postgres_server, unique_name)


@pytest.mark.parametrize("client", [SPARK, DUCKDB], ids=["secret in the body", "secret in the header"])
async def test_a_client_gets_a_token_that_the_published_keys_verify(oidc: OidcProvider, client: Client) -> None:
    token = await client_token(oidc, client, scope="lakekeeper")
    async with httpx.AsyncClient() as http:
        keys = jwt.PyJWKSet.from_dict((await http.get(oidc.jwks_uri)).json())
    key = keys[jwt.get_unverified_header(token)["kid"]]
    claims = jwt.decode(token, key, ["RS256"], audience=oidc.audience, issuer=oidc.issuer)
    assert claims["sub"] == client.id


async def test_a_person_gets_a_token_with_groups(oidc: OidcProvider) -> None:
    claims = jwt.decode(await user_token(oidc, ALICE), options={"verify_signature": False})
    assert (claims["sub"], claims["groups"]) == ("alice", list(ALICE.groups))


async def test_a_token_can_be_had_that_has_ended(oidc: OidcProvider) -> None:
    claims = jwt.decode(await expiring_token(oidc, ALICE, seconds=-60), options={"verify_signature": False})
    assert claims["exp"] < claims["iat"]


def _taken(folder: Path) -> int:
    return sum(file.stat().st_blocks * 512 for file in folder.rglob("*") if file.is_file())


async def test_a_store_with_a_few_objects_takes_little_disk(tmp_path: Path) -> None:
    store = await provision.s3_store(tmp_path, names=TEST)
    try:
        s3 = client_of(store, store.admin)
        await asyncio.to_thread(lambda: s3.put_object(Bucket=store.bucket, Key="a", Body=os.urandom(1 << 20)))
        taken = await asyncio.to_thread(_taken, tmp_path)
    finally:
        await store.stop(gracefully=False)
    assert taken < 64 << 20
