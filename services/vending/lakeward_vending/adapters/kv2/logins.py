"""How this process proves itself to the store. What proves it may change while it runs where it is a file's."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from lakeward_servicekit.secrecy import SecretStr

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path
    from typing import TypeAlias

    # Asks at a path with a token and a body, either of which may be none; answers the reply's document.
    Ask: TypeAlias = Callable[[str, SecretStr | None, Mapping[str, str] | None], Awaitable[Mapping[str, object]]]


class NoProof(Exception):  # noqa: N818 - it says what is the case
    """There is nothing to log in with; the message says what is missing."""


@dataclasses.dataclass(frozen=True, slots=True)
class Granted:
    """A token.

    Attributes:
        token: lets in.
        seconds: how long; 0 for ever.
        renewable: whether it may be asked to last longer.
    """

    token: SecretStr
    seconds: float
    renewable: bool


class Login(Protocol):
    """Gets a token."""

    async def __call__(self, ask: Ask) -> Granted:
        """Log in. Raises NoProof, and what `ask` raises."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class UserPass:
    """By a user's name and password, at the auth mount `mount`."""

    mount: str
    user: str
    password: SecretStr

    async def __call__(self, ask: Ask) -> Granted:
        """See `Login`."""
        path = f"auth/{self.mount}/login/{quote(self.user, safe='')}"
        return granted(await ask(path, None, {"password": self.password.get_secret_value()}))


@dataclasses.dataclass(frozen=True, slots=True)
class AppRole:
    """By a role's id and secret id."""

    mount: str
    role_id: str
    secret_id: SecretStr

    async def __call__(self, ask: Ask) -> Granted:
        """See `Login`."""
        proof = {"role_id": self.role_id, "secret_id": self.secret_id.get_secret_value()}
        return granted(await ask(f"auth/{self.mount}/login", None, proof))


@dataclasses.dataclass(frozen=True, slots=True)
class Kubernetes:
    """By the pod's service account token, which the kubelet renews in its file; a `jwt` mount is asked alike."""

    mount: str
    role: str
    token_file: Path

    async def __call__(self, ask: Ask) -> Granted:
        """See `Login`."""
        proof = {"role": self.role, "jwt": await _text_of(self.token_file)}
        return granted(await ask(f"auth/{self.mount}/login", None, proof))


@dataclasses.dataclass(frozen=True, slots=True)
class Token:
    """By a token that is there: as it is set, or as a file holds it now, where an agent puts new ones."""

    token: SecretStr | None
    file: Path | None

    async def __call__(self, ask: Ask) -> Granted:
        """See `Login`."""
        token = self.token
        if self.file is not None:
            token = SecretStr(await _text_of(self.file))
        if token is None:
            raise NoProof("no token is set")
        known = _members((await ask("auth/token/lookup-self", token, None)).get("data"))
        return Granted(token, _seconds(known.get("ttl")), known.get("renewable") is True)


def granted(document: Mapping[str, object]) -> Granted:
    """The token of a login's reply, or of a renewal's.

    Raises:
        NoProof: there is none in it.
    """
    auth = _members(document.get("auth"))
    token = auth.get("client_token")
    if not isinstance(token, str) or not token:
        raise NoProof("its reply to the login holds no token")
    return Granted(SecretStr(token), _seconds(auth.get("lease_duration")), auth.get("renewable") is True)


def _members(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _seconds(value: object) -> float:
    return float(value) if isinstance(value, int | float) and value > 0 else 0.0


async def _text_of(file: Path) -> str:
    try:
        text = (await asyncio.to_thread(file.read_text, encoding="ascii")).strip()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise NoProof(f"the file {file} can't be read: {why}") from error
    if not text:
        raise NoProof(f"the file {file} is empty")
    return text
