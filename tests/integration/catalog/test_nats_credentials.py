"""A credentials file opens a NATS server that knows accounts by their keys."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import nkeys
import pytest

from lakeward_servicekit.events.nats.connection import NatsAddress
from lakeward_servicekit.events.nats.sink import NatsSink
from lakeward_servicekit.events.relay import LoggedEvent, SinkUnavailableError
from lakeward_servicekit.secrecy import SecretStr
from tests.support.catalog.values import NOON, an_event
from tests.support.certificates import Authority
from tests.support.nats_servers import ACCOUNT, UNBOUNDED, Key, served

pytestmark = pytest.mark.integration


def served_by_operator(home: Path, operator: Key, account: Key) -> AbstractAsyncContextManager[str]:
    """The URL of a server that lets users of the account in, and nobody else."""
    system = Key(nkeys.PREFIX_BYTE_ACCOUNT)
    return served(
        home,
        operator=operator.says(operator.public, "operator", system_account=system.public),
        system_account=system.public,
        resolver="MEMORY",
        resolver_preload={
            each.public: operator.says(each.public, "account", limits=limits)
            for each, limits in ((account, ACCOUNT), (system, {**ACCOUNT, "mem_storage": 0, "disk_storage": 0}))
        },
    )


async def test_a_credentials_file_lets_the_sink_publish_and_no_other_does(tmp_path: Path) -> None:
    operator, account = Key(nkeys.PREFIX_BYTE_OPERATOR), Key(nkeys.PREFIX_BYTE_ACCOUNT)
    event = LoggedEvent(1, an_event("w", "table", "committed", b'{"type":"createWarehouse"}'), NOON)
    async with served_by_operator(tmp_path / "nats", operator, account) as url:
        for issuer, welcome in ((account, True), (Key(nkeys.PREFIX_BYTE_ACCOUNT), False)):
            user = Key(nkeys.PREFIX_BYTE_USER)
            file = tmp_path / f"{issuer.public}.creds"
            file.write_text(
                _CREDENTIALS.format(jwt=issuer.says(user.public, "user", **UNBOUNDED), seed=user.seed.decode())
            )
            sink = NatsSink(NatsAddress(url, "keyed", creds_file=file, max_bytes=1 << 24))
            try:
                if welcome:
                    await sink.publish([event])
                    assert await sink.position("w") == 1
                else:
                    with pytest.raises(SinkUnavailableError, match=r"(?i)authorization"):
                        await sink.publish([event])
            finally:
                await sink.close()


async def _outcome(address: NatsAddress) -> int | None:
    """How many events arrived of the one that was published; None where the server let nobody in."""
    event = LoggedEvent(1, an_event("w", "table", "committed", b'{"type":"createWarehouse"}'), NOON)
    sink = NatsSink(address)
    try:
        await sink.publish([event])
        return await sink.position("w")
    except SinkUnavailableError:
        return None
    finally:
        await sink.close()


async def test_a_user_a_token_and_a_key_open_a_server_and_others_do_not(tmp_path: Path) -> None:
    key, seed = Key(nkeys.PREFIX_BYTE_USER), tmp_path / "seed"
    seed.write_bytes(key.seed)
    other = tmp_path / "other"
    other.write_bytes(Key(nkeys.PREFIX_BYTE_USER).seed)
    secret, wrong = SecretStr("a-secret"), SecretStr("another")
    cases: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
        (
            {"users": [{"user": "us", "password": "a-secret"}]},
            {"user": "us", "password": secret},
            {"user": "us", "password": wrong},
        ),
        ({"token": "a-secret"}, {"token": secret}, {"token": wrong}),
        ({"users": [{"nkey": key.public}]}, {"nkey_file": seed}, {"nkey_file": other}),
    ]
    for number, (authorization, welcome, stranger) in enumerate(cases):
        async with served(tmp_path / f"nats-{number}", authorization=authorization) as url:
            for said, expected in ((welcome, 1), (stranger, None), ({}, None)):
                assert await _outcome(NatsAddress(url, "t", max_bytes=1 << 24, **said)) == expected


async def test_a_server_is_known_by_its_certificate_and_asks_for_ours(tmp_path: Path) -> None:
    authority, others = Authority(tmp_path / "ours"), Authority(tmp_path / "others")
    server, client, stranger = authority.issue("server"), authority.issue("client"), others.issue("stranger")
    files = {"cert_file": str(server.certificate), "key_file": str(server.key)}
    known = {"ca_file": authority.certificate}
    ours = {"cert_file": client.certificate, "key_file": client.key}
    theirs = {"cert_file": stranger.certificate, "key_file": stranger.key}
    async with served(tmp_path / "tls", tls=files) as url:
        for trusted, expected in ((known, 1), ({"ca_file": others.certificate}, None)):
            assert await _outcome(NatsAddress(url, "t", max_bytes=1 << 24, **trusted)) == expected
    mutual = {**files, "ca_file": str(authority.certificate), "verify": True}
    async with served(tmp_path / "mtls", tls=mutual) as url:
        for shown, expected in ((ours, 1), (theirs, None), ({}, None)):
            assert await _outcome(NatsAddress(url, "t", max_bytes=1 << 24, **known, **shown)) == expected


_CREDENTIALS = """-----BEGIN NATS USER JWT-----
{jwt}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
{seed}
------END USER NKEY SEED------
"""
