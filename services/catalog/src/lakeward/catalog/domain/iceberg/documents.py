"""JSON documents: exact integers, bounded depth, and errors that name the path of what is wrong."""

from __future__ import annotations

import functools
import re
from collections.abc import Hashable
from typing import Annotated, Any, Final, TypeVar, cast

import msgspec

from lakeward.servicekit.errors import Reason, Refusal

T = TypeVar("T")

Int = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Long = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
INT: Final[type[int]] = Int  # pyright: ignore[reportAssignmentType]  # the same, where a class is expected
LONG: Final[type[int]] = Long  # pyright: ignore[reportAssignmentType]
JsonObject = dict[str, Any]

MAX_DEPTH: Final = 200  # about sixty nested struct types; the readers of our files stop at a thousand
_AT: Final = re.compile(r"^(?P<message>.*?)(?: - at `\$(?P<path>.*)`)?$", re.DOTALL)


class Invalid(ValueError):  # noqa: N818 - a finding about a document; the caller decides which refusal it becomes
    """A document, or a part of one, breaks a rule of its format.

    Args:
        path: where, from the part's own root: "fields[0].type"; empty for the part itself.
        message: what is wrong, with which value, and what would be right.
    """

    def __init__(self, path: str, message: str) -> None:
        """See the class."""
        super().__init__(message)
        self.path: Final = path
        self.message: Final = message

    def below(self, parent: str) -> Invalid:
        """The same finding, told from the root that `parent` is a path in."""
        return Invalid(join(parent, self.path), self.message)


def join(parent: str, path: str) -> str:
    """One path of two: "a" and "b" are "a.b", "a" and "[0]" are "a[0]"."""
    if not path or not parent:
        return parent or path
    return f"{parent}{path}" if path.startswith("[") else f"{parent}.{path}"


def malformed(path: str, message: str) -> Refusal:
    """The refusal of a request's body."""
    return Refusal(
        Reason.REASON_MALFORMED_DOCUMENT, f"the document can't be read at {path or '$'}: {message}", path=path or "$"
    )


def read(body: bytes) -> object:
    """Decode a document that came from outside.

    Raises:
        Invalid: not JSON, not UTF-8, nested more than MAX_DEPTH levels, or a number without a finite value.
    """
    try:
        value: object = msgspec.json.decode(body)
    except RecursionError:
        raise _too_deep() from None
    except UnicodeDecodeError as error:
        raise Invalid("", f"it is not UTF-8: {error.reason} at byte {error.start}") from None
    except msgspec.DecodeError as error:
        raise Invalid("", str(error)) from None
    _check_depth(value)
    return value


def _too_deep() -> Invalid:
    return Invalid("", f"it is nested more than {MAX_DEPTH} levels deep")


def _check_depth(value: object) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below += [member for member in item.values() if isinstance(member, (dict, list))]
            elif isinstance(item, list):
                below += [member for member in item if isinstance(member, (dict, list))]
        if not below:
            return
        level = below
    raise _too_deep()


def convert(value: object, kind: type[T]) -> T:
    """Read a decoded value as a typed one; classes with `from_json` read themselves.

    Raises:
        Invalid: a member is missing or has the wrong type; its path is relative to `value`.
    """
    try:
        return msgspec.convert(value, kind, dec_hook=_from_json)
    except msgspec.ValidationError as error:
        raise _finding(error) from None
    except RecursionError:
        raise _too_deep() from None


def decode(encoded: bytes | msgspec.Raw, kind: type[T]) -> T:
    """Decode and read in one pass, for bytes whose depth was checked before.

    Raises:
        Invalid: as `convert` does, and for bytes that are not JSON.
    """
    try:
        return cast("T", _decoder(cast("Hashable", kind)).decode(encoded))
    except msgspec.ValidationError as error:
        raise _finding(error) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Invalid("", str(error)) from None
    except RecursionError:
        raise _too_deep() from None


@functools.cache
def _decoder(kind: Hashable) -> msgspec.json.Decoder[object]:
    return msgspec.json.Decoder(cast("type[object]", kind), dec_hook=_from_json)


def encode(value: object) -> bytes:
    """Compact JSON; integers are written exactly."""
    return msgspec.json.encode(value)


def encode_text(value: str) -> bytes:
    """A JSON string."""
    return msgspec.json.encode(value)


def _from_json(kind: type, value: object) -> object:
    try:
        return kind.from_json(value)  # type: ignore[attr-defined]
    except Invalid as finding:  # msgspec adds the path of what it was reading; ours goes into the text
        text = f"{finding.path}: {finding.message}" if finding.path else finding.message
        raise ValueError(text) from None


def _finding(error: msgspec.ValidationError) -> Invalid:
    match = _AT.match(str(error))
    if match is None:
        return Invalid("", str(error))
    return Invalid((match["path"] or "").lstrip("."), match["message"])
