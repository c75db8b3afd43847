"""How authz names the objects that rights are about, and whom they are given to."""

from __future__ import annotations

from typing import Final, NewType
from uuid import UUID

import msgspec

Subject = NewType("Subject", str)
"""`user:<user id>` or `role:<role id>`; of a role it means who holds it. "anonymous" is nobody's."""

NIL: Final = UUID(int=0)
ANYBODY: Final = Subject("anonymous")


class ObjectKey(msgspec.Struct, frozen=True, order=True, gc=False):
    """An object. Thousands are made and looked for in one question, and a dataclass takes ten times as long for either.

    Attributes:
        type: as the model names it.
        project_id: "" for the server alone.
        warehouse_id: NIL for what is in none.
        id: a role's, a tag's or a namespace's UUID, or a tabular's incarnation; NIL for the others.
    """

    type: str
    project_id: str = ""
    warehouse_id: UUID = NIL
    id: UUID = NIL


SERVER: Final = ObjectKey("server")


def user_subject(user_id: str) -> Subject:
    """A user, by "<idp>~<subject>"."""
    return Subject(f"user:{user_id}")


def role_subject(role_id: UUID) -> Subject:
    """Who holds a role."""
    return Subject(f"role:{role_id}")


def role_id_of(subject: Subject) -> UUID | None:
    """The role of a subject; None for a user, or nobody."""
    kind, _, role_id = subject.partition(":")
    return UUID(role_id) if kind == "role" else None
