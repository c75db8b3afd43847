"""A login in a browser: the address that the person opens, and the one request that comes back to this machine."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from lakeward.errors import AuthError

_PAGE = b"<!doctype html><title>Lakeward</title><p>You are logged in and may close this page."


@dataclass(frozen=True)
class Asked:
    """What a person is asked in a browser.

    Attributes:
        url: the provider's authorization endpoint.
        client_id: of the application.
        scope: None asks for none.
        host: of this machine, as the provider has it registered.
        port: 0 takes a free one.
        path: where the provider sends the browser back.
        timeout: seconds for the person.
        show: is given the address; opens a browser, or says where to go.
    """

    url: str
    client_id: str
    scope: str | None
    host: str
    port: int
    path: str
    timeout: float
    show: Callable[[str], object]


@dataclass(frozen=True)
class Authorized:
    """What came back, for a token.

    Attributes:
        code: to be exchanged once.
        redirect_uri: where it came back.
        verifier: shows that who exchanges it is who asked (RFC 7636).
    """

    code: str
    redirect_uri: str
    verifier: str


class _Server(HTTPServer):
    def __init__(self, asked: Asked, state: str) -> None:
        self.asked = asked
        self.state = state
        self.told: dict[str, str] = {}
        super().__init__((asked.host, asked.port), _Back)


class _Back(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Take the code; whatever else a browser asks for is not here, nor is what carries another login's state."""
        server = self.server
        assert isinstance(server, _Server)
        parsed = urlsplit(self.path)
        told = {name: values[0] for name, values in parse_qs(parsed.query).items()}
        mine = secrets.compare_digest(told.get("state", "").encode(), server.state.encode())
        if parsed.path != server.asked.path or not mine:
            self.send_error(404)
            return
        server.told = told
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(_PAGE)))
        self.end_headers()
        self.wfile.write(_PAGE)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the handler's word
        """Nothing: the address holds the code."""


def authorized(asked: Asked) -> Authorized:
    """Wait until the person has logged in.

    Raises:
        AuthError: they did not, or not in time.
    """
    verifier, state = secrets.token_urlsafe(64), secrets.token_urlsafe(24)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    try:
        server = _Server(asked, state)
    except OSError as error:
        raise AuthError(f"nothing can listen on {asked.host}:{asked.port} for the browser: {error}") from error
    with server:
        redirect_uri = f"http://{asked.host}:{server.server_address[1]}{asked.path}"
        query = {
            "response_type": "code",
            "client_id": asked.client_id,
            "redirect_uri": redirect_uri,
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            **({"scope": asked.scope} if asked.scope else {}),
        }
        asked.show(f"{asked.url}{'&' if urlsplit(asked.url).query else '?'}{urlencode(query)}")
        ends = time.monotonic() + asked.timeout
        while not server.told:
            server.timeout = ends - time.monotonic()
            if server.timeout <= 0:
                raise AuthError(f"nobody logged in in the browser within {asked.timeout:.0f} seconds")
            server.handle_request()
    if "code" not in server.told:
        raise AuthError(f"the login was refused: {server.told.get('error', 'no reason is given')}")
    return Authorized(server.told["code"], redirect_uri, verifier)
