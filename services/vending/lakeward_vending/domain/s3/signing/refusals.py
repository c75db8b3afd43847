"""The words for what the signer refuses."""

from __future__ import annotations

from lakeward_servicekit.errors import Reason, Refusal

_SHOWN = 300


def invalid(cause: str, message: str) -> Refusal:
    """The refusal of a request that can't be signed, whatever the permit.

    Args:
        cause: the word that the public API puts into the error's type, as in "UriNotS3".
        message: what was wrong, and what would be right.
    """
    return Refusal(Reason.REASON_SIGNING_INVALID, message, cause=cause)


def outside(location: str) -> Refusal:
    """The refusal of a request that touches what the permit does not cover."""
    shown = location[:_SHOWN]
    return Refusal(Reason.REASON_SIGNING_OUTSIDE, f"{shown} lies outside of what may be signed for", location=shown)


def method(name: str) -> Refusal:
    """The refusal of an HTTP method."""
    shown = name[:_SHOWN]
    return Refusal(
        Reason.REASON_SIGNING_METHOD,
        f"{shown} requests are not signed; GET, HEAD, PUT, POST and DELETE are",
        method=shown,
    )
