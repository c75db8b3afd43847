"""OpenFGA is heard from by its page on health, and by a question where it has no such page."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from lakeward_authz.adapters.openfga.connection import OpenFga, StoreAddress, is_proxied
from lakeward_servicekit.errors import Reason, Refusal


class Server:
    """Answers both ways, or fails; what it was asked is noted."""

    def __init__(self, *, health: int | OSError, says: bytes = b'{"status":"SERVING"}') -> None:
        self.health = health
        self._says = says
        self.asked: list[str] = []

    @asynccontextmanager
    async def get(self, url: str) -> AsyncIterator[Any]:
        self.asked.append(url)
        if isinstance(self.health, OSError):
            raise self.health
        yield SimpleNamespace(status=self.health, content=self)

    async def read(self, most: int) -> bytes:
        return self._says[:most]

    async def list_stores(self, _options: Any) -> None:
        self.asked.append("stores")


def openfga(server: Any) -> OpenFga:
    return OpenFga(server, StoreAddress(url="http://openfga", store="s", prefix="p"), server)


async def test_a_server_that_is_well_is_asked_nothing_else() -> None:
    server = Server(health=200)
    await openfga(server).hear()
    assert server.asked == ["http://openfga/healthz"]


@pytest.mark.parametrize("status", [401, 403, 404, 405, 302, 200])
async def test_one_that_has_no_such_page_is_asked_a_question_from_then_on(status: int) -> None:
    server = Server(health=status, says=b"<html>somebody else's page")
    asked = openfga(server)
    for _ in range(3):
        await asked.hear()
    assert server.asked == ["http://openfga/healthz", "stores", "stores", "stores"]


@pytest.mark.parametrize("health", [503, 500, ConnectionError("away"), TimeoutError()])
async def test_one_that_is_not_well_or_away_is_no_sign_of_life(health: int | OSError) -> None:
    server = Server(health=health)
    asked = openfga(server)
    for _ in range(2):
        with pytest.raises(Refusal) as refused:
            await asked.hear()
        assert refused.value.reason == Reason.REASON_AUTHORIZATION_UNAVAILABLE
    assert server.asked == ["http://openfga/healthz"] * 2
    server.health = 200
    await asked.hear()


@pytest.mark.parametrize(
    ("environment", "url", "looks"),
    [
        ({}, "http://openfga.example.org:8080", False),
        ({"https_proxy": "http://proxy:3128"}, "http://openfga.example.org:8080", False),
        ({"http_proxy": "http://proxy:3128"}, "http://openfga.example.org:8080", True),
        ({"http_proxy": "http://proxy:3128", "no_proxy": "example.org"}, "http://openfga.example.org:8080", False),
        ({"http_proxy": "http://proxy:3128", "no_proxy": "127.0.0.1"}, "http://127.0.0.1:8080", False),
    ],
)
def test_it_is_heard_from_by_the_proxy_by_which_it_is_asked(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], url: str, looks: bool
) -> None:
    for name in [*os.environ]:
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    for name, its in environment.items():
        monkeypatch.setenv(name, its)
    assert is_proxied(url) is looks
