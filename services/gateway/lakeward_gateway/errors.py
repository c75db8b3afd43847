"""Refusals as replies. Which status and which word a reason gets is each dialect's own table; the envelope is one.

{"error": {"message": "...", "type": "NoSuchTableException", "code": 404, "stack": []}}
"""

from __future__ import annotations

import dataclasses
import enum
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from lakeward_gateway.http import Header, Response, json_response
from lakeward_servicekit.errors import Reason, ReasonValue, Refusal, name_of

_log = logging.getLogger(__name__)

_FAULT: Final = 500
_NOT_SERVED: Final = 501
_REALM: Final = b'Bearer realm="lakeward"'
_NOT_IN_DESCRIPTION: Final = re.compile(r"[^\x20-\x21\x23-\x5b\x5d-\x7e]")
_MAX_DESCRIPTION: Final = 400


class Challenge(enum.StrEnum):
    """What a reply that asks for a token says was wrong with the one that came: the codes of RFC 6750."""

    # No token came, so nothing is said of it.
    NONE_CAME = ""
    INVALID_TOKEN = "invalid_token"  # noqa: S105 - the name of an error
    INVALID_REQUEST = "invalid_request"


@dataclasses.dataclass(frozen=True, slots=True)
class Rendering:
    """How a reason is shown.

    Attributes:
        status: of HTTP.
        type: the word that clients match on.
        retry_after: seconds; None: no Retry-After. Clients repeat calls that are not idempotent where it is there, so it is
            there only where nothing was done.
        challenge: of the WWW-Authenticate header; None: there is none.
    """

    status: int
    type: str
    retry_after: int | None = None
    challenge: Challenge | None = None


Renderer: TypeAlias = Callable[[Mapping[str, str]], Rendering]


@dataclasses.dataclass(frozen=True, slots=True)
class Varying:
    """A `Renderer` that says which statuses it may choose, for the documentation.

    Attributes:
        choose: the rendering for a refusal's metadata.
        statuses: all that it may have.
    """

    choose: Renderer
    statuses: frozenset[int]

    def __call__(self, metadata: Mapping[str, str]) -> Rendering:
        """See `choose`."""
        return self.choose(metadata)


Renderings: TypeAlias = Mapping[ReasonValue, Rendering | Renderer]


# The reply that says a message, a rendering, lines of detail, and further headers.
ErrorDocument: TypeAlias = Callable[[str, Rendering, Sequence[str], Sequence[Header]], Response]


@dataclasses.dataclass(frozen=True, slots=True)
class ErrorStyle:
    """How an API that has an own form of errors shows what is refused below its path.

    Attributes:
        renderings: where no operation was found that has its own.
        document: makes the reply.
    """

    renderings: Renderings
    document: ErrorDocument


def rendered(
    refusal: Refusal, renderings: Renderings, *, new_id: Callable[[], str], document: ErrorDocument | None = None
) -> Response:
    """The reply for a refusal.

    Args:
        refusal: what was raised.
        renderings: the dialect's table, which has every reason.
        new_id: makes the id under which a fault is logged, where it has none yet.
        document: makes the reply; None: the one envelope of all other APIs.
    """
    entry = renderings[refusal.reason]
    rendering = entry if isinstance(entry, Rendering) else entry(refusal.metadata)
    stack: list[str] = []
    log = {"reason": name_of(refusal.reason), "status": rendering.status}
    if rendering.status >= _FAULT:
        error_id = refusal.metadata.get("error_id") or new_id()
        stack.append(f"Error ID: {error_id}")
        level = logging.INFO if rendering.status == _NOT_SERVED else logging.ERROR
        _log.log(level, "a request failed", extra={"error_id": error_id, **log})
    else:
        _log.info("a request was refused", extra=log)
    headers: list[Header] = []
    if rendering.retry_after is not None:
        headers.append((b"retry-after", str(rendering.retry_after).encode()))
    if rendering.challenge is not None:
        headers.append((b"www-authenticate", _challenge(rendering.challenge, refusal.message)))
    if refusal.reason == Reason.REASON_METHOD_NOT_ALLOWED:
        headers.append((b"allow", refusal.metadata["allowed"].encode("latin-1", "replace")))
    return (document or _enveloped)(refusal.message, rendering, stack, headers)


def _enveloped(message: str, rendering: Rendering, stack: Sequence[str], headers: Sequence[Header]) -> Response:
    document = envelope(message, type=rendering.type, code=rendering.status, stack=stack)
    return json_response(document, status=rendering.status, headers=headers)


def _challenge(challenge: Challenge, message: str) -> bytes:
    """The header's value, as RFC 6750 has it; the description holds no character that it forbids, so none ends it early."""
    if challenge is Challenge.NONE_CAME:
        return _REALM
    described = _NOT_IN_DESCRIPTION.sub("?", message.replace('"', "'"))[:_MAX_DESCRIPTION]
    return _REALM + f', error="{challenge}", error_description="{described}"'.encode("ascii")


def envelope(message: str, *, type: str, code: int, stack: Sequence[str] = ()) -> Mapping[str, Any]:  # noqa: A002 - the member's name
    """The body of every reply that is a refusal."""
    return {"error": {"message": message, "type": type, "code": code, "stack": stack}}


def no_such_route(path: str, *, hint: str = "") -> Refusal:
    """Nothing is served at a path; `hint` says what is meant, perhaps, as in "; the API is at /x"."""
    return Refusal(Reason.REASON_NO_SUCH_ROUTE, f"nothing is served at {path}{hint}", path=path)
