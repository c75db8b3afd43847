"""How a client gets to its files: by short-lived credentials, by signatures, or by itself."""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Mapping


class Delegation(enum.Enum):
    """What a client can ask for."""

    VENDED_CREDENTIALS = "vended-credentials"
    REMOTE_SIGNING = "remote-signing"
    CLIENT_MANAGED = "client-managed"


@dataclasses.dataclass(frozen=True, slots=True)
class Offer:
    """What a storage has for clients.

    Attributes:
        vends: short-lived credentials can be minted.
        signs: requests are signed.
    """

    vends: bool
    signs: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Vended:
    """A short-lived credential, as a client is told of it.

    Attributes:
        config: what of it goes into a load's `config`.
        properties: its `storage-credentials` entry: all that a client needs to reach what it opens.
        expires_at: when it ends.
        refresh_property: takes the link to fetch a fresh one.
    """

    config: Mapping[str, str] = dataclasses.field(repr=False)
    properties: Mapping[str, str] = dataclasses.field(repr=False)
    expires_at: dt.datetime
    refresh_property: str


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """What a client gets; both may be true, and both false."""

    vend: bool
    sign: bool


def choose(asked: Collection[Delegation], offer: Offer) -> Choice:
    """What a client gets of what it asked for.

    A way that was asked for and isn't there gives place to the other one, because a client that can do neither by
    itself would have no access at all. Who manages its own credentials and asks for nothing else gets neither.

    Args:
        asked: what the client accepts; empty for the server's choice.
        offer: the storage's.
    """
    vended, signed = Delegation.VENDED_CREDENTIALS in asked, Delegation.REMOTE_SIGNING in asked
    if not vended and not signed:
        if Delegation.CLIENT_MANAGED in asked:
            return Choice(vend=False, sign=False)
        vended = True  # the server's own choice
    vend, sign = vended and offer.vends, signed and offer.signs
    if not vend and not sign:
        vend = offer.vends
        sign = offer.signs and not offer.vends
    return Choice(vend=vend, sign=sign)
