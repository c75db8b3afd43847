"""JSON documents: exact integers, bounded size, and errors that name the path of what is wrong.

What comes from outside becomes a value here and nowhere else: `read` for what a caller sent, `read_members` for a file. Both
look at how much a document holds before anything is made of it. A test walks the sources for another way.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Hashable
from typing import Annotated, Any, Final, TypeVar, cast

import msgspec

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.json_bounds import REQUEST_LIMITS, BeyondLimits, JsonLimits, check_json

T = TypeVar("T")

Int = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Long = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
# Milliseconds since the epoch. None is before it: Iceberg's reader subtracts times, and some differences have no 64 bits.
Time = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
INT: Final[type[int]] = Int  # pyright: ignore[reportAssignmentType]  # the same, where a class is expected
LONG: Final[type[int]] = Long  # pyright: ignore[reportAssignmentType]
TIME: Final[type[int]] = Time  # pyright: ignore[reportAssignmentType]
JsonObject = dict[str, Any]

# Of a metadata file. What is accepted in a request stands one level deeper in a file, and a table that fits its 64 MiB after
# many commits can be registered, so every number is above a request's.
# Lengths that Iceberg's own reader takes (Jackson's defaults): metadata with more in it could be written and not be read.
MAX_MEMBER_NAME: Final = 50_000  # characters
MAX_TEXT: Final = 20_000_000  # characters
MAX_DIGITS: Final = 1000
FILE_LIMITS: Final = JsonLimits(depth=REQUEST_LIMITS.depth + 8, containers=1_000_000, values=6_000_000)
_TOO_MANY_DIGITS: Final = 10**MAX_DIGITS
_SHOWN: Final = 100  # characters of a caller's text that a message repeats
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
    """Decode a document that a caller sent.

    Raises:
        Invalid: not JSON, not UTF-8, more in it than REQUEST_LIMITS, or a number without a finite value.
    """
    _check_limits(body, REQUEST_LIMITS)
    value = _value(body)
    if _may_be_long(body):
        _check_lengths(value)
    return value


def read_members(body: bytes) -> dict[str, msgspec.Raw]:
    """The members of a file's document as compact JSON, every value in them decoded once and found to be one.

    The document is never there as values in full: a file may be far larger than a request.

    Raises:
        Invalid: as `read`, for FILE_LIMITS; not an object.
    """
    _check_limits(body, FILE_LIMITS)
    members = decode(body, dict[str, msgspec.Raw])
    check = _check_lengths if _may_be_long(body) else _pass
    check(dict.fromkeys(members))
    compacted = {}
    for name, raw in members.items():
        try:
            compacted[name] = msgspec.Raw(_compact(raw, check))
        except Invalid as finding:
            raise finding.below(name[:_SHOWN]) from None
    return compacted


def _compact(raw: msgspec.Raw, check: Callable[[object], None]) -> bytes:
    if bytes(memoryview(raw)[:1]) != b"[":
        return _compacted(raw, check)
    return b"[" + b",".join([_compacted(item, check) for item in decode(raw, list[msgspec.Raw])]) + b"]"


def _compacted(raw: msgspec.Raw, check: Callable[[object], None]) -> bytes:
    value = _value(raw)
    check(value)
    return encode(value)


def _pass(_: object) -> None:
    """Nothing in the document can be too long."""


def _may_be_long(body: bytes) -> bool:
    """Whether it is worth to look through the values for one that is too long: hardly ever, and never told in vain."""
    half = MAX_DIGITS // 2  # of so many digits, one aligned half is there in full
    if any(body[start : start + half].isdigit() for start in range(0, len(body) - half + 1, half)):
        return True
    if len(body) <= MAX_MEMBER_NAME:
        return False
    if b'\\"' in body:
        return True
    start = 0
    while start + MAX_MEMBER_NAME < len(body):
        quote = body.rfind(b'"', start, start + MAX_MEMBER_NAME + 1)
        if quote < 0:
            return True
        start = quote + 1
    return False


def _check_lengths(document: object) -> None:
    level = [document]
    while level:
        below: list[object] = []
        for value in level:
            if isinstance(value, dict):
                for name, member in value.items():
                    if len(name) > MAX_MEMBER_NAME:
                        raise Invalid(
                            "", f"a member has a name of {len(name)} characters; readers take {MAX_MEMBER_NAME}"
                        )
                    below.append(member)
            elif isinstance(value, list):
                below += value
            elif isinstance(value, str):
                if len(value) > MAX_TEXT:
                    raise Invalid("", f"a text has {len(value)} characters; readers take {MAX_TEXT}")
            elif isinstance(value, int) and abs(value) >= _TOO_MANY_DIGITS:
                raise Invalid("", f"a number has more than {MAX_DIGITS} digits, which is the most that readers take")
        level = below


def _check_limits(body: bytes, limits: JsonLimits) -> None:
    try:
        check_json(body, limits)
    except BeyondLimits as finding:
        raise Invalid("", f"{finding}, which is the most that is taken") from None


def _value(encoded: bytes | msgspec.Raw) -> object:
    try:
        value: object = msgspec.json.decode(encoded)
    except RecursionError:
        raise _too_deep() from None
    except UnicodeDecodeError as error:
        raise Invalid("", f"it is not UTF-8: {error.reason} at byte {error.start}") from None
    except msgspec.DecodeError as error:
        raise Invalid("", str(error)) from None
    return value


def _too_deep() -> Invalid:
    return Invalid("", "it is nested too deeply")


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
