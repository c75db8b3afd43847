"""OpenFGA is heard from by its page on health, and by a question where it has no such page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from lakeward_authz.adapters.openfga.connection import OpenFga, StoreAddress
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
