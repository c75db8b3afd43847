"""Tokens for requests, from wherever they come."""

from __future__ import annotations

import json
import time as clock
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
import httpx

from lakeward._browser import Asked, authorized
from lakeward._twins import AsyncLock, in_thread_async
from lakeward.auth import Auth, BrowserLogin, ClientCredentials, DeviceFlow, DevicePrompt, TokenCallback
from lakeward.errors import AuthError, GrantError

_LARGEST = 256 * 1024  # bytes of a provider's answer
_UNTOLD_LIFE = 300.0  # seconds, of a token whose provider does not say
_OK = 200
_DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
_UNTOLD_INTERVAL = 5.0  # seconds between questions whether the person has logged in (RFC 8628, 3.2)
_SLOWER = 5.0  # seconds more where the provider says so (3.5)


@dataclass(frozen=True)
class _Granted:
    token: str = field(repr=False)
    life: float
    refresh: str | None = field(repr=False)


class AsyncTokens:
    """The token for the next request; one is asked for at a time, and kept while it is fresh.

    Args:
        auth: where tokens come from; None: callers are not asked who they are.
        http: what sends to an identity provider.
    """

    def __init__(self, auth: Auth | None, http: httpx.AsyncClient) -> None:
        self._auth = auth
        self._http = http
        self._lock = AsyncLock()
        self._token = ""
        self._refresh: str | None = None
        self._until = 0.0  # of the monotonic clock

    async def get(self) -> str | None:
        """A token, or None where there is no `auth`.

        Raises:
            AuthError: none could be had.
        """
        if self._auth is None:
            return None
        if not isinstance(self._auth, (ClientCredentials, DeviceFlow, BrowserLogin)):
            return self._auth.read()
        if clock.monotonic() < self._until:
            return self._token
        async with self._lock:
            if clock.monotonic() >= self._until:
                granted = await self._ask(self._auth)
                self._token = granted.token
                if granted.refresh is not None and granted.refresh != self._refresh:
                    self._refresh = granted.refresh
                    await self._keep(self._auth, granted.refresh)
                self._until = clock.monotonic() + granted.life - min(60.0, granted.life / 10)
            return self._token

    def forget(self, token: str) -> None:
        """Not use a token that was refused again."""
        if isinstance(self._auth, TokenCallback) and self._auth.forget is not None:
            self._auth.forget()
        elif token == self._token:
            self._until = 0.0

    async def _ask(self, auth: ClientCredentials | DeviceFlow | BrowserLogin) -> _Granted:
        if isinstance(auth, ClientCredentials):
            return await self._grant(auth, {"grant_type": "client_credentials", **_scope(auth)})
        granted = await self._refreshed(auth)
        if granted is not None:
            return granted
        return await (self._by_device(auth) if isinstance(auth, DeviceFlow) else self._by_browser(auth))

    async def _refreshed(self, auth: DeviceFlow | BrowserLogin) -> _Granted | None:
        """By the refresh token that is known here, else by the one that is kept: another program may have been given it since."""
        refused: str | None = None
        for refresh in (self._refresh, await self._kept(auth)):
            if refresh is None or refresh == refused:
                continue
            try:
                granted = await self._grant(auth, {"grant_type": "refresh_token", "refresh_token": refresh})
            except GrantError:  # it has ended
                refused = refresh
                continue
            self._refresh = refresh
            return granted
        self._refresh = None
        return None

    async def _kept(self, auth: DeviceFlow | BrowserLogin) -> str | None:
        if auth.logins is None:
            return None
        return await in_thread_async(partial(auth.logins.read, auth.login))

    async def _keep(self, auth: Auth, refresh: str) -> None:
        if isinstance(auth, (DeviceFlow, BrowserLogin)) and auth.logins is not None:
            await in_thread_async(partial(auth.logins.write, auth.login, refresh))

    async def _by_device(self, auth: DeviceFlow) -> _Granted:
        status, told = await self._post(auth.device_url, {"client_id": auth.client_id, **_secret(auth), **_scope(auth)})
        if status != _OK:
            raise _refusal(auth.device_url, status, told)
        try:
            code, interval = str(told["device_code"]), float(told.get("interval", _UNTOLD_INTERVAL))
            seconds = min(auth.timeout, float(told.get("expires_in", auth.timeout)))
            where = told.get("verification_uri") or told["verification_url"]
            prompt = DevicePrompt(str(where), str(told["user_code"]), told.get("verification_uri_complete"), seconds)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise AuthError(f"{auth.device_url} answered no device code; is it the device endpoint?") from error
        auth.prompt(prompt)
        ends = clock.monotonic() + seconds
        while clock.monotonic() + interval < ends:
            await anyio.sleep(interval)
            try:
                return await self._grant(auth, {"grant_type": _DEVICE, "device_code": code})
            except GrantError as error:
                if error.error == "slow_down":
                    interval += _SLOWER
                elif error.error != "authorization_pending":
                    raise
        raise AuthError(f"nobody logged in with the code {prompt.code} within {seconds:.0f} seconds")

    async def _by_browser(self, auth: BrowserLogin) -> _Granted:
        asked = Asked(
            url=auth.authorization_url,
            client_id=auth.client_id,
            scope=auth.scope,
            host=auth.host,
            port=auth.port,
            path=auth.path,
            timeout=auth.timeout,
            show=auth.show,
        )
        back = await in_thread_async(partial(authorized, asked))
        return await self._grant(
            auth,
            {
                "grant_type": "authorization_code",
                "code": back.code,
                "redirect_uri": back.redirect_uri,
                "code_verifier": back.verifier,
            },
        )

    async def _grant(self, auth: ClientCredentials | DeviceFlow | BrowserLogin, grant: Mapping[str, str]) -> _Granted:
        basic: httpx.BasicAuth | None = None
        form = dict(grant)
        if isinstance(auth, ClientCredentials) and auth.basic:
            basic = httpx.BasicAuth(auth.client_id, auth.client_secret)
        else:
            form |= {"client_id": auth.client_id, **_secret(auth)}
        status, told = await self._post(auth.token_url, form, basic)
        if status != _OK:
            raise _refusal(auth.token_url, status, told)
        try:
            refresh = told.get("refresh_token")
            return _Granted(
                str(told["access_token"]),
                float(told.get("expires_in", _UNTOLD_LIFE)),
                None if refresh is None else str(refresh),
            )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise _no_token(auth.token_url, status) from error

    async def _post(self, url: str, form: Mapping[str, str], basic: httpx.BasicAuth | None = None) -> tuple[int, Any]:
        told = b""
        try:
            async with self._http.stream("POST", url, data=dict(form), auth=basic) as answer:
                async for part in answer.aiter_bytes():
                    told += part
                    if len(told) > _LARGEST:
                        raise AuthError(f"{url} answered more than {_LARGEST} bytes; is it the token endpoint?")
                status = answer.status_code
        except httpx.HTTPError as error:
            raise AuthError(f"{url} gave no token: {type(error).__name__}: {error}") from error
        try:
            return status, json.loads(told)
        except ValueError as error:
            raise _no_token(url, status) from error


def _scope(auth: ClientCredentials | DeviceFlow) -> Mapping[str, str]:
    return {name: value for name, value in (("scope", auth.scope), ("audience", auth.audience)) if value}


def _secret(auth: ClientCredentials | DeviceFlow | BrowserLogin) -> Mapping[str, str]:
    return {"client_secret": auth.client_secret} if auth.client_secret else {}


def _refusal(url: str, status: int, told: Any) -> AuthError:  # noqa: ANN401 - a JSON document
    # Only what RFC 6749 (5.2) has for people is told: the rest of the answer is the provider's own.
    if not isinstance(told, dict) or not isinstance(told.get("error"), str):
        return _no_token(url, status)
    reason = f"{told['error']} {told.get('error_description', '')}".strip()
    return GrantError(f"{url} refused with {status}: {reason}", told["error"])


def _no_token(url: str, status: int) -> AuthError:
    return AuthError(f"{url} answered {status} and no token; is it the token endpoint?")
