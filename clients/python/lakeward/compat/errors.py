"""Errors under their old names; an HTTP error's cause is this client's own, which says more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lakeward.errors import (
    AnswerError,
    ConfigurationError,
    NoCredentialsError,
    RefusedError,
    UnreachableError,
)
from lakeward.errors import AuthError as OurAuthError


class LakekeeperError(Exception):
    """Whatever these names raise."""


class ConfigError(LakekeeperError):
    """What a client, or a call, was made with can't be."""


class AuthError(LakekeeperError):
    """No token could be had."""


class LakekeeperHTTPError(LakekeeperError):
    """The server refused.

    Attributes:
        status_code: of HTTP.
        body: what the server says.
        method: of HTTP; None where it is not known.
        url: None where it is not known.
    """

    def __init__(self, status_code: int, body: str = "", *, method: str | None = None, url: str | None = None) -> None:
        self.status_code = status_code
        self.body = body
        self.method = method
        self.url = url
        where = f" ({method} {url})" if method and url else ""
        super().__init__(f"HTTP {status_code}{where}{f': {body}' if body else ''}")


class NotFoundError(LakekeeperHTTPError):
    """There is no such thing, or none that the caller may see."""


class ConflictError(LakekeeperHTTPError):
    """It is in the way of something."""


_BY_STATUS = {404: NotFoundError, 409: ConflictError}


def http_error_for(
    status_code: int, body: str = "", *, method: str | None = None, url: str | None = None
) -> LakekeeperHTTPError:
    """The error of a status."""
    return _BY_STATUS.get(status_code, LakekeeperHTTPError)(status_code, body, method=method, url=url)


@contextmanager
def translated() -> Iterator[None]:
    """Raise what this client raises under the old names."""
    try:
        yield
    except RefusedError as error:
        raise http_error_for(error.status, str(error)) from error
    except OurAuthError as error:
        raise AuthError(str(error)) from error
    except (ConfigurationError, NoCredentialsError) as error:
        raise ConfigError(str(error)) from error
    except (UnreachableError, AnswerError) as error:
        raise LakekeeperError(str(error)) from error
