"""Reads the few XML replies of S3 and STS: elements' texts by path, namespaces ignored, DTDs refused.

Whoever may create a warehouse names the store, so a reply is a stranger's. All of them are read here, and everything in one is
bounded: what is refused is so while it is read, and what is kept grows with the reply and not faster.
"""

from __future__ import annotations

from typing import Final
from xml.parsers import expat

# A full page of a listing: a thousand keys of 1 KiB, each byte percent-encoded, with some dozen elements beside each key.
MAX_BYTES: Final = 8 * 1024 * 1024
MAX_ELEMENTS: Final = 32_768
MAX_DEPTH: Final = 16
MAX_NAME: Final = 128
MAX_ATTRIBUTES: Final = 16
# The root begins within this; what precedes it is the place for document types, whose entities multiply what is read.
MAX_PROLOG: Final = 4096
# An error's document, which may be longer than the object that was asked for.
MAX_ERROR_BYTES: Final = 64 * 1024
_MAX_CODE: Final = 100


class BadXml(ValueError):  # noqa: N818 - it says what the reply is
    """A reply that is no XML, has a document type, or is more than any reply of a store; the message says which."""


def texts(body: bytes) -> list[tuple[str, str]]:
    """The texts of all elements in the order of their ends, as pairs of path and text: ("ListBucketResult/Contents/Key", "a").

    Args:
        body: UTF-8, whatever the document says of itself.

    Raises:
        BadXml: see the class.
    """
    if len(body) > MAX_BYTES:
        raise BadXml(f"the reply is over {MAX_BYTES} bytes")
    reading = _Reading()
    # Without namespaces: the parser would write a namespace's URI, which may be long, before each name.
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.characters
    parser.StartDoctypeDeclHandler = reading.doctype
    try:
        # A refusal of ours ends the parser's work at the end of what it was given. Two parts, and not many: a token that
        # spans parts is read again with each.
        parser.Parse(body[:MAX_PROLOG], False)  # noqa: FBT003 - expat takes it by position
        if not reading.elements:
            raise BadXml(f"no element begins in the reply's first {MAX_PROLOG} bytes")
        parser.Parse(body[MAX_PROLOG:], True)  # noqa: FBT003 - as above
    except expat.ExpatError as error:
        raise BadXml("the reply is not XML") from error
    return reading.found


class _Reading:
    """What was read so far, within the bounds."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []
        self.elements = 0
        self._open: list[tuple[str, list[str]]] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.elements += 1
        if self.elements > MAX_ELEMENTS:
            raise BadXml(f"the reply has over {MAX_ELEMENTS} elements")
        if len(self._open) == MAX_DEPTH:
            raise BadXml(f"the reply is nested over {MAX_DEPTH} deep")
        if len(name) > MAX_NAME or len(attributes) > MAX_ATTRIBUTES:
            raise BadXml(f"an element has a name over {MAX_NAME} characters, or over {MAX_ATTRIBUTES} attributes")
        bare = name.rpartition(":")[2]
        self._open.append((f"{self._open[-1][0]}/{bare}" if self._open else bare, []))

    def end(self, _name: str) -> None:
        path, parts = self._open.pop()
        self.found.append((path, "".join(parts)))

    def characters(self, data: str) -> None:
        if self._open:
            self._open[-1][1].append(data)

    def doctype(self, *_: object) -> None:
        raise BadXml("the reply has a document type")


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
    """The error code of a reply, or "" where the reply is no error of a store's."""
    if len(body) > MAX_ERROR_BYTES:
        return ""
    try:
        code = text(body, "Code").get("Code", "")
    except BadXml:
        return ""
    return code if len(code) <= _MAX_CODE else ""
