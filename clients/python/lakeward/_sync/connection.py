# made by tools/generate_client.py from what stands in _async; do not edit
"""What sends calls: tokens, repetitions, bounds, errors."""

from __future__ import annotations

import time
from importlib.metadata import version

import httpx

from lakeward._calls import Answer, Call
from lakeward._sync.tokens import Tokens
from lakeward.auth import Auth
from lakeward.errors import AnswerError, ConfigurationError, RefusedError, UnreachableError, refused
from lakeward.retrying import REPEATED, Retries

LARGEST_ANSWER = 256 * 1024 * 1024
"""Bytes of an answer that are taken, inflated."""

_UNAUTHORIZED = 401
_ERRORS = 400


class Connection:
    """Sends calls to one server.

    Args:
        url: of the server, with the path that a proxy puts before its APIs, as "https://lake.example.com/lakeward".
        auth: where tokens come from; None: callers are not asked who they are.
        project: id of the project that is meant where a call names none; None for the server's default.
        timeout: seconds that each step of an attempt may take: connecting, sending, each wait for a part of the answer.
        retries: when calls are repeated.
        transport: of httpx, for tests and for special networks; None for an ordinary one.
    """

    def __init__(
        self,
        url: str,
        *,
        auth: Auth | None,
        project: str | None,
        timeout: float,
        retries: Retries,
        transport: httpx.BaseTransport | None,
    ) -> None:
        self.url = _checked(url)
        self.project = project
        self.auth = auth
        self._retries = retries
        self._http = httpx.Client(
            timeout=timeout,
            transport=transport,
            headers={"user-agent": f"lakeward-python/{version('lakeward')}", "accept": "application/json"},
        )
        self._tokens = Tokens(auth, self._http)

    def close(self) -> None:
        """Close what is open to the server."""
        self._http.close()

    def token(self) -> str | None:
        """A token for whoever speaks with the server beside this client, as an engine; None where there is no `auth`."""
        return self._tokens.get()

    def call(self, call: Call) -> Answer:
        """Make a call, again where that may help.

        Raises:
            RefusedError: what the server says.
            UnreachableError: it gave no answer.
            AnswerError: its answer is too large.
            AuthError: no token could be had.
        """
        attempt = 1
        renewed = False
        while True:
            token = self._tokens.get()
            told: float | None = None
            try:
                return self._attempt(call, token)
            except RefusedError as error:
                if error.status == _UNAUTHORIZED and token and not renewed:
                    # It may have ended on the way; another one is asked for once.
                    self._tokens.forget(token)
                    renewed = True
                    continue
                if error.status not in REPEATED or not self._again(call, attempt):
                    raise
                told = error.retry_after
            except UnreachableError as error:
                sent = not isinstance(error.__cause__, (httpx.ConnectError, httpx.ConnectTimeout))
                if attempt >= self._retries.attempts or (sent and not call.repeatable):
                    raise
            time.sleep(self._retries.delay(attempt, told))
            attempt += 1

    def _again(self, call: Call, attempt: int) -> bool:
        return call.repeatable and attempt < self._retries.attempts

    def _attempt(self, call: Call, token: str | None) -> Answer:
        headers = call.headed(token, self.project)
        target = self.url + call.target
        try:
            with self._http.stream(
                call.method, target, params=list(call.parameters), headers=headers, content=call.content
            ) as answer:
                parts = bytearray()
                for part in answer.iter_bytes():
                    parts += part
                    if len(parts) > LARGEST_ANSWER:
                        raise AnswerError(f"{call.method} {target}: the answer is larger than {LARGEST_ANSWER} bytes")
        except httpx.TimeoutException as error:
            raise UnreachableError(f"{call.method} {target}: no answer in time") from error
        except httpx.DecodingError as error:
            raise AnswerError(f"{call.method} {target}: the answer's body can't be inflated: {error}") from error
        except httpx.HTTPError as error:
            raise UnreachableError(f"{call.method} {target}: {str(error) or type(error).__name__}") from error
        if answer.status_code >= _ERRORS:
            raise refused(answer.status_code, answer.headers, bytes(parts))
        return Answer(answer.status_code, answer.headers, bytes(parts))


def _checked(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ConfigurationError(f"{url!r} is no URL: {error}") from error
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise ConfigurationError(f"{url!r} is no URL of a server; it should be like https://lake.example.com")
    if parsed.userinfo:
        raise ConfigurationError("the server's URL holds a user; say who calls by `auth`")
    # People paste what engines take.
    return url.rstrip("/").removesuffix("/catalog").removesuffix("/management")
