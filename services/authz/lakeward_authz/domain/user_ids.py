"""User ids: "<idp>~<subject>", split at the first "~"."""

from __future__ import annotations

import unicodedata
from typing import Final

from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.errors import Reason, Refusal

MAX_BYTES: Final = 127
_CONTROL: Final = frozenset({"Cc", "Cs"})


def user_id_of(provider: str, subject: str) -> UserId:
    """The id of a provider's user.

    Raises:
        Refusal: INVALID_USER_ID, for a subject that is empty, over 127 bytes, or holds control characters or half a
            surrogate pair, which no database or URL carries.
    """
    if not subject:
        raise _invalid(subject, "it is empty")
    if any(unicodedata.category(character) in _CONTROL for character in subject):
        raise _invalid(subject, "it has control characters")
    if len(subject.encode()) > MAX_BYTES:
        raise _invalid(subject, f"it is longer than {MAX_BYTES} bytes")
    return UserId(f"{provider}~{subject}")


def _invalid(subject: str, why: str) -> Refusal:
    shown = subject[:MAX_BYTES].encode("unicode_escape").decode()
    return Refusal(
        Reason.REASON_INVALID_USER_ID,
        f"the token's subject '{shown}' is no user's id: {why}; it must have 1 to {MAX_BYTES} bytes and no control characters",
        subject=shown,
    )
