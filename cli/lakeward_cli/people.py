"""Who there is in `lakeward up --secure`: their passwords, which a home keeps, and how their tokens are had."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from lakeward_cli.homes import kept
from lakeward_components import oidc
from lakeward_components.errors import ComponentUnavailable
from lakeward_components.oidc import Client, Directory, User

PROVIDER: Final = "oidc"
"""The folder of the identity provider in a home; and what users' ids begin with."""
ADMIN: Final = "admin"
PEOPLE: Final[Mapping[str, str]] = {
    ADMIN: "who may do everything",
    "writer": "who may make, change and drop what is in the warehouse",
    "reader": "who may read what is in the warehouse",
}
"""By name, what they may do."""
PRIVILEGES: Final[Mapping[str, Sequence[str]]] = {"writer": ("create", "modify"), "reader": ("select",)}
"""What they are given on the warehouse; whoever opens the server for use needs nothing."""

_KEPT: Final = "people.json"
_CLIENT: Final = "lakeward"
_MANAGEMENT: Final = "management"
_TOKEN_MINUTES: Final = 12 * 60


def directory(home: Path) -> Directory:
    """Whom the home's identity provider knows; passwords are made once."""
    known = _secrets(home)
    return Directory(
        clients=(_client(known),),
        users=tuple(_user(name, known) for name in PEOPLE),
        management_secret=known[_MANAGEMENT],
        token_minutes=_TOKEN_MINUTES,
    )


async def token(home: Path, name: str) -> str:
    """A fresh access token of one of them.

    Raises:
        ComponentError: the home was never started so, or nothing runs there.
    """
    issuer = oidc.issuer_of(home / PROVIDER)
    if issuer is None:
        raise ComponentUnavailable(
            f"{home} knows no people; start it with `lakeward up --secure`, or name another home"
        )
    known = _secrets(home)
    return await oidc.token(issuer, _client(known), _user(name, known))


def _secrets(home: Path) -> Mapping[str, str]:
    return kept(home / _KEPT, lambda: {each: secrets.token_urlsafe(24) for each in (_CLIENT, _MANAGEMENT, *PEOPLE)})


def _client(known: Mapping[str, str]) -> Client:
    return Client(_CLIENT, known[_CLIENT], "client_secret_post", "password")


def _user(name: str, known: Mapping[str, str]) -> User:
    return User(name, password=known[name])
