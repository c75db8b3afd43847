"""Reads the few XML replies of S3 and STS: elements' texts by path, namespaces ignored, DTDs refused."""

from __future__ import annotations

from typing import Final
from xml.parsers import expat

_SEPARATOR: Final = " "


class BadXml(ValueError):  # noqa: N818 - it says what the reply is
    """A reply that is no XML, or has a document type."""


def texts(body: bytes) -> list[tuple[str, str]]:
    """The texts of all elements in the order of their ends, as pairs of path and text: ("ListBucketResult/Contents/Key", "a").

    Raises:
        BadXml: see the class.
    """
    path: list[str] = []
    parts: list[list[str]] = []
    found: list[tuple[str, str]] = []

    def start(name: str, _attributes: dict[str, str]) -> None:
        path.append(name.rpartition(_SEPARATOR)[2])
        parts.append([])

    def end(_name: str) -> None:
        found.append(("/".join(path), "".join(parts.pop())))
        path.pop()

    def characters(data: str) -> None:
        if parts:
            parts[-1].append(data)

    def doctype(*_: object) -> None:
        raise BadXml("the reply has a document type")

    parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(body, True)  # noqa: FBT003 - expat takes it by position
    except expat.ExpatError as error:
        raise BadXml("the reply is not XML") from error
    return found


def text(body: bytes, *names: str) -> dict[str, str]:
    """The first text of each named element, wherever it stands; an element that is not there is left out.

    Raises:
        BadXml: see the class.
    """
    found: dict[str, str] = {}
    for path, value in texts(body):
        name = path.rpartition("/")[2]
        if name in names:
            found.setdefault(name, value)
    return found


def error_code(body: bytes) -> str:
    """The error code of a reply, or ""."""
    try:
        return text(body, "Code").get("Code", "")
    except BadXml:
        return ""
