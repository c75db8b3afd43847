"""A Lakeward whose credentials for tables end within seconds, before the real one.

Lakeward hands out nothing that lives for less than a quarter of an hour, as S3 does. What is between it and its callers signs the
store's session tokens again, with the store's own key, for a life that a test can wait for. The store then refuses them as it
refuses any that have ended.
"""

from __future__ import annotations

import base64
import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import jwt

from lakeward_components.seaweedfs import S3Store
from tests.support.http import NOBODY

_HOP = frozenset({"connection", "content-length", "content-encoding", "transfer-encoding", "host", "accept-encoding"})
_EXPIRIES = ("s3.session-token-expires-at-ms", "expiration-time")


@dataclass
class ShortLives:
    """What serves.

    Attributes:
        url: in place of Lakeward's own.
        seconds: that credentials live, and up to one more: they end with a whole second of the clock.
        told: seconds that its answers claim instead; None: the truth.
        held: seconds for which each of its answers is held back.
        handed_out: when credentials were, on the monotonic clock.
    """

    url: str
    seconds: float
    told: float | None = None
    held: float = 0.0
    handed_out: list[float] = field(default_factory=list)


def signing_key(store: S3Store, folders: Path) -> bytes:
    """The key of a store's session tokens.

    Args:
        store: that runs.
        folders: it has its own somewhere below.
    """
    for file in folders.glob("**/iam.json"):
        document = json.loads(file.read_text())
        if any(
            credential["accessKey"] == store.admin.access_key
            for identity in document["identities"]
            for credential in identity["credentials"]
        ):
            return base64.b64decode(document["sts"]["signingKey"])
    raise AssertionError(f"no iam.json below {folders} is that of {store.endpoint}")


@contextmanager
def short_lives(lakeward: str, key: bytes, *, seconds: float) -> Iterator[ShortLives]:
    """Serve in Lakeward's place for as long as the block runs.

    Args:
        lakeward: its address.
        key: of the store's session tokens.
        seconds: that credentials live.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    lives = ShortLives(f"http://127.0.0.1:{server.server_address[1]}", seconds)
    with httpx.Client(verify=NOBODY, base_url=lakeward, timeout=60) as onward:
        server.RequestHandlerClass = _handler(onward, lives, key)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield lives
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def _handler(onward: httpx.Client, lives: ShortLives, key: bytes) -> type[BaseHTTPRequestHandler]:
    def pass_on(self: BaseHTTPRequestHandler) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
        answer = onward.request(self.command, self.path, headers=headers, content=body)
        time.sleep(lives.held)
        content = _shortened(answer.content, lives, key)
        self.send_response(answer.status_code)
        for name, value in answer.headers.items():
            if name.lower() not in _HOP:
                self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self: BaseHTTPRequestHandler, *told: object) -> None:
        """Nothing: what fails is in the answers."""

    answering = {f"do_{method}": pass_on for method in ("GET", "HEAD", "POST", "PUT", "DELETE")}
    return type("Handler", (BaseHTTPRequestHandler,), {**answering, "log_message": log_message})


def _shortened(content: bytes, lives: ShortLives, key: bytes) -> bytes:
    if b"s3.session-token" not in content:
        return content
    document = json.loads(content)
    end = math.ceil(time.time() + lives.seconds)  # as the store's tokens have it, in whole seconds
    told = end if lives.told is None else time.time() + lives.told
    configs: list[dict[str, Any]] = [entry["config"] for entry in document.get("storage-credentials") or ()]
    configs += [each for each in (document.get("config"), document.get("storage-options")) if each]
    for config in configs:
        for name in ("s3.session-token", "aws_session_token"):
            if name in config:
                config[name] = _signed_again(config[name], end, key)
        config.update({name: str(int(told * 1000)) for name in _EXPIRIES if name in config})
    if "expires-at-ms" in document:
        document["expires-at-ms"] = int(told * 1000)
    lives.handed_out.append(time.monotonic())
    return json.dumps(document).encode()


def _signed_again(token: str, end: int, key: bytes) -> str:
    claims = jwt.decode(token, key, algorithms=["HS256"], options={"verify_aud": False})
    for name in ("exp", "exp_at", "expiresAt"):
        if name in claims:
            claims[name] = _like(claims[name], end)
    return jwt.encode(claims, key, algorithm="HS256")


def _like(old: object, moment: int) -> object:
    return moment if isinstance(old, (int, float)) else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
