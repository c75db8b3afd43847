"""Requests to the store with a token that is got when it is needed, renewed before it ends, and got again when it is refused."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import math
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import httpx

from lakeward_servicekit.tls import explain
from lakeward_vending.adapters.kv2.logins import Granted, NoProof, granted
from lakeward_vending.application.refusals import SecretStoreUnavailable

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Callable, Mapping

    from lakeward_servicekit.secrecy import SecretStr
    from lakeward_vending.adapters.kv2.logins import Login

_LOG: Final = logging.getLogger(__name__)
_LONGEST_REPLY: Final = 1 << 20
_CONNECTIONS: Final = 8
# Of a token's life, after which it is renewed; and the pause after a renewal or a login that failed.
_RENEWED_AFTER: Final = 2 / 3
_PAUSE_SECONDS: Final = 5.0
_IDLE_SECONDS: Final = 30.0
# What the caller makes of it; everything else is an outage of the store's.
_ANSWERED: Final = frozenset({HTTPStatus.OK, HTTPStatus.NO_CONTENT, HTTPStatus.NOT_FOUND, HTTPStatus.BAD_REQUEST})


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """A reply that is the caller's to read: 200, 204, 400 or 404.

    Attributes:
        document: its JSON object; empty where there is none.
    """

    status: int
    document: Mapping[str, object]


@dataclasses.dataclass(frozen=True, slots=True)
class _Held:
    """A token in use; times are seconds on a clock that never goes back."""

    granted: Granted
    since: float
    renew_at: float
    ends_at: float


class Session:
    """The store at an address, as somebody who logged in. All methods raise SecretStoreUnavailable.

    Args:
        http: speaks to the address, with a time for each step of a call; see `client`.
        login: how to get a token.
        now: seconds on a clock that never goes back.
    """

    def __init__(self, http: httpx.AsyncClient, login: Login, *, now: Callable[[], float] = time.monotonic) -> None:
        """Log in with the first request; see the class."""
        self._http = http
        self._login = login
        self._now = now
        self._held: _Held | None = None
        self._entering = asyncio.Lock()

    async def call(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Answer:
        """Ask once, and once more with a new token where the first was refused.

        Args:
            method: of HTTP.
            path: below /v1/, percent-encoded.
            body: is sent as JSON.
        """
        held = await self._entered()
        answer = await self._send(method, path, token=held.granted.token, body=body)
        # A token may have been revoked; one that is seconds old was not, and a policy refuses the next one too.
        if answer.status == HTTPStatus.FORBIDDEN and self._now() - held.since > _PAUSE_SECONDS:
            held = await self._entered(instead_of=held)
            answer = await self._send(method, path, token=held.granted.token, body=body)
        if answer.status not in _ANSWERED:
            raise self._unavailable(f"answers {method} with {answer.status}{_MEANT.get(answer.status, '')}")
        return answer

    async def keep(self) -> None:
        """Renew the token before it ends, however long nobody asks anything. Ends never; a background task."""
        while True:
            held = self._held
            idle = math.inf if held is None else held.renew_at - self._now()
            await asyncio.sleep(min(max(idle, 0.0), _IDLE_SECONDS))
            if self._held is not None and self._now() >= self._held.renew_at:
                try:
                    await self._entered()
                except SecretStoreUnavailable as refused:
                    _LOG.warning("the secret store did not renew the token", extra={"refusal": str(refused)})
                    await asyncio.sleep(_PAUSE_SECONDS)

    async def _entered(self, *, instead_of: _Held | None = None) -> _Held:
        """A token that lets in, as far as is known, and is not the one that was refused."""
        held = self._held
        if held is not None and held is not instead_of and self._now() < held.renew_at:
            return held
        async with self._entering:  # one login however many wait for it
            held = self._held
            if held is None or held is instead_of or self._now() >= held.ends_at:
                held = self._held = await self._logged_in()
            elif self._now() >= held.renew_at:
                held = self._held = await self._renewed(held)
            return held

    async def _logged_in(self) -> _Held:
        try:
            return self._begun(await self._login(self._ask))
        except NoProof as why:
            raise self._unavailable(f"can't be logged in to: {why}") from why

    async def _renewed(self, held: _Held) -> _Held:
        """The same token for longer, or another; while it lasts, one that could not be renewed goes on."""
        try:
            if not held.granted.renewable:
                return await self._logged_in()
            return self._begun(granted(await self._ask("auth/token/renew-self", held.granted.token, {})))
        except (SecretStoreUnavailable, NoProof) as why:
            _LOG.warning("the secret store did not renew the token", extra={"refusal": str(why)})
            try:
                return await self._logged_in()
            except SecretStoreUnavailable:
                return dataclasses.replace(held, renew_at=min(self._now() + _PAUSE_SECONDS, held.ends_at))

    def _begun(self, new: Granted) -> _Held:
        now = self._now()
        seconds = new.seconds or math.inf
        return _Held(new, since=now, renew_at=now + seconds * _RENEWED_AFTER, ends_at=now + seconds)

    async def _ask(self, path: str, token: SecretStr | None, body: Mapping[str, str] | None) -> Mapping[str, object]:
        answer = await self._send("GET" if body is None else "POST", path, token=token, body=body)
        if answer.status != HTTPStatus.OK:
            # What it says of why may hold what was sent.
            raise self._unavailable(
                f"answers {answer.status} to {path.rpartition('/login')[0] or path}; look at KV2__ settings"
            )
        return answer.document

    async def _send(
        self, method: str, path: str, *, token: SecretStr | None, body: Mapping[str, object] | None
    ) -> Answer:
        headers = {} if token is None else {"x-vault-token": token.get_secret_value()}
        try:
            async with self._http.stream(method, f"/v1/{path}", headers=headers, json=body) as response:
                text = await _bounded(response.aiter_bytes())
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._unavailable(f"gives no answer: {explain(error) or type(error).__name__}") from error
        if text is None:
            raise self._unavailable(f"answers with more than {_LONGEST_REPLY} bytes")
        try:
            document = json.loads(text) if text else {}
        except (ValueError, RecursionError) as error:
            if response.status_code == HTTPStatus.OK:
                raise self._unavailable("answers with something that is not JSON") from error
            document = {}
        return Answer(response.status_code, document if isinstance(document, dict) else {})

    def _unavailable(self, why: str) -> SecretStoreUnavailable:
        store = str(self._http.base_url.copy_with(userinfo=b"")).rstrip("/")
        return SecretStoreUnavailable(f"the secret store {store} {why}", store=store)


_MEANT: Final[Mapping[int, str]] = {
    HTTPStatus.FORBIDDEN: ": its policy does not let us; it must allow create, read and update below data/, and read and delete "
    "below metadata/",
    HTTPStatus.SERVICE_UNAVAILABLE: ": it is sealed or in maintenance",
}


def client(url: str, *, seconds: float, namespace: str | None, verify: ssl.SSLContext) -> httpx.AsyncClient:
    """What a session speaks through. A redirect is not followed, so no token goes elsewhere.

    Args:
        url: of the store: "https://bao.example.org:8200".
        seconds: for each step of a call: to connect, to send, between two pieces of the reply.
        namespace: in which all of it lies; None: in the root one.
        verify: which certificates are trusted.
    """
    return httpx.AsyncClient(
        base_url=url,
        timeout=httpx.Timeout(seconds),
        limits=httpx.Limits(max_connections=_CONNECTIONS),
        headers={"x-vault-request": "true", **({} if namespace is None else {"x-vault-namespace": namespace})},
        verify=verify,
        follow_redirects=False,
    )


async def _bounded(pieces: AsyncIterator[bytes]) -> bytes | None:
    """All of it; None where it is longer than any reply that is ours."""
    text = bytearray()
    async for piece in pieces:
        text += piece
        if len(text) > _LONGEST_REPLY:
            return None
    return bytes(text)
