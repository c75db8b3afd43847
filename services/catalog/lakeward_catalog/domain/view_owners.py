"""As whom views are read: what trusted engines write of it into properties of views.

A view that has an engine's property is read for whoever may read the view, and what it reads is read as its owner, whom the
property names. Else what it reads is read as whoever reads the view.
"""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from lakeward_catalog.domain.wording import property_protected, view_owner_unclear
from lakeward_servicekit.authorization.principals import UserId

_LONGEST: Final = 127  # bytes of a user's subject
_CONTROL: Final = frozenset({"Cc", "Cs"})


class _Document(msgspec.Struct):
    properties: dict[str, str] | None = None


_document: Final = msgspec.json.Decoder(_Document)


@dataclasses.dataclass(frozen=True, slots=True)
class OwnerProperties:
    """Which property of views is whose.

    Attributes:
        by_engine: by the engine's name, the property that names the owner.
    """

    by_engine: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def of(self, engines: Iterable[str]) -> frozenset[str]:
        """The properties that these engines own; one that is not known here owns none."""
        known = self.by_engine
        return frozenset(known[engine] for engine in engines if engine in known)

    def check_change(self, keys: Iterable[str], engines: Iterable[str]) -> None:
        """Whether who comes with a token of these engines may set or remove properties.

        Guarded is every spelling that equals an owner property without regard to case, since engines differ in whether they
        look at case.

        Raises:
            Refusal: PROPERTY_PROTECTED.
        """
        guarded = {name.casefold(): name for name in self.by_engine.values()}
        if not guarded:
            return
        for key in keys:
            name = guarded.get(key.casefold())
            if name is not None and key not in self.of(engines):
                raise property_protected(key, name)


def owner_of(view: object, document: bytes, properties: Iterable[str], *, provider: str) -> UserId | None:
    """Who owns a view that is read, by the properties of the engines that read it; None: it is read as its reader.

    Args:
        view: how it is called.
        document: its metadata.
        properties: those of the engines.
        provider: whose users owners are: the identity provider of the token.

    Raises:
        Refusal: VIEW_OWNER_UNCLEAR.
    """
    set_here = _document.decode(document).properties or {}
    named = {set_here[name] for name in properties if name in set_here}
    if not named:
        return None
    if len(named) > 1:
        raise view_owner_unclear(view, "its properties name different owners")
    (subject,) = named
    if not _can_be_a_user(subject):
        raise view_owner_unclear(view, f"its owner is no user's id of 1 to {_LONGEST} bytes without control characters")
    return UserId(f"{provider}~{subject}")


def _can_be_a_user(subject: str) -> bool:
    if not subject or any(unicodedata.category(character) in _CONTROL for character in subject):
        return False
    return len(subject.encode()) <= _LONGEST
