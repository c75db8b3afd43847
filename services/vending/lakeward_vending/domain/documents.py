"""Reading the public API's JSON objects member by member, with refusals that name the member."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.errors import Reason, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BYTES: Final = 64 * 1024
_SHOWN: Final = 200


def load(text: bytes, *, path: str) -> Members:
    """Parse one JSON object.

    Args:
        text: JSON as UTF-8, at most 64 KiB.
        path: what the object is called in refusals, as in "storage-profile".

    Raises:
        Refusal: TOO_LARGE, or MALFORMED_DOCUMENT where it is no JSON object.
    """
    if len(text) > MAX_BYTES:
        raise Refusal(Reason.REASON_TOO_LARGE, f"{path} is over {MAX_BYTES} bytes", what=path, limit=str(MAX_BYTES))
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refusal(Reason.REASON_MALFORMED_DOCUMENT, f"{path} is not JSON", path=path) from error
    if not isinstance(document, dict):
        raise Refusal(Reason.REASON_MALFORMED_DOCUMENT, f"{path} is not a JSON object", path=path)
    return Members(document, path=path)


def dump(document: Mapping[str, object]) -> bytes:
    """JSON in the one form that digests are taken of: keys sorted, no spaces, UTF-8."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


class Members:
    """The members of one JSON object. A member that is null counts as absent."""

    __slots__ = ("_members", "path")

    def __init__(self, members: Mapping[str, object], *, path: str) -> None:
        """Read from `members`; `path` names the object in refusals."""
        self._members: Final = members
        self.path: Final = path

    def has(self, key: str) -> bool:
        """Whether the member is there and is not null."""
        return self._members.get(key) is not None

    def raw(self, key: str) -> object:
        """The member as it is; None where it is absent."""
        return self._members.get(key)

    def text(self, key: str, *aliases: str) -> str | None:
        """A text without outer white space; None where it is absent. The first spelling that is there counts.

        Raises:
            Refusal: MALFORMED_DOCUMENT where it is no text, or holds what UTF-8 can't.
        """
        for name in (key, *aliases):
            value = self._members.get(name)
            if value is None:
                continue
            if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" for character in value):
                raise self.malformed(name, "a text")
            return value.strip()
        return None

    def required_text(self, key: str, *aliases: str) -> str:
        """As `text`, and there.

        Raises:
            Refusal: MALFORMED_DOCUMENT where it is absent or no text.
        """
        value = self.text(key, *aliases)
        if value is None:
            raise self.malformed(key, "given, and a text")
        return value

    def filled_text(self, key: str, *aliases: str) -> str | None:
        """As `text`; a blank one counts as absent."""
        return self.text(key, *aliases) or None

    def flag(self, key: str) -> bool | None:
        """True, false, or None where it is absent.

        Raises:
            Refusal: MALFORMED_DOCUMENT where it is neither.
        """
        value = self._members.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.malformed(key, "true or false")
        return value

    def required_flag(self, key: str) -> bool:
        """As `flag`, and there.

        Raises:
            Refusal: MALFORMED_DOCUMENT where it is absent or neither true nor false.
        """
        value = self.flag(key)
        if value is None:
            raise self.malformed(key, "given, and true or false")
        return value

    def whole_number(self, key: str) -> int | None:
        """A whole number, or None where it is absent.

        Raises:
            Refusal: MALFORMED_DOCUMENT where it is none.
        """
        value = self._members.get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise self.malformed(key, "a whole number")
        return value

    def texts_by_name(self, key: str) -> Mapping[str, str]:
        """An object whose members are all texts; empty where it is absent.

        Raises:
            Refusal: MALFORMED_DOCUMENT where it is none.
        """
        value = self._members.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
            raise self.malformed(key, "an object of texts")
        return value

    def malformed(self, key: str, right: str) -> Refusal:
        """The refusal of a member of the wrong type. Its value is not shown: it could be a secret."""
        path = f"{self.path}.{key}"
        return Refusal(Reason.REASON_MALFORMED_DOCUMENT, f"{path} must be {right}", path=path)


def invalid(field: str, value: object, right: str) -> Refusal:
    """The refusal of a storage profile's value.

    Args:
        field: the rule's name, which the public API puts into the error's type: "bucket", "key_prefix", "host".
        value: what was given; never a secret.
        right: what would be right, as in "3 to 63 characters".
    """
    shown = str(value)[:_SHOWN].encode(errors="backslashreplace").decode()
    return Refusal(
        Reason.REASON_INVALID_STORAGE_PROFILE,
        f"the storage profile's {field} is {shown!r}; it must be {right}",
        field=field,
        value=shown,
    )
