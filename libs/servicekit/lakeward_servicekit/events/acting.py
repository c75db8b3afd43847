"""Who the code at hand acts for, carried by the task's context as a request's correlation is.

Rights are never decided by it: it is what an event says of who made its change.
"""

from __future__ import annotations

import contextvars
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.events.cloud_events import Actor

if TYPE_CHECKING:
    from lakeward_servicekit.authorization.principals import Principal

NOBODY: Final = Actor(None)
_acting: Final[contextvars.ContextVar[Actor]] = contextvars.ContextVar("lakeward_actor", default=NOBODY)


def act_for(principal: Principal) -> None:
    """From now on the task at hand acts for a caller that was settled."""
    _acting.set(Actor(principal.user_id or None, principal.role_id or None))


def actor() -> Actor:
    """Whom the code at hand acts for; nobody where it is the service itself."""
    return _acting.get()
