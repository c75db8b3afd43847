"""How a client gets to its files: by short-lived credentials, by signatures, or by itself."""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection


class Delegation(enum.Enum):
    """What a client can ask for."""

    VENDED_CREDENTIALS = "vended-credentials"
    REMOTE_SIGNING = "remote-signing"
    CLIENT_MANAGED = "client-managed"


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """What a client gets; both may be true, and both false."""

    vend: bool
    sign: bool


def choose(asked: Collection[Delegation], *, can_vend: bool, can_sign: bool) -> Choice:
    """What a client gets of what it asked for.

    A way that was asked for and isn't there gives place to the other one, because a client that can do neither by
    itself would have no access at all. Who manages its own credentials and asks for nothing else gets neither.

    Args:
        asked: what the client accepts; empty for the server's choice.
        can_vend: whether short-lived credentials can be minted.
        can_sign: whether the warehouse signs.
    """
    vended, signed = Delegation.VENDED_CREDENTIALS in asked, Delegation.REMOTE_SIGNING in asked
    if not vended and not signed:
        if Delegation.CLIENT_MANAGED in asked:
            return Choice(vend=False, sign=False)
        vended = True  # the server's own choice
    vend, sign = vended and can_vend, signed and can_sign
    if not vend and not sign:
        vend = can_vend
        sign = can_sign and not can_vend
    return Choice(vend=vend, sign=sign)
