"""Where namespaces and tabulars lie below a warehouse's base location."""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Mapping, Sequence
from typing import Final, Self
from urllib.parse import quote
from uuid import UUID

from lakeward_locations.location import Location, LocationError

NAME: Final = "{name}"
UUID_MARK: Final = "{uuid}"
MAX_TEMPLATE_CHARACTERS: Final = 255

_SAMPLE_BASE: Final = Location.parse("s3://sample/base")
_SAMPLE_UUID: Final = UUID(int=1)
# Percent-escapes of these would be refused by the parser, since a client that decodes once too often would see
# structure. "=" never stands unescaped in a rendered name, so the escape is reversible and two names never meet.
_STRUCTURE: Final = str.maketrans({"/": "=2F", "\\": "=5C", "%": "=25"})
_MARK: Final = re.compile(r"\{name\}|\{uuid\}")


class LayoutKind(enum.StrEnum):
    """The layouts of the public API, by its words."""

    DEFAULT = "default"
    TABULAR_ONLY = "tabular-only"
    FULL_HIERARCHY = "full-hierarchy"


class LayoutError(ValueError):
    """A layout document that can't be used.

    Attributes:
        value: the offending value.
        right: what would be right.
    """

    def __init__(self, value: object, right: str) -> None:
        """Say that the layout has `value` where `right` would stand."""
        self.value: Final = str(value)[:200]
        self.right: Final = right
        super().__init__(f"the storage layout has {self.value!r}; it must have {right}")


@dataclasses.dataclass(frozen=True, slots=True)
class Named:
    """What a template is filled from."""

    name: str
    uuid: UUID


@dataclasses.dataclass(frozen=True, slots=True)
class Layout:
    """A storage layout. Made by `parse`, which has tried it.

    Attributes:
        kind: which of the three.
        namespace: template of a namespace's segment; None where namespaces have no directory.
        tabular: template of a tabular's segment.
    """

    kind: LayoutKind = LayoutKind.DEFAULT
    namespace: str | None = None
    tabular: str = UUID_MARK

    @classmethod
    def parse(cls, document: object) -> Self:
        """Read the `storage-layout` member of a storage profile; None means the default layout.

        Raises:
            LayoutError: an unknown type or member, or a template that lacks its placeholder or renders to no location.
        """
        if document is None:
            return cls()
        if not isinstance(document, Mapping):
            raise LayoutError(document, "an object with a type")
        kind = document.get("type")
        if not isinstance(kind, str) or kind not in _KINDS:
            raise LayoutError(kind, f"a type that is one of {', '.join(LayoutKind)}")
        layout = cls(LayoutKind(kind), **{key: _template(document, key) for key in _TEMPLATES[LayoutKind(kind)]})
        for key in document.keys() - {"type"} - _TEMPLATES[layout.kind]:
            raise LayoutError(key, f"no member beside {', '.join(('type', *_TEMPLATES[layout.kind]))}")
        layout.try_below(_SAMPLE_BASE)
        return layout

    def document(self) -> dict[str, str]:
        """The layout in the public API's form."""
        templates = {"namespace": self.namespace, "tabular": self.tabular}
        return {"type": self.kind.value} | {
            key: text for key, text in templates.items() if key in _TEMPLATES[self.kind] and text is not None
        }

    def namespace_location(self, base: Location, path: Sequence[Named]) -> Location:
        """Where a new namespace lies.

        Args:
            base: the warehouse's base location.
            path: the namespace and what it is nested in, outermost first.

        Raises:
            LocationError: the names make the location too long.
        """
        if self.namespace is None:
            return base
        return base.join(*(render(self.namespace, part) for part in path))

    def tabular_location(self, namespace: Location, tabular: Named) -> Location:
        """Where a new tabular lies in a namespace that has a location.

        Raises:
            LocationError: the name makes the location too long.
        """
        return namespace.join(render(self.tabular, tabular))

    def try_below(self, base: Location) -> None:
        """Render for the names that would be worst.

        Raises:
            LayoutError: a template's literal parts make no segment, or the base leaves no room for them.
        """
        for name in ("sample", ".", "..", "a/b", "%2e%2e"):
            sample = Named(name, _SAMPLE_UUID)
            try:
                self.tabular_location(self.namespace_location(base, (sample, sample)), sample)
            except LocationError as error:
                raise LayoutError(
                    self.tabular if self.namespace is None else f"{self.namespace}/{self.tabular}",
                    f"templates that render to one segment each ({error.fault})",
                ) from None


_KINDS: Final = frozenset(kind.value for kind in LayoutKind)
_TEMPLATES: Final[Mapping[LayoutKind, frozenset[str]]] = {
    LayoutKind.DEFAULT: frozenset(),
    LayoutKind.TABULAR_ONLY: frozenset({"tabular"}),
    LayoutKind.FULL_HIERARCHY: frozenset({"namespace", "tabular"}),
}


def render(template: str, named: Named) -> str:
    """One segment from a template; the name's characters beyond the unreserved ones are escaped."""
    return _MARK.sub(lambda mark: escape_name(named.name) if mark[0] == NAME else str(named.uuid), template)


def escape_name(name: str) -> str:
    """A name as part of a segment: percent-encoded, and reversible.

    Slash, backslash and percent sign are written with "=" in place of "%", and so is each dot of a name that is made of
    dots: a decoding client would otherwise see another path.
    """
    if name.strip(".") == "":
        return "=2E" * len(name)
    return "".join(_escape_character(character) for character in name)


def _escape_character(character: str) -> str:
    if character in "/\\%":
        return character.translate(_STRUCTURE)
    return quote(character, safe="")


def _template(document: Mapping[str, object], key: str) -> str:
    template = document.get(key)
    if not isinstance(template, str) or not 0 < len(template) <= MAX_TEMPLATE_CHARACTERS:
        raise LayoutError(template, f"a text of 1 to {MAX_TEMPLATE_CHARACTERS} characters as {key}")
    literal = _MARK.sub("", template)
    if "{" in literal or "}" in literal:
        raise LayoutError(template, f"no placeholders but {NAME} and {UUID_MARK}")
    if document.get("type") == LayoutKind.TABULAR_ONLY and UUID_MARK not in template:
        raise LayoutError(template, f"{UUID_MARK} in its tabular template, or tabulars of one name would collide")
    if UUID_MARK not in template and NAME not in template:
        raise LayoutError(template, f"{UUID_MARK} or {NAME} in its {key} template")
    return template
