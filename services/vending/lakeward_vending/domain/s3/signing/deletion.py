"""The body of a multi-object delete: the keys that it would delete, all of them."""

from __future__ import annotations

from typing import Final
from xml.parsers import expat

from lakeward_vending.domain.s3.signing.refusals import invalid

MAX_BYTES: Final = 4 * 1024 * 1024
MAX_KEYS: Final = 1000

_NAMESPACE: Final = "http://s3.amazonaws.com/doc/2006-03-01/"
_CHILDREN: Final = {
    "": frozenset({"Delete"}),
    "Delete": frozenset({"Object", "Quiet"}),
    "Object": frozenset({"Key", "VersionId", "ETag", "LastModifiedTime", "Size"}),
}
# A key has at most 1024 bytes, and the other texts are shorter.
_MAX_TEXT: Final = 4096
_HOLDS_TEXT: Final = frozenset({"Quiet", "Key", "VersionId", "ETag", "LastModifiedTime", "Size"})


def keys(body: bytes | None) -> tuple[str, ...]:
    """The keys of a DeleteObjects request.

    Any body that two XML parsers could read differently is refused: what the store deletes is what was checked.

    Raises:
        Refusal: SIGNING_INVALID: DeleteWithoutBody, InvalidDeleteBody.
    """
    if not body:
        raise invalid("DeleteWithoutBody", "a multi-object delete is signed with its body; none was sent")
    if len(body) > MAX_BYTES:
        raise _bad(f"it is over {MAX_BYTES} bytes")
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise _bad("it is not UTF-8") from error
    if "<!" in text or "<?" in text[1:] or "\x00" in text:
        raise _bad("it holds a declaration, a comment or a processing instruction")
    return _Reader().read(text)


def _bad(fault: str) -> Exception:
    return invalid("InvalidDeleteBody", f"the body of the multi-object delete is refused: {fault}")


class _Reader:
    """Walks the body; it knows the whole grammar, and each deviation is an error."""

    def __init__(self) -> None:
        self._path: list[str] = [""]
        self._seen: list[set[str]] = [set()]
        self._text = ""
        self._keys: list[str] = []

    def read(self, text: str) -> tuple[str, ...]:
        # Without namespaces: the parser would write a prefix's URI, which may be long, before each attribute's name.
        parser = expat.ParserCreate(encoding="utf-8")
        parser.buffer_text = True
        parser.XmlDeclHandler = self._declaration
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        try:
            parser.Parse(text.encode(), True)  # noqa: FBT003 - expat takes it by position
        except expat.ExpatError as error:
            raise _bad("it is not well-formed") from error
        if not 1 <= len(self._keys) <= MAX_KEYS:
            raise _bad(f"it names {len(self._keys)} keys; 1 to {MAX_KEYS} can be deleted at once")
        return tuple(self._keys)

    def _declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() != "utf-8":
            raise _bad(f"its encoding is {encoding[:20]}; UTF-8 is right")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        parent = self._path[-1]
        once = name != "Object"
        if (
            attributes not in ({}, {"xmlns": _NAMESPACE})
            or name not in _CHILDREN.get(parent, frozenset())
            or (once and name in self._seen[-1])
        ):
            raise _bad(f"the element {name[:50]} can't stand there")
        self._seen[-1].add(name)
        self._path.append(name)
        self._seen.append(set())
        self._text = ""

    def _end(self, _name: str) -> None:
        name, children = self._path.pop(), self._seen.pop()
        if name == "Object" and "Key" not in children:
            raise _bad("an object has no key")
        if name == "Key":
            if not self._text:
                raise _bad("a key is empty")
            self._keys.append(self._text)
        self._text = ""

    def _characters(self, data: str) -> None:
        if self._path[-1] in _HOLDS_TEXT:
            if len(self._text) + len(data) > _MAX_TEXT:
                raise _bad(f"a text in it is over {_MAX_TEXT} characters")
            self._text += data
        elif data.strip():
            raise _bad("there is text between its elements")
