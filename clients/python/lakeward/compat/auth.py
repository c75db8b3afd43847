"""Where tokens come from, under the old names; each can be asked for a header, as there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import httpx

from lakeward import auth as ours
from lakeward._sync.tokens import Tokens
from lakeward.compat.errors import AuthError, translated


class Auth(ABC):
    """Knows the header that says who calls; others than these may be written."""

    @abstractmethod
    def auth_header(self) -> str:
        """As "Bearer …"."""

    def invalidate(self) -> None:  # noqa: B027 - a token that is as it is can't be forgotten
        """Not use the token again, which was refused."""


class StaticToken(Auth):
    """A token as it is."""

    def __init__(self, token: str) -> None:
        if not token:
            raise AuthError("the token is empty")
        self._token = token

    def auth_header(self) -> str:
        """See `Auth`."""
        return f"Bearer {self._token}"


class _Kept(Auth):
    """A token that is kept until it ends soon."""

    def __init__(self, auth: ours.Auth, *, timeout: float) -> None:
        self._tokens = Tokens(auth, httpx.Client(timeout=timeout))
        self._token = ""

    def auth_header(self) -> str:
        """See `Auth`.

        Raises:
            AuthError: no token could be had.
        """
        with translated():
            self._token = self._tokens.get() or ""
        return f"Bearer {self._token}"

    def invalidate(self) -> None:
        """See `Auth`."""
        self._tokens.forget(self._token)


class ClientCredentials(_Kept):
    """OAuth 2's client credentials; `lakeward.auth.ClientCredentials`.

    Args:
        token_url: the identity provider's token endpoint.
        client_id: of the application.
        client_secret: its secret.
        scope: several are parted by spaces.
        refresh_margin: taken and not used: a token is replaced a minute before it ends, or a tenth of its life.
        timeout: seconds for each step of a request.
    """

    def __init__(
        self,
        token_url: str,
        client_id: str,
        client_secret: str,
        *,
        scope: str | None = None,
        refresh_margin: int = 60,
        timeout: float = 30.0,
    ) -> None:
        del refresh_margin
        super().__init__(ours.ClientCredentials(token_url, client_id, client_secret, scope=scope), timeout=timeout)


@dataclass(frozen=True)
class DeviceCodePrompt:
    """What a person is shown, so that they log in on any device.

    Attributes:
        verification_uri: to open.
        user_code: to type in there.
        verification_uri_complete: has the code in it already; None where the provider makes none.
        expires_in: seconds until it is too late.
    """

    verification_uri: str | None
    user_code: str | None
    verification_uri_complete: str | None
    expires_in: float


class DeviceCodeFlow(_Kept):
    """OAuth 2's device authorization; `lakeward.auth.DeviceFlow`.

    Args:
        device_authorization_url: the identity provider's device authorization endpoint.
        token_url: its token endpoint.
        client_id: of the application.
        client_secret: None for a public one.
        scope: several are parted by spaces.
        prompt: shows the person where to go; None says it on the error channel.
        refresh_margin: taken and not used; see `ClientCredentials`.
        timeout: seconds for each step of a request.
        poll_timeout: seconds for the person.
    """

    def __init__(  # noqa: PLR0913 - as it was there
        self,
        *,
        device_authorization_url: str,
        token_url: str,
        client_id: str,
        client_secret: str | None = None,
        scope: str | None = None,
        prompt: Callable[[DeviceCodePrompt], None] | None = None,
        refresh_margin: int = 60,
        timeout: float = 30.0,
        poll_timeout: float = 300.0,
    ) -> None:
        del refresh_margin

        def show(shown: ours.DevicePrompt) -> None:
            if prompt is None:
                ours.print_prompt(shown)
            else:
                prompt(DeviceCodePrompt(shown.url, shown.code, shown.complete_url, shown.seconds))

        flow = ours.DeviceFlow(
            device_authorization_url,
            token_url,
            client_id,
            client_secret=client_secret,
            scope=scope,
            prompt=show,
            timeout=poll_timeout,
            logins=None,  # nothing was kept there
        )
        super().__init__(flow, timeout=timeout)


class AuthorizationCodeFlow(_Kept):
    """OAuth 2's authorization code with PKCE; `lakeward.auth.BrowserLogin`.

    Args:
        authorization_url: the identity provider's authorization endpoint.
        token_url: its token endpoint.
        client_id: of the application.
        client_secret: None for a public one.
        scope: several are parted by spaces.
        redirect_host: this machine, as the provider has it registered.
        redirect_port: 0 takes a free one.
        redirect_path: where the provider sends the browser back.
        open_browser: is given the address; None opens the person's browser.
        refresh_margin: taken and not used; see `ClientCredentials`.
        timeout: seconds for each step of a request.
        login_timeout: seconds for the person.
    """

    def __init__(  # noqa: PLR0913 - as it was there
        self,
        *,
        authorization_url: str,
        token_url: str,
        client_id: str,
        client_secret: str | None = None,
        scope: str | None = None,
        redirect_host: str = "localhost",
        redirect_port: int = 0,
        redirect_path: str = "/callback",
        open_browser: Callable[[str], None] | None = None,
        refresh_margin: int = 60,
        timeout: float = 30.0,
        login_timeout: float = 300.0,
    ) -> None:
        del refresh_margin
        login = ours.BrowserLogin(
            authorization_url,
            token_url,
            client_id,
            client_secret=client_secret,
            scope=scope,
            host=redirect_host,
            port=redirect_port,
            path=redirect_path,
            show=open_browser or ours.open_browser,
            timeout=login_timeout,
            logins=None,  # nothing was kept there
        )
        super().__init__(login, timeout=timeout)
