"""What can go wrong, as one tree.

LakewardError
├── ConfigurationError     what the client was made with can't be
├── AuthError              no token could be had
│   └── GrantError             the identity provider refused one
├── UnreachableError       the server gave no answer
├── AnswerError            its answer could not be read, or was too large
├── NoCredentialsError     it answered, and without the credentials that were wanted
└── RefusedError           it refused, and says why
    ├── BadRequestError            400, 422
    ├── UnauthorizedError          401
    ├── ForbiddenError             403
    ├── NotFoundError              404
    ├── ConflictError              409, 412
    ├── EventsForgottenError       410
    ├── TooManyRequestsError       429
    └── ServerError                5xx
        └── UnavailableError       503
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_TOLD = 2_000  # characters of an answer that is no error document, which go into a message


class LakewardError(Exception):
    """Whatever this package raises."""


class ConfigurationError(LakewardError):
    """What the client was made with can't be: the message names it, and what would be right."""


class AuthError(LakewardError):
    """No token could be had."""


class GrantError(AuthError):
    """The identity provider refused a token.

    Attributes:
        error: the provider's word, as "invalid_grant" (RFC 6749, 5.2).
    """

    def __init__(self, message: str, error: str) -> None:
        super().__init__(message)
        self.error = error


class UnreachableError(LakewardError):
    """The server gave no answer in time, or none at all. What was asked may have been done."""


class AnswerError(LakewardError):
    """The answer could not be read, or was larger than this client takes."""


class NoCredentialsError(LakewardError):
    """The server handed out no credentials for a table's files."""


class RefusedError(LakewardError):
    """The server refused.

    Attributes:
        status: of HTTP.
        type: the word that programs match on, as "NoSuchTableException"; empty where the answer had none.
        message: what the server says.
        request_id: under which the server's logs know the request; empty where the answer had none.
        retry_after: seconds after which asking again may help; None where the answer does not say.
    """

    def __init__(
        self, status: int, kind: str, message: str, *, request_id: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(f"{message} ({kind or 'HTTP'} {status}{f', request {request_id}' if request_id else ''})")
        self.status = status
        self.type = kind
        self.message = message
        self.request_id = request_id
        self.retry_after = retry_after


class BadRequestError(RefusedError):
    """What was asked can't be asked so."""


class UnauthorizedError(RefusedError):
    """The server does not know who calls."""


class ForbiddenError(RefusedError):
    """The caller may not."""


class NotFoundError(RefusedError):
    """There is no such thing, or none that the caller may see."""


class ConflictError(RefusedError):
    """It is in the way of something: of a name that is taken, of what is not empty, of somebody's newer change."""


class EventsForgottenError(RefusedError):
    """Events behind a position are not kept any more: read again from the beginning, where what is there comes first."""


class TooManyRequestsError(RefusedError):
    """The server has too much to do for this caller."""


class ServerError(RefusedError):
    """The server failed. What was asked may have been done."""


class UnavailableError(ServerError):
    """The server can't answer now."""


_CLASSES: Mapping[int, type[RefusedError]] = {
    400: BadRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: EventsForgottenError,
    412: ConflictError,
    422: BadRequestError,
    429: TooManyRequestsError,
    503: UnavailableError,
}


def refused(status: int, headers: Mapping[str, str], content: bytes) -> RefusedError:
    """The error that an answer tells of.

    Args:
        status: 400 or above.
        headers: of the answer; names in lower case.
        content: its body.
    """
    kind, message = _told(content)
    fallback = ServerError if status >= 500 else RefusedError  # noqa: PLR2004 - a class of HTTP's
    return _CLASSES.get(status, fallback)(
        status,
        kind,
        message,
        request_id=headers.get("x-request-id", ""),
        retry_after=_seconds(headers.get("retry-after", "")),
    )


def _told(content: bytes) -> tuple[str, str]:
    try:
        error: Any = json.loads(content)["error"]
        return str(error["type"]), str(error["message"])
    except (ValueError, LookupError, TypeError):
        return "", content[:_TOLD].decode("utf-8", "replace") or "the server gave no reason"


def _seconds(told: str) -> float | None:
    # The form with a date is left: no answer of ours has it.
    return float(told) if told.isdecimal() else None
