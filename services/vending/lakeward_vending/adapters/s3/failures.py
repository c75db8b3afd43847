"""What a store said, as a refusal. Its own words go to the log: they name roles, accounts and hosts of the owner."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.adapters.network.refusals import unavailable
from lakeward_vending.adapters.s3 import xml
from lakeward_vending.application.refusals import StoreDenied

if TYPE_CHECKING:
    from lakeward_vending.adapters.network.calls import Reply

_log = logging.getLogger(__name__)

MAX_ERROR_BYTES: Final = xml.MAX_ERROR_BYTES

_DENIED: Final = frozenset({401, 403})
_TOO_MANY: Final = 429
_SERVER_FAULT: Final = 500
_FAILED: Final = 300
_THROTTLED: Final = frozenset(
    {"SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequests"}
)


def denied(store: str, error: object) -> Refusal:
    """The refusal for a store that refuses a credential."""
    # No warning: a validation is refused on purpose, to prove that a vended credential does not reach outside.
    _log.info("a store refused a credential", extra={"store": store, "error": str(error)[:1000]})
    return StoreDenied(store)


def not_issued(store: str, error: object) -> Refusal:
    """The refusal for an STS that mints nothing."""
    _log.warning("a credential was not issued", extra={"store": store, "error": str(error)[:1000]})
    return Refusal(
        Reason.REASON_CREDENTIAL_NOT_ISSUED,
        f"{store} issued no credential; check the role, its trust policy and the credential's rights",
        store=store,
    )


def absent(location: str) -> Refusal:
    """The refusal for a bucket that is not there."""
    return Refusal(Reason.REASON_FILE_NOT_FOUND, f"there is no file {location}", location=location)


def of_reply(store: str, reply: Reply) -> Refusal:
    """The refusal for a reply that is no success."""
    code = xml.error_code(reply.body)
    if reply.status in _DENIED and code not in _THROTTLED:
        return denied(store, f"{reply.status} {code}")
    return unavailable(store, RuntimeError(f"status {reply.status}, code {code}"))


def is_passing(reply: Reply) -> bool:
    """Whether the same call may succeed later: throttling and outages."""
    if reply.status < _FAILED:
        return False  # the body is an object's content or a listing: whatever it looks like, it is no error
    return reply.status >= _SERVER_FAULT or reply.status == _TOO_MANY or xml.error_code(reply.body) in _THROTTLED
