"""A storage request that a client without a credential asks to have signed, and what comes of it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclasses.dataclass(frozen=True, slots=True)
class SigningRequest:
    """One storage request.

    Attributes:
        method: upper case.
        uri: whole, as the client will send it.
        region: where the client believes the bucket to be.
        headers: as the client will send them, names in any case.
        body: sent along where the signature needs it, as for a delete of many.
    """

    method: str
    uri: str
    region: str
    headers: Mapping[str, Sequence[str]]
    body: bytes | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class SignedRequest:
    """What the client sends.

    Attributes:
        headers: the client's own and the signature's.
        cacheable: whether the signature may be used again for an equal request.
    """

    headers: Mapping[str, Sequence[str]]
    cacheable: bool
