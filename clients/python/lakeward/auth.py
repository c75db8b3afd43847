"""Where tokens come from. Each of these may be given to a client as its `auth`."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from lakeward.errors import AuthError
from lakeward.logins import LoginFile, Logins, name_of

_LARGEST_TOKEN = 64 * 1024  # bytes of a file that holds one


@dataclass(frozen=True)
class StaticToken:
    """A token as it is.

    Attributes:
        token: sent with each request.
    """

    token: str = field(repr=False)

    def read(self) -> str:
        """The token."""
        return self.token


@dataclass(frozen=True)
class TokenFile:
    """A file that holds a token and that somebody keeps fresh, as Kubernetes does with service accounts'.

    Attributes:
        path: of the file; read for each request.
    """

    path: Path | str

    def read(self) -> str:
        """The token.

        Raises:
            AuthError: there is no such file, or it holds no token.
        """
        try:
            with Path(self.path).open("rb") as file:
                token = file.read(_LARGEST_TOKEN).decode().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise AuthError(f"no token could be read from {self.path}: {error}") from error
        if not token:
            raise AuthError(f"the token file {self.path} is empty")
        return token


@dataclass(frozen=True)
class EnvironmentToken:
    """A variable that holds a token.

    Attributes:
        name: of the variable.
    """

    name: str = "LAKEWARD_TOKEN"

    def read(self) -> str:
        """The token.

        Raises:
            AuthError: the variable is not set.
        """
        token = os.environ.get(self.name, "").strip()
        if not token:
            raise AuthError(f"the environment has no {self.name}, which should hold the token")
        return token


@dataclass(frozen=True)
class TokenCallback:
    """A function that knows the token.

    Attributes:
        function: called for each request, so it should remember what it knows.
        forget: called when the server refused what it said, before it is asked once more; None: nobody wants to know.
    """

    function: Callable[[], str] = field(repr=False)
    forget: Callable[[], object] | None = field(default=None, repr=False)

    def read(self) -> str:
        """The token."""
        return self.function()


@dataclass(frozen=True)
class ClientCredentials:
    """OAuth 2's client credentials (RFC 6749, 4.4). A token is kept until a minute before it ends, or a tenth of its life.

    Attributes:
        token_url: the identity provider's token endpoint.
        client_id: of the application.
        client_secret: its secret.
        scope: several are parted by spaces. Many providers put Lakeward's audience in for a scope only.
        audience: for providers that want one.
        basic: send id and secret as HTTP Basic's, not in the form.
    """

    token_url: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str | None = None
    audience: str | None = None
    basic: bool = False


@dataclass(frozen=True)
class DevicePrompt:
    """What a person is shown, so that they log in on any device.

    Attributes:
        url: to open.
        code: to type in there.
        complete_url: has the code in it already; None where the provider makes none.
        seconds: until it is too late.
    """

    url: str
    code: str
    complete_url: str | None
    seconds: float


def print_prompt(prompt: DevicePrompt) -> None:
    """Say on the error channel where to log in, so that what a program prints stays its own."""
    where = prompt.complete_url or f"{prompt.url} and enter {prompt.code}"
    sys.stderr.write(f"To log in, open {where}\n")


@dataclass(frozen=True)
class DeviceFlow:
    """OAuth 2's device authorization (RFC 8628): a person logs in with a browser on any device, and this program waits.

    Afterwards the refresh token does, for as long as the provider takes it.

    Attributes:
        device_url: the identity provider's device authorization endpoint.
        token_url: its token endpoint.
        client_id: of the application.
        client_secret: None for a public one, as most are.
        scope: several are parted by spaces; many providers want "offline_access" among them for a refresh token.
        audience: for providers that want one.
        prompt: shows the person where to go.
        timeout: seconds for the person.
        logins: keeps the refresh token for the next program; None: nobody does.
    """

    device_url: str
    token_url: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    scope: str | None = None
    audience: str | None = None
    prompt: Callable[[DevicePrompt], object] = print_prompt
    timeout: float = 300.0
    logins: Logins | None = field(default=LoginFile(), repr=False)

    @property
    def login(self) -> str:
        """Under which name it is kept."""
        return name_of(self.device_url, self.token_url, self.client_id, self.scope, self.audience)


def open_browser(url: str) -> None:
    """Open a browser, and say where it should be if none opens."""
    sys.stderr.write(f"To log in, open {url}\n")
    webbrowser.open(url)


@dataclass(frozen=True)
class BrowserLogin:
    """OAuth 2's authorization code with PKCE (RFC 7636): a person logs in with a browser on this machine.

    Afterwards the refresh token does, for as long as the provider takes it.

    Attributes:
        authorization_url: the identity provider's authorization endpoint.
        token_url: its token endpoint.
        client_id: of the application.
        client_secret: None for a public one, as most are.
        scope: several are parted by spaces; many providers want "offline_access" among them for a refresh token.
        audience: for providers that want one.
        host: this machine, as the provider has it registered.
        port: 0 takes a free one.
        path: where the provider sends the browser back.
        show: is given the address to open.
        timeout: seconds for the person.
        logins: keeps the refresh token for the next program; None: nobody does.
    """

    authorization_url: str
    token_url: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    scope: str | None = None
    audience: str | None = None
    host: str = "localhost"
    port: int = 0
    path: str = "/callback"
    show: Callable[[str], object] = open_browser
    timeout: float = 300.0
    logins: Logins | None = field(default=LoginFile(), repr=False)

    @property
    def login(self) -> str:
        """Under which name it is kept."""
        return name_of(self.authorization_url, self.token_url, self.client_id, self.scope)


Auth: TypeAlias = (
    "StaticToken | TokenFile | EnvironmentToken | TokenCallback | ClientCredentials | DeviceFlow | BrowserLogin"
)
"""What a client takes as its `auth`."""
