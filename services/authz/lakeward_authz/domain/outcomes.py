"""How sight and permission make an outcome."""

from __future__ import annotations

from lakeward_servicekit.authorization.authorizer import Outcome


def outcome_of(*, sees: bool, may: bool) -> Outcome:
    """What a principal is told: of what it does not see, never that it exists."""
    if not sees:
        return Outcome.HIDDEN
    return Outcome.ALLOWED if may else Outcome.DENIED
