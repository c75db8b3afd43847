"""Keys that sign requests to S3."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence

    from lakeward_vending.domain.secret import Secret


@dataclasses.dataclass(frozen=True, slots=True)
class SigningKey:
    """Who signs requests.

    Attributes:
        session_token: of a short-lived key; None for a long-lived one.
    """

    access_key_id: str
    secret_access_key: Secret
    session_token: Secret | None


@dataclasses.dataclass(frozen=True, slots=True)
class Session:
    """A short-lived key, as STS granted it.

    Attributes:
        expires_at: the moment that the store granted, not the one that was asked for.
    """

    access_key_id: str
    secret_access_key: Secret
    session_token: Secret
    expires_at: dt.datetime

    @property
    def key(self) -> SigningKey:
        """What signs as this session."""
        return SigningKey(self.access_key_id, self.secret_access_key, self.session_token)


@dataclasses.dataclass(frozen=True, slots=True)
class SigningTerms:
    """On which terms the server's own key signs for clients, as its store was seen to behave.

    Attributes:
        covers: headers that each signature covers as empty ones, so that nobody can add them.
        holds_bodies: whether the store holds a body against the hash that was signed. Where it does not, a signature for a list
            of deletes would be one for any list.
    """

    covers: Sequence[str]
    holds_bodies: bool
