"""A request in the form that is signed."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Final

from lakeward_vending.domain.s3.signing.refusals import invalid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lakeward_vending.domain.access import Access

MAX_HEADERS: Final = 100
_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}\Z")
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\U0010ffff]{0,8192}\Z")


_CONDITIONS: Final = frozenset({"if-match", "if-none-match"})


@dataclasses.dataclass(frozen=True, slots=True)
class Signable:
    """A request that passed every rule, in the form that is signed.

    Attributes:
        authority: host, and the port where it is not the scheme's.
        path: canonical: each byte that is no unreserved character or slash is percent-encoded once.
        query: decoded parameters.
        headers: those that the signature covers, by lower-case name.
        payload_hash: the value of x-amz-content-sha256.
        access: what the request does to the files.
        keys: the object keys, or key prefixes of a listing, that it touches.
    """

    method: str
    authority: str
    path: str
    query: Sequence[tuple[str, str]]
    headers: Mapping[str, str]
    payload_hash: str
    access: Access
    keys: Sequence[str]

    @property
    def lists_keys(self) -> bool:
        """Whether the keys that it touches stand in its body: a delete of many."""
        return any(name == "delete" for name, _ in self.query)

    @property
    def cacheable(self) -> bool:
        """Whether a client may use the signature for an equal request: never for what changes something.

        Clients take requests for equal by method and URI, and send their own headers along: the range, which is not signed, may
        differ. A condition is signed and would differ too, and the store would refuse the next one.
        """
        return self.method in {"GET", "HEAD"} and not self.headers.keys() & _CONDITIONS


def values_by_name(headers: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Headers by lower-case name; spellings that differ by case alone are one header with all their values.

    Raises:
        Refusal: SIGNING_INVALID (InvalidHeader): a name or value that can't stand in HTTP, or too many of them.
    """
    if len(headers) > MAX_HEADERS:
        raise invalid("InvalidHeader", f"there are {len(headers)} headers; at most {MAX_HEADERS} are signed")
    merged: dict[str, tuple[str, ...]] = {}
    for name, values in headers.items():
        if not _NAME.match(name) or not all(_VALUE.match(value) for value in values):
            raise invalid("InvalidHeader", f"the header {name[:100]!a} can't stand in an HTTP request")
        merged[name.lower()] = (*merged.get(name.lower(), ()), *values)
    return merged
