"""Tokens for PyIceberg, from where the client has its own; PyIceberg finds the class by its name."""

from __future__ import annotations

import httpx
from pyiceberg.catalog.rest.auth import AuthManager

from lakeward._sync.tokens import Tokens as Asked
from lakeward.auth import Auth

_SECONDS = 30.0  # for each step of asking an identity provider


class Tokens(AuthManager):
    """Asks for the token with each request, so that it is always one that holds.

    Args:
        auth: where tokens come from.
    """

    def __init__(self, auth: Auth) -> None:
        self._tokens = Asked(auth, httpx.Client(timeout=_SECONDS))

    def auth_header(self) -> str:
        """As "Bearer …".

        Raises:
            AuthError: no token could be had.
        """
        return f"Bearer {self._tokens.get()}"
