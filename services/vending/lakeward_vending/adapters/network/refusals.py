"""What is said of a service that can't be reached."""

from __future__ import annotations

import logging
from urllib.parse import urlsplit

from lakeward_servicekit import tls
from lakeward_vending.adapters.network.connections import TooLarge
from lakeward_vending.application.refusals import StoreUnavailable

_log = logging.getLogger(__name__)


class Settled(StoreUnavailable):
    """A refusal that the same call would meet again if it were sent again at once."""


class ReplyTooLarge(Settled):
    """A service answers more than was asked for."""

    def __init__(self, url: str, error: TooLarge) -> None:
        """Refuse the reply to a call of `url`."""
        store = origin(url)
        _log.warning("a store's reply is too large", extra={"store": store, "error": str(error)})
        super().__init__(
            f"{store} is failing: {error}, which is more than any store answers to this; check the endpoint",
            store=store,
        )


class LeftAlone(Settled):
    """A service that is not called for now: it failed too often, or too much of it is under way."""

    def __init__(self, store: str, why: str) -> None:
        """Refuse a call to `store`; `why` goes on from its name."""
        super().__init__(f"{store} {why}", store=store)


def unavailable(url: str, error: BaseException) -> StoreUnavailable:
    """The refusal for a service that can't be reached, with the cure where TLS is the cause."""
    store = origin(url)
    cure = tls.explain(error)
    _log.warning("a store can't be reached", extra={"store": store, "error": repr(error)[:1000]})
    message = f"{store} can't be reached or is failing" + (f": {cure}" if cure else "; check the endpoint, or retry")
    return StoreUnavailable(message, store=store)


def origin(url: str) -> str:
    """Scheme, host and port of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
