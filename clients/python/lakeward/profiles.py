"""Servers under names, kept in a file of the user's that nobody else can read."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakeward.auth import Auth, ClientCredentials, EnvironmentToken, StaticToken, TokenFile
from lakeward.errors import ConfigurationError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_CREDENTIALS = ("token-url", "client-id", "client-secret")
_TOKENS = ("token", "token-file", "token-env")
_KNOWN = frozenset({"url", "project", *_TOKENS, *_CREDENTIALS, "scope", "audience"})


@dataclass(frozen=True)
class Profile:
    """How one server is reached.

    Attributes:
        url: of the server.
        project: id of the project that is meant; None for the server's default.
        auth: where tokens come from; None: the server does not ask who calls.
    """

    url: str
    project: str | None = None
    auth: Auth | None = field(default=None)


def path() -> Path:
    """Of the file: LAKEWARD_PROFILES, else lakeward/profiles.toml where the user keeps configuration."""
    given = os.environ.get("LAKEWARD_PROFILES")
    if given:
        return Path(given)
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "lakeward" / "profiles.toml"


def read() -> Mapping[str, Any]:
    """The file's document: `default`, a name, and `profiles`, by name.

    Raises:
        ConfigurationError: it is no TOML.
    """
    try:
        return tomllib.loads(path().read_text())
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"the profiles in {path()} can't be read: {error}") from error


def write(document: Mapping[str, Any]) -> None:
    """Put a document in the file's place, at once and for its owner's eyes alone."""
    lines = [] if "default" not in document else [f"default = {_quoted(document['default'])}", ""]
    for name, told in sorted(document.get("profiles", {}).items()):
        lines += [f"[profiles.{_quoted(name)}]", *(f"{key} = {_quoted(value)}" for key, value in told.items()), ""]
    place = path()
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = place.with_suffix(f".{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write("\n".join(lines))
    beside.replace(place)


def find(name: str | None = None) -> Profile | None:
    """A profile.

    Args:
        name: of it; None: LAKEWARD_PROFILE, else the file's default.

    Returns:
        None where no name is given anywhere.

    Raises:
        ConfigurationError: there is none of that name, or it can't be.
    """
    document = read()
    wanted = name or os.environ.get("LAKEWARD_PROFILE") or document.get("default")
    if wanted is None:
        return None
    found = document.get("profiles", {}).get(wanted)
    if found is None:
        known = ", ".join(sorted(document.get("profiles", {}))) or "none"
        raise ConfigurationError(f"there is no profile {wanted!r} in {path()}; it has: {known}")
    return parse(found, f"the profile {wanted!r}")


def parse(told: Mapping[str, Any], what: str = "the profile") -> Profile:
    """A profile from its entries.

    Raises:
        ConfigurationError: it has no URL, entries that nobody knows, or several kinds of token.
    """
    unknown = sorted(set(told) - _KNOWN)
    if unknown:
        raise ConfigurationError(f"{what} has {', '.join(unknown)}; known are {', '.join(sorted(_KNOWN))}")
    if not told.get("url"):
        raise ConfigurationError(f"{what} has no url")
    return Profile(str(told["url"]), told.get("project"), _auth(told, what))


def _auth(told: Mapping[str, Any], what: str) -> Auth | None:
    given = [name for name in _TOKENS if name in told]
    if len(given) > 1 or (given and "client-id" in told):
        raise ConfigurationError(
            f"{what} has several ways to a token: {', '.join([*given, 'client-id'])}; one is enough"
        )
    if "token" in told:
        return StaticToken(told["token"])
    if "token-file" in told:
        return TokenFile(told["token-file"])
    if "token-env" in told:
        return EnvironmentToken(told["token-env"])
    if not any(name in told for name in _CREDENTIALS):
        return None
    missing = [name for name in _CREDENTIALS if not told.get(name)]
    if missing:
        raise ConfigurationError(f"{what} lacks {', '.join(missing)} of an application's credentials")
    return ClientCredentials(
        told["token-url"],
        told["client-id"],
        told["client-secret"],
        scope=told.get("scope"),
        audience=told.get("audience"),
    )


def _quoted(text: str) -> str:
    # A basic string of TOML: JSON's escapes are among its own, except that it has none for DEL.
    escaped = "".join(
        f"\\u{ord(character):04x}" if ord(character) < 0x20 or ord(character) == 0x7F else character  # noqa: PLR2004 - controls
        for character in str(text).replace("\\", "\\\\").replace('"', '\\"')
    )
    return f'"{escaped}"'
