"""A credentials file opens a NATS server that knows accounts by their keys."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nkeys
import pytest

from lakeward_catalog.adapters.nats.sink import NatsAddress, NatsSink
from lakeward_catalog.application.relay import LoggedEvent, SinkUnavailableError
from lakeward_components import binaries, child, folder, nats
from lakeward_components.environment import Component
from lakeward_components.ports import LOOPBACK, take
from tests.support.catalog.values import NOON, an_event

pytestmark = pytest.mark.integration

_UNBOUNDED = dict.fromkeys(("subs", "data", "payload"), -1)
_ACCOUNT = {
    **dict.fromkeys(("imports", "exports", "conn", "leaf", "mem_storage", "disk_storage", "streams", "consumer"), -1),
    **_UNBOUNDED,
    "wildcards": True,
}


class Key:
    """A key pair of NATS."""

    def __init__(self, prefix: int) -> None:
        self.seed = nkeys.encode_seed(secrets.token_bytes(32), prefix=prefix)
        self._pair = nkeys.from_seed(bytearray(self.seed))
        self.public: str = self._pair.public_key.decode()

    def says(self, subject: str, kind: str, **facts: Any) -> str:
        """A signed statement about a subject."""
        head = {"typ": "JWT", "alg": "ed25519-nkey"}
        claims = {
            "jti": secrets.token_hex(16),
            "iat": 1_700_000_000,
            "iss": self.public,
            "sub": subject,
            "name": kind,
            "nats": {"type": kind, "version": 2, **facts},
        }
        text = ".".join(_text(json.dumps(part).encode()) for part in (head, claims))
        return f"{text}.{_text(self._pair.sign(text.encode()))}"


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@asynccontextmanager
async def served_by_operator(home: Path, operator: Key, account: Key) -> AsyncIterator[str]:
    """The URL of a server that lets users of the account in, and nobody else."""
    system = Key(nkeys.PREFIX_BYTE_ACCOUNT)
    held = await folder.hold(home)
    name, port = nats.new_name(), take(given=None, last=None)
    settings = nats.settings(name, listen=f"{LOOPBACK}:{port}", password="", store=str(held.path / "jetstream"))
    del settings["authorization"]
    settings |= {
        "operator": operator.says(operator.public, "operator", system_account=system.public),
        "system_account": system.public,
        "resolver": "MEMORY",
        "resolver_preload": {
            each.public: operator.says(each.public, "account", limits=limits)
            for each, limits in ((account, _ACCOUNT), (system, {**_ACCOUNT, "mem_storage": 0, "disk_storage": 0}))
        },
    }
    file = held.write("nats.conf", json.dumps(settings))
    program = binaries.shipped(Component.NATS) / "nats-server"
    server = child.spawn("nats-server", [program, "-c", file], folder=held)
    try:
        await server.until(lambda: nats.ready(LOOPBACK, port, name=name), seconds=30)
        yield f"nats://{LOOPBACK}:{port}"
    finally:
        await server.stop(seconds=10)


async def test_a_credentials_file_lets_the_sink_publish_and_no_other_does(tmp_path: Path) -> None:
    operator, account = Key(nkeys.PREFIX_BYTE_OPERATOR), Key(nkeys.PREFIX_BYTE_ACCOUNT)
    event = LoggedEvent(1, an_event("w", "table", "committed", b'{"type":"createWarehouse"}'), NOON)
    async with served_by_operator(tmp_path / "nats", operator, account) as url:
        for issuer, welcome in ((account, True), (Key(nkeys.PREFIX_BYTE_ACCOUNT), False)):
            user = Key(nkeys.PREFIX_BYTE_USER)
            file = tmp_path / f"{issuer.public}.creds"
            file.write_text(
                _CREDENTIALS.format(jwt=issuer.says(user.public, "user", **_UNBOUNDED), seed=user.seed.decode())
            )
            sink = NatsSink(NatsAddress(url, "keyed", creds_file=file, max_bytes=1 << 24))
            try:
                if welcome:
                    await sink.publish(event)
                    assert await sink.position("w") == 1
                else:
                    with pytest.raises(SinkUnavailableError, match=r"(?i)authorization"):
                        await sink.publish(event)
            finally:
                await sink.close()


_CREDENTIALS = """-----BEGIN NATS USER JWT-----
{jwt}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
{seed}
------END USER NKEY SEED------
"""
