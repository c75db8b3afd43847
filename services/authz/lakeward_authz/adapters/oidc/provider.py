"""One identity provider: its published keys, kept fresh.

Keys are read again every hour, and when a token names one that is not known, as after a rotation: then by one request for
all who wait, and at most once in `FLOOR_SECONDS`, so that tokens with made-up key names can't be turned against the provider.
While a provider is away its last keys count, for a day.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final

from lakeward_authz.adapters.oidc.discovery import ProviderUnreachable, Published
from lakeward_authz.adapters.oidc.signing_keys import SigningKey
from lakeward_authz.domain.claims import refused
from lakeward_authz.domain.provider_rules import ProviderRules
from lakeward_servicekit.errors import Reason, Refusal

_log = logging.getLogger(__name__)

REFRESH_SECONDS: Final = 3600.0
FLOOR_SECONDS: Final = 10.0
# An outage of the provider must not lock everyone out at once, nor may withdrawn keys count for ever.
KEPT_SECONDS: Final = 24 * 3600.0
_RETRY_SECONDS: Final = 60.0
_FIRST_RETRY_SECONDS: Final = 1.0
_LAST_RETRY_SECONDS: Final = 30.0

Fetch = Callable[[], Awaitable[Published]]


class Provider:
    """One provider.

    Args:
        rules: its configuration.
        fetch: reads what it publishes; raises ProviderUnreachable.
        floor: seconds between readings that unknown keys cause.
        now: seconds on a clock that never goes back.
    """

    def __init__(
        self,
        rules: ProviderRules,
        fetch: Fetch,
        *,
        floor: float = FLOOR_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Know nothing yet; see the class."""
        self.rules: Final = rules
        self._fetch = fetch
        self._floor = floor
        self._now = now
        self._published: Published | None = None
        self._read_at = -float("inf")
        self._looked_at = -float("inf")
        self._trouble: str | None = "it has not answered yet"
        self._reading: asyncio.Task[None] | None = None

    @property
    def issuers(self) -> frozenset[str] | None:
        """Issuers of its tokens; None while it has not been reached."""
        return None if self._published is None else self.rules.additional_issuers | {self._published.issuer}

    @property
    def fingerprint(self) -> str:
        """Equal for equal issuer and keys."""
        return "" if self._published is None else self._published.fingerprint

    async def refresh(self) -> None:
        """Read what it publishes, now, or join who does.

        Raises:
            ProviderUnreachable: what was known before is kept.
        """
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
            self._reading.add_done_callback(self._read_ended)
        # Who gives up waiting must not end it for the others.
        await asyncio.shield(self._reading)

    async def key(self, kid: str) -> SigningKey:
        """The key of a name, with one look at the provider where it is not known.

        Raises:
            Refusal: TOKEN_REFUSED where there is no such key; IDENTITY_PROVIDER_UNAVAILABLE where that is not known.
        """
        known = self._known(kid)
        if known is not None:
            return known
        if self._reading is not None or self._now() - self._looked_at >= self._floor:
            if self._reading is None:
                self._looked_at = self._now()
            try:
                await self.refresh()
            except ProviderUnreachable as error:
                raise self.unavailable() from error
            known = self._known(kid)
            if known is not None:
                return known
        if self._trouble is not None:
            raise self.unavailable()
        raise refused("key", f"the provider {self.rules.id!r} publishes no key {kid[:100]!r}; get a new token from it")

    def unavailable(self) -> Refusal:
        """The refusal of whatever needs the provider while it is away."""
        return Refusal(
            Reason.REASON_IDENTITY_PROVIDER_UNAVAILABLE,
            f"the identity provider {self.rules.id!r} can't be reached, so tokens of it can't be verified; retry later",
            provider=self.rules.id,
        )

    async def keep_fresh(self) -> None:
        """Read again and again, until cancelled."""
        patience = _FIRST_RETRY_SECONDS
        while True:
            if self._published is None:
                await asyncio.sleep(patience)
                patience = min(patience * 2, _LAST_RETRY_SECONDS)
            else:
                await asyncio.sleep(REFRESH_SECONDS if self._trouble is None else _RETRY_SECONDS)
            try:
                await self.refresh()
            except ProviderUnreachable:
                continue  # logged where it was found out
            except Exception:  # noqa: BLE001 - a background loop outlives its bugs, which are logged
                _log.exception("reading an identity provider's keys failed", extra={"provider": self.rules.id})

    async def close(self) -> None:
        """End a reading that is under way."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    def _known(self, kid: str) -> SigningKey | None:
        if self._published is None or self._now() - self._read_at > KEPT_SECONDS:
            return None
        return self._published.keys.get(kid)

    async def _read(self) -> None:
        try:
            published = await self._fetch()
        except ProviderUnreachable as error:
            self._trouble = str(error)
            _log.warning("an identity provider can't be reached", extra={"provider": self.rules.id, "why": str(error)})
            raise
        if self._published is None or published.fingerprint != self._published.fingerprint:
            _log.info(
                "an identity provider's keys were read",
                extra={"provider": self.rules.id, "keys": sorted(published.keys)},
            )
        self._published, self._read_at, self._trouble = published, self._now(), None

    def _read_ended(self, task: asyncio.Task[None]) -> None:
        self._reading = None
        if not task.cancelled():
            task.exception()  # who waited has it; nobody may have waited
