"""Names: what may be one, and when two are the same.

Names keep their case and compare without it: `name_key` is the comparison. Code points that Unicode has not assigned are
refused, because a later Unicode version may fold them together with names that exist.
"""

from __future__ import annotations

import dataclasses
import unicodedata
from typing import Final, Self

import msgspec

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.remembering import remembered

MAX_DEPTH: Final = 5
MAX_NAME_BYTES: Final = 255
# Characters of a name that is looked for that are looked at: more than anything can be called by.
MAX_SOUGHT: Final = 1024
SEPARATOR: Final = "\x1f"
ALWAYS_RESERVED: Final = frozenset({"system", "examples", "information_schema"})


class ImpossiblePath(Refusal):
    """A path that no namespace can have, for one of several reasons."""


@remembered(entries=65536, longest=MAX_NAME_BYTES)
def name_key(name: str) -> str:
    """What a name compares as: NFC, then case folded.

    Of a text beyond MAX_SOUGHT characters the beginning alone is looked at: nothing can be called by that either.
    """
    return unicodedata.normalize("NFC", name[:MAX_SOUGHT]).casefold()


def _fault(name: str) -> str | None:
    """Why this can't be one part of a path, or None."""
    if len(name) > MAX_NAME_BYTES or len(name.encode("utf-8", "replace")) > MAX_NAME_BYTES:
        return f"it is longer than {MAX_NAME_BYTES} bytes"
    return _fault_in(name)


@remembered(entries=16384, longest=MAX_NAME_BYTES)
def _fault_in(name: str) -> str | None:
    if "+" in name:
        return "it holds '+', which some clients read as a space"
    for character in name:
        category = unicodedata.category(character)
        if category in ("Cc", "Cn", "Cs"):
            return f"it holds U+{ord(character):04X}, a control or unassigned character"
    return None


@dataclasses.dataclass(frozen=True, slots=True)
class NamespaceIdent:
    """A namespace's path, outermost part first; checked when it is made by `of`."""

    parts: tuple[str, ...]
    _key: str | None = dataclasses.field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, parts: tuple[str, ...]) -> Self:
        """A path from a caller.

        Raises:
            ImpossiblePath: NAMESPACE_TOO_DEEP, NAMESPACE_PART_EMPTY, NAMESPACE_PART_CONTAINS_DOT, INVALID_NAMESPACE.
        """
        shown = ".".join([part[:500] for part in parts[: MAX_DEPTH + 1]])[:500]
        if not parts or "" in parts:
            raise ImpossiblePath(
                Reason.REASON_NAMESPACE_PART_EMPTY,
                f"namespace {shown!r} has an empty part; give each part at least one character",
                namespace=shown,
            )
        if len(parts) > MAX_DEPTH:
            raise ImpossiblePath(
                Reason.REASON_NAMESPACE_TOO_DEEP,
                f"Namespace exceeds maximum depth of {MAX_DEPTH}: {shown!r} has {len(parts)} parts",
                namespace=shown,
                limit=str(MAX_DEPTH),
            )
        for part in parts:
            if "." in part:
                raise ImpossiblePath(
                    Reason.REASON_NAMESPACE_PART_CONTAINS_DOT,
                    f"namespace part {part[:300]!r} contains a dot; nest namespaces instead",
                    part=part[:300],
                )
            if (fault := _fault(part)) is not None:
                raise ImpossiblePath(
                    Reason.REASON_INVALID_NAMESPACE,
                    f"namespace part {part[:300]!r} can't be used: {fault}",
                    part=part[:300],
                )
        return cls(parts)

    @property
    def key(self) -> str:
        """What the path compares as: the parts' keys, joined by 0x1F, which no part can hold."""
        key = self._key
        if key is None:  # idents are kept with what was read by them, and asked for their key in each look
            key = SEPARATOR.join([name_key(part) for part in self.parts])
            object.__setattr__(self, "_key", key)
        return key

    @property
    def name(self) -> str:
        """The last part."""
        return self.parts[-1]

    @property
    def parent(self) -> NamespaceIdent | None:
        """The path one level up; None at the top."""
        return NamespaceIdent(self.parts[:-1]) if len(self.parts) > 1 else None

    def __str__(self) -> str:
        return ".".join(self.parts)


class TabularIdent(msgspec.Struct, frozen=True):
    """A tabular's path."""

    namespace: NamespaceIdent
    name: str

    @property
    def name_key(self) -> str:
        """What the name compares as."""
        return name_key(self.name)

    @property
    def key(self) -> tuple[str, str]:
        """What the path compares as: (the namespace's, the name's)."""
        return self.namespace.key, name_key(self.name)

    def __str__(self) -> str:
        return f"{self.namespace}.{self.name}"


def check_new_name(name: str) -> None:
    """Whether a tabular may be called this.

    Raises:
        Refusal: INVALID_TABULAR_NAME.
    """
    fault = "it is empty" if not name else _fault(name)
    if fault is not None:
        raise Refusal(
            Reason.REASON_INVALID_TABULAR_NAME,
            f"{name[:300]!r} can't be a name: {fault}",
            name=name[:300],
        )


def check_not_reserved(ident: NamespaceIdent, reserved: frozenset[str]) -> None:
    """Whether a top-level namespace of this name may be made or dropped; nested ones always may.

    Args:
        ident: the namespace.
        reserved: name keys, beside those that always are.

    Raises:
        Refusal: RESERVED_NAMESPACE.
    """
    if len(ident.parts) == 1 and name_key(ident.name) in ALWAYS_RESERVED | reserved:
        raise Refusal(
            Reason.REASON_RESERVED_NAMESPACE,
            f"namespace {ident.name!r} is reserved; choose another name",
            namespace=ident.name,
        )
