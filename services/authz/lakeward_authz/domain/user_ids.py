"""User ids: "<idp>~<subject>", split at the first "~"."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from lakeward_servicekit.authorization.principals import UserId
from lakeward_servicekit.errors import Reason, Refusal

MAX_BYTES: Final = 127
_CONTROL: Final = frozenset({"Cc", "Cs"})
_PROVIDER: Final = re.compile(r"[a-z0-9-]+\Z")


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


def parse_user_id(text: str) -> UserId:
    """A user id as somebody wrote it; whether anybody has it is not asked.

    Raises:
        Refusal: INVALID_USER_ID.
    """
    provider, tilde, subject = text.partition("~")
    if not tilde or not _PROVIDER.match(provider) or len(provider) > MAX_BYTES:
        shown = text[:MAX_BYTES].encode("unicode_escape").decode()
        raise Refusal(
            Reason.REASON_INVALID_USER_ID,
            f"'{shown}' is no user's id: it must be '<identity provider>~<subject>', as in 'oidc~4711'",
            subject=shown,
        )
    return user_id_of(provider, subject)


def no_such_user(user_id: str) -> Refusal:
    """The refusal of a user that was never recorded, or was deleted."""
    return Refusal(
        Reason.REASON_NO_SUCH_USER,
        f"there is no user {user_id!r}: it never called, or was deleted; POST /management/v1/user records one",
        user=user_id,
    )


def _invalid(subject: str, why: str) -> Refusal:
    shown = subject[:MAX_BYTES].encode("unicode_escape").decode()
    return Refusal(
        Reason.REASON_INVALID_USER_ID,
        f"the subject '{shown}' is no user's id: {why}; it must have 1 to {MAX_BYTES} bytes and no control characters",
        subject=shown,
    )
