"""What a token says, read with care: every claim may be absent or of a wrong type."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from lakeward_servicekit.errors import Reason, Refusal

Claims: TypeAlias = Mapping[str, object]

_MEANINGLESS: Final = math.nan
_LAST: Final = datetime(9999, 12, 31, tzinfo=UTC)


def refused(cause: str, why: str) -> Refusal:
    """The refusal of a token: `cause` for programs, `why` for people; neither has anything of the token's signature."""
    return Refusal(Reason.REASON_TOKEN_REFUSED, f"the bearer token is refused: {why}", cause=cause)


def text_of(claims: Claims, name: str) -> str | None:
    """A claim that is text and not empty."""
    value = claims.get(name)
    return value if isinstance(value, str) and value else None


def texts_of(value: object) -> tuple[str, ...]:
    """A claim's texts: of one text that one, of an array its texts, of anything else none."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return tuple(item for item in value if isinstance(item, str))
    return ()


def token_roles(provider: str, named: Iterable[str]) -> tuple[str, ...]:
    """What a provider's token calls roles, as roles are bound to: "<provider>~<name>", each once and in order.

    What no role can be bound to is left out: an empty name, or one with half a surrogate pair, which no database carries.
    """
    return tuple(sorted({f"{provider}~{name}" for name in named if name and _storable(name)}))


def _storable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def at_path(claims: Claims, path: str) -> object:
    """The claim at a dotted path, as "resource_access.lakeward.roles"; None where there is none.

    A claim whose own name has the dots, as a namespaced "https://example.org/roles", wins.
    """
    if path in claims:
        return claims[path]
    found: object = claims
    for part in path.split("."):
        if not isinstance(found, Mapping):
            return None
        found = found.get(part)
    return found


def subject_of(claims: Claims, names: Iterable[str]) -> str:
    """The subject: the first of the named claims that is text.

    Raises:
        Refusal: TOKEN_REFUSED, where none is.
    """
    names = tuple(names)
    for name in names:
        value = claims.get(name)
        if isinstance(value, str):
            return value
    raise refused("subject", f"it has none of the claims {', '.join(names)} as text, so it says of nobody whose it is")


def check_scope(claims: Claims, scope: str | None) -> None:
    """Raise TOKEN_REFUSED unless the scope, where one is required, is a whole word of the claim `scope`."""
    if scope is not None and scope not in (text_of(claims, "scope") or "").split(" "):
        raise refused("scope", f"it lacks the scope {scope!r}; ask the identity provider for it")


def check_times(claims: Claims, *, now: datetime, leeway: timedelta) -> datetime:
    """When the token ends.

    Args:
        claims: of the token.
        now: the time.
        leeway: how far two clocks may differ; the same for a token's beginning and its end.

    Raises:
        Refusal: TOKEN_REFUSED, where it has ended, has not begun, or says no end.
    """
    ends = _number(claims, "exp")
    if ends is None:
        raise refused("exp", "it has no claim exp, so it would never end")
    at = now.timestamp()
    if at >= ends + leeway.total_seconds():
        raise refused("expired", "it is expired; get a new one")
    begins = _number(claims, "nbf")
    if begins is not None and at < begins - leeway.total_seconds():
        raise refused("not yet valid", "it is not valid yet; compare the clocks of server and identity provider")
    return datetime.fromtimestamp(ends, UTC) if ends < _LAST.timestamp() else _LAST


def _number(claims: Claims, name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    seconds = _MEANINGLESS
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(OverflowError):  # JSON's integers have no end
            seconds = float(value)
    if not math.isfinite(seconds):
        raise refused(name, f"its claim {name} is no number of seconds")
    return seconds
