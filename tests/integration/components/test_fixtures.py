"""What the shared fixtures promise."""

from __future__ import annotations

from collections.abc import Callable

import asyncpg
import nats
import pytest

from tests.support.components import S3Place

pytestmark = pytest.mark.integration


async def test_a_fresh_database_answers_and_is_empty(postgres_url: str) -> None:
    connection = await asyncpg.connect(postgres_url)
    try:
        assert await connection.fetchval("select count(*) from pg_tables where schemaname = 'public'") == 0
        assert await connection.fetchval("show synchronous_commit") == "on"
    finally:
        await connection.close()


def test_each_database_that_is_made_is_another(make_database: Callable[[], str]) -> None:
    assert make_database() != make_database()


async def test_nats_keeps_a_message_and_tells_its_twin(nats_url: str, unique_name: str) -> None:
    connection = await nats.connect(nats_url)
    try:
        stream = connection.jetstream()
        await stream.add_stream(name=unique_name, subjects=[f"{unique_name}.>"])
        headers = {"Nats-Msg-Id": "one"}
        first = await stream.publish(f"{unique_name}.a", b"x", headers=headers)
        again = await stream.publish(f"{unique_name}.a", b"x", headers=headers)
        assert (first.seq, again.seq, again.duplicate) == (1, 1, True)
    finally:
        await connection.close()


def test_each_test_has_a_prefix_of_its_own(s3_store: S3Place) -> None:
    assert s3_store.url == f"s3://{s3_store.store.bucket}/{s3_store.prefix}"
    assert s3_store.prefix
