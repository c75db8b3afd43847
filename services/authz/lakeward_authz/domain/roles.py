"""Roles: what one may be called, and by whom else it is known."""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from typing import TYPE_CHECKING, Final

from lakeward_authz.domain.search import folded
from lakeward_servicekit.errors import Reason, Refusal, invalid_field

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

NATIVE: Final = "lakekeeper"
"""The provider of roles that nobody else knows; clients look for this word."""
_RESERVED: Final = frozenset({"system"})
_PROVIDER: Final = re.compile(r"[a-z0-9-]{1,127}\Z")
_MAX_NAME_BYTES: Final = 512
_MAX_SOURCE_BYTES: Final = 1024
_MAX_DESCRIPTION: Final = 10_000
_CONTROL: Final = frozenset({"Cc", "Cs"})


@dataclasses.dataclass(frozen=True, slots=True)
class RoleIdent:
    """What a provider calls a role; made by `of`, which says what one may be."""

    provider_id: str
    source_id: str

    def __str__(self) -> str:
        """As people write it; the first "~" ends the provider."""
        return f"{self.provider_id}~{self.source_id}"

    @staticmethod
    def of(provider_id: str, source_id: str) -> RoleIdent:
        """What a caller says a provider calls a role.

        Raises:
            Refusal: INVALID_ROLE_IDENT, RESERVED_ROLE_PROVIDER.
        """
        fault = None
        if _PROVIDER.match(provider_id) is None:
            fault = "a provider is 1 to 127 lower-case letters, digits and '-'"
        elif not source_id:
            fault = "its source id is empty"
        elif len(source_id.encode(errors="surrogatepass")) > _MAX_SOURCE_BYTES:
            fault = f"its source id is longer than {_MAX_SOURCE_BYTES} bytes"
        elif _has_control(source_id):
            fault = "its source id has control characters"
        if fault is not None:
            raise invalid_ident(f"{provider_id}~{source_id}", fault)
        if provider_id in _RESERVED:
            raise Refusal(
                Reason.REASON_RESERVED_ROLE_PROVIDER,
                f"roles of the provider {provider_id!r} are the server's own; name another provider",
                provider=provider_id,
            )
        return RoleIdent(provider_id, source_id)


@dataclasses.dataclass(frozen=True, slots=True)
class Role:
    """A role.

    Attributes:
        name: as it was written; compares without case in its project.
        description: None for none.
        updated_at: None: never since it was made.
    """

    role_id: UUID
    project_id: str
    name: str
    description: str | None
    ident: RoleIdent
    created_at: datetime
    updated_at: datetime | None = None


def check_role(name: str, description: str | None) -> None:
    """Whether a role may be called and described so.

    Raises:
        Refusal: INVALID_ROLE_NAME; INVALID_FIELD for a description.
    """
    fault = None
    if not name.strip():
        fault = "it is empty"
    elif len(name.encode(errors="surrogatepass")) > _MAX_NAME_BYTES:
        fault = f"it is longer than {_MAX_NAME_BYTES} bytes"
    elif _has_control(name):
        fault = "it has control characters"
    if fault is not None:
        shown = _shown(name)
        raise Refusal(Reason.REASON_INVALID_ROLE_NAME, f"{shown!r} can't name a role: {fault}", name=shown)
    if description is not None and (len(description) > _MAX_DESCRIPTION or _has_surrogate(description)):
        expected = f"text of at most {_MAX_DESCRIPTION} characters"
        raise invalid_field("description", f"{len(description)} characters", expected)


def invalid_ident(ident: str, why: str) -> Refusal:
    """The refusal of what can't be a provider's name of a role."""
    shown = _shown(ident)
    return Refusal(
        Reason.REASON_INVALID_ROLE_IDENT,
        f"{shown!r} can't be a role's ident: {why}; send provider-id and source-id both, or neither",
        ident=shown,
    )


def no_such_role(named: object) -> Refusal:
    """The refusal of a role that is absent, of another project, or hidden."""
    shown = str(named)
    return Refusal(
        Reason.REASON_NO_SUCH_ROLE,
        f"there is no role {shown} here; look at the project that the request names, and at the role's id",
        role=shown,
    )


def name_key(name: str) -> str:
    """What a name compares as."""
    return folded(name)


def _has_control(text: str) -> bool:
    return any(unicodedata.category(character) in _CONTROL for character in text)


def _has_surrogate(text: str) -> bool:
    return "\0" in text or any(unicodedata.category(character) == "Cs" for character in text)


def _shown(text: str) -> str:
    return text[:128].encode(errors="backslashreplace").decode()
