"""NATS servers that know their users in different ways."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nkeys

from lakeward_components import binaries, child, folder, nats
from lakeward_components.environment import Component
from lakeward_components.ports import LOOPBACK, take

UNBOUNDED = dict.fromkeys(("subs", "data", "payload"), -1)
ACCOUNT = {
    **dict.fromkeys(("imports", "exports", "conn", "leaf", "mem_storage", "disk_storage", "streams", "consumer"), -1),
    **UNBOUNDED,
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
async def served(home: Path, **changes: Any) -> AsyncIterator[str]:
    """The URL of a server whose configuration is changed so."""
    held = await folder.hold(home)
    name, port = nats.new_name(), take(given=None, last=None)
    settings = nats.settings(name, listen=f"{LOOPBACK}:{port}", password="", store=str(held.path / "jetstream"))
    del settings["authorization"]
    file = held.write("nats.conf", json.dumps(settings | changes))
    program = binaries.shipped(Component.NATS) / "nats-server"
    server = child.spawn("nats-server", [program, "-c", file], folder=held)
    try:
        await server.until(lambda: nats.ready(LOOPBACK, port, name=name), seconds=30)
        yield f"nats://{LOOPBACK}:{port}"
    finally:
        await server.stop(seconds=10)
