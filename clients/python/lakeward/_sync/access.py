# made by tools/generate_client.py from what stands in _async; do not edit
"""Credentials of one table that stay fresh."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable
from typing import TYPE_CHECKING

from lakeward._twins import HandOut, Lock, Source
from lakeward.credentials import Credentials
from lakeward.errors import ServerError, TooManyRequestsError, UnreachableError

if TYPE_CHECKING:
    from obstore.store import AzureStore, GCSStore, S3Store

_LEAST = (
    300.0  # seconds before the end at which credentials are old; what comes back earliest, obstore, does so by then
)
_SHARE = 0.1  # of their life, the same
_PAUSE = 10.0  # seconds for which old ones do when no fresh ones could be had


class Access(Source):
    """Credentials of one table: those that were had, until they are about to end.

    However many ask at once, one of them asks the server; the others take what there is, while it is valid. A server that gives
    no answer is no failure either, until then.

    Args:
        fetch: asks the server.
        known: credentials that were handed out with something else; None: the first one who asks makes a call.
        now: seconds since the epoch.
    """

    def __init__(
        self,
        fetch: HandOut,
        *,
        known: Credentials | None = None,
        now: Callable[[], float] = clock.time,
    ) -> None:
        self._fetch = fetch
        self._now = now
        self._lock = Lock()
        self._known = known
        self._old_at = 0.0 if known is None else self._fresh_until(known)

    def get(self) -> Credentials:
        """Credentials that last for a while.

        Raises:
            NoCredentialsError: the caller is handed out none.
            LakewardError: they have ended, and the server hands out no others.
        """
        known = self._known
        if known is not None:
            now = self._now()
            if now < self._old_at or (self._lock.locked() and known.life(now) > 0):
                return known
        with self._lock:
            known = self._known
            if known is not None and self._now() < self._old_at:
                return known
            try:
                fresh = self._fetch()
            except (UnreachableError, ServerError, TooManyRequestsError):
                if known is None or known.life(self._now()) <= 0:
                    raise
                self._old_at = self._now() + _PAUSE
                return known
            self._known = fresh
            self._old_at = self._fresh_until(fresh)
            return fresh

    def obstore(self) -> S3Store | AzureStore | GCSStore:
        """A store of obstore that begins at the table's place. It comes back for fresh credentials."""
        from lakeward.credentials.object_stores import obstore_credentials, store_of  # noqa: PLC0415

        def provide() -> dict[str, object]:
            return obstore_credentials(self.get())

        return store_of(self.get(), provide)

    def _fresh_until(self, credentials: Credentials) -> float:
        now = self._now()
        life = credentials.life(now)
        if math.isinf(life):
            return math.inf
        # Those that live for no more than some minutes are of use for half of them.
        return now + life - min(max(_LEAST, life * _SHARE), life / 2)
