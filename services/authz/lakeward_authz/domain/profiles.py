"""What a token says of its user beside who it is: a name, an e-mail address, a person or a program."""

from __future__ import annotations

import dataclasses
import enum
import unicodedata
from typing import Final

from lakeward_authz.domain.claims import Claims, text_of
from lakeward_authz.domain.display_template import DisplayTemplate
from lakeward_servicekit.errors import Reason, Refusal

_MAX_CHARACTERS: Final = 255


class UserKind(enum.StrEnum):
    """Who stands behind a user id."""

    HUMAN = "human"
    APPLICATION = "application"


@dataclasses.dataclass(frozen=True, slots=True)
class Profile:
    """What is kept of a user.

    Attributes:
        name: None where the token gives none.
        email: None where the token gives none.
    """

    name: str | None
    email: str | None
    kind: UserKind


def profile_of(claims: Claims, template: DisplayTemplate | None) -> Profile:
    """What a token says; where it does not tell a person from a program, it is a program's."""
    return Profile(_name(claims, template), _email(claims), _kind(claims))


def checked_name(name: str) -> str:
    """A name that a caller gives a user.

    Raises:
        Refusal: USER_INCOMPLETE.
    """
    if not name.strip():
        raise incomplete("name", "empty", "it is empty; send one")
    return _checked("name", name)


def checked_email(email: str | None) -> str | None:
    """An address that a caller gives a user; an empty one is none.

    Raises:
        Refusal: USER_INCOMPLETE.
    """
    return _checked("email", email) if email else None


def _checked(field: str, text: str) -> str:
    if _storable(text) != text:
        cure = f"it has control characters, blanks around it or more than {_MAX_CHARACTERS} characters"
        raise incomplete(field, "malformed", cure)
    return text


def incomplete(field: str, problem: str, why: str) -> Refusal:
    """The refusal of a user that not enough is said of."""
    return Refusal(
        Reason.REASON_USER_INCOMPLETE, f"the user's {field} can't be used: {why}", field=field, problem=problem
    )


def _name(claims: Claims, template: DisplayTemplate | None) -> str | None:
    found = (
        _human_name(claims)
        or text_of(claims, "app_displayname")
        or text_of(claims, "preferred_username")
        or (None if template is None else template.fill(claims))
    )
    return _storable(found)


def _human_name(claims: Claims) -> str | None:
    if name := text_of(claims, "name"):
        return name
    given = text_of(claims, "given_name") or text_of(claims, "first_name")
    family = text_of(claims, "family_name") or text_of(claims, "last_name")
    return f"{given} {family}" if given and family else None


def _email(claims: Claims) -> str | None:
    if email := text_of(claims, "email"):
        return _storable(email)
    names = (text_of(claims, "upn"), text_of(claims, "preferred_username"))
    return _storable(next((name for name in names if name and "@" in name), None))


def _kind(claims: Claims) -> UserKind:
    match text_of(claims, "idtyp"):
        case "user":
            return UserKind.HUMAN
        case "app" | "device":
            return UserKind.APPLICATION
    return UserKind.HUMAN if _human_name(claims) else UserKind.APPLICATION


def _storable(text: str | None) -> str | None:
    if text is None:
        return None
    kept = "".join(character for character in text if unicodedata.category(character) not in {"Cc", "Cs"})
    return kept.strip()[:_MAX_CHARACTERS] or None
