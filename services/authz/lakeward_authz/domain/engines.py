"""Which trusted engines a token belongs to."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable


@dataclasses.dataclass(frozen=True, slots=True)
class EngineTokens:
    """The tokens of one identity provider that are one engine's.

    Attributes:
        engine: its name.
        provider: the identity provider's id.
        audiences: a token for any of these is the engine's.
        subjects: a token of any of these is the engine's.
    """

    engine: str
    provider: str
    audiences: frozenset[str]
    subjects: frozenset[str]


def engines_of(
    trusted: Iterable[EngineTokens], *, provider: str, subject: str, audiences: Collection[str]
) -> tuple[str, ...]:
    """Names of the engines that a token was matched to, in order and once each."""
    found = {
        tokens.engine
        for tokens in trusted
        if tokens.provider == provider and (subject in tokens.subjects or not tokens.audiences.isdisjoint(audiences))
    }
    return tuple(sorted(found))
