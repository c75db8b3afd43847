"""A client of `scim2-client` over what a test serves in its own loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, Protocol
from urllib.parse import urlencode
from wsgiref.headers import Headers

import httpx
from scim2_client import BaseSyncSCIMClient
from scim2_client.engines.inprocess import InProcessResponse


class Served(Protocol):
    """What answers."""

    def scim(self, who: str, method: str, path: str, body: Any, /) -> Awaitable[httpx.Response]: ...


class Client(BaseSyncSCIMClient):
    """Asks in a thread of its own, while the loop serves."""

    def __init__(self, served: Served, who: str, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._served = served
        self._who = who
        self._loop = loop

    def request(self, method: str, url: str, **given: Any) -> InProcessResponse:
        query = f"?{urlencode(given['params'], doseq=True)}" if given.get("params") else ""
        asked = self._answer(method, f"{url}{query}", given.get("json"))
        reply = asyncio.run_coroutine_threadsafe(asked, self._loop).result()
        made = InProcessResponse(status_code=reply.status_code, headers=Headers([*reply.headers.items()]))
        made.content = reply.content
        return made

    async def _answer(self, method: str, path: str, body: Any) -> httpx.Response:
        return await self._served.scim(self._who, method, path, body)

    def _parse_json(self, response: Any) -> Any:
        return response.json()
