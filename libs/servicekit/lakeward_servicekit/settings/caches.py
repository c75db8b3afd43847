"""Caches whose size is the operator's to choose."""

from __future__ import annotations

from datetime import timedelta

from lakeward_servicekit.settings.model import Settings, named


class CacheSettings(Settings):
    """Caches. A credential's time to live of None means half its life, at most an hour."""

    credentials_enabled: bool = named("CACHE__STC__ENABLED")
    credentials_capacity: int = named("CACHE__STC__CAPACITY")
    credentials_time_to_live: timedelta | None = named("CACHE__STC__TIME_TO_LIVE_SECS")
