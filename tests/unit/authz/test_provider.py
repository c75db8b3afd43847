"""A provider's keys are read when needed, together, and not at a stranger's command."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from types import SimpleNamespace

import pytest

from lakeward_authz.adapters.oidc.discovery import ProviderUnreachable, Published
from lakeward_authz.adapters.oidc.provider import KEPT_SECONDS, Provider
from lakeward_authz.adapters.oidc.signing_keys import SigningKey
from lakeward_authz.domain.provider_rules import ProviderRules
from lakeward_servicekit.errors import Reason, Refusal

RULES = ProviderRules(
    "oidc", "https://idp", None, frozenset(), None, ("sub",), None, None, timedelta(seconds=60), required_at_start=True
)


def published(*kids: str) -> Published:
    keys = {kid: SigningKey(kid, object(), ("RS256",), kid) for kid in kids}
    return Published("https://idp", keys, ",".join(kids))


class Idp:
    def __init__(self, *kids: str) -> None:
        self.kids = kids
        self.down = False
        self.reads = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.now = 1000.0

    async def fetch(self) -> Published:
        self.reads += 1
        await self.gate.wait()
        if self.down:
            raise ProviderUnreachable("it is down")
        return published(*self.kids)

    def provider(self) -> Provider:
        return Provider(RULES, self.fetch, now=lambda: self.now)


async def reason_of(provider: Provider, kid: str) -> int:
    with pytest.raises(Refusal) as refusal:
        await provider.key(kid)
    return refusal.value.reason


async def test_a_rotated_key_is_found_at_once() -> None:
    idp = Idp("old")
    provider = idp.provider()
    await provider.refresh()
    idp.kids = ("old", "new")
    assert (await provider.key("new")).kid == "new"
    assert idp.reads == 2


async def test_made_up_keys_cost_one_read_an_interval() -> None:
    idp = Idp("k")
    provider = idp.provider()
    await provider.refresh()
    for attempt in range(100):
        assert await reason_of(provider, f"made-up-{attempt}") == Reason.REASON_TOKEN_REFUSED
    assert idp.reads == 2
    idp.now += 10
    await reason_of(provider, "again")
    assert idp.reads == 3


async def test_known_keys_need_no_read_even_in_a_flood() -> None:
    idp = Idp("k")
    provider = idp.provider()
    await provider.refresh()
    await reason_of(provider, "x")
    assert (await provider.key("k")).kid == "k"
    assert idp.reads == 2


async def test_all_who_miss_a_key_wait_for_one_read_and_one_who_leaves_does_not_end_it() -> None:
    idp = Idp("k")
    provider = idp.provider()
    idp.gate.clear()
    waiting = [asyncio.create_task(provider.key("k")) for _ in range(50)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.sleep(0)
    idp.gate.set()
    found = await asyncio.gather(*waiting[1:])
    assert idp.reads == 1
    assert {key.kid for key in found} == {"k"}


async def test_without_an_answer_a_missing_key_is_not_said_to_be_missing() -> None:
    idp = Idp("k")
    provider = idp.provider()
    await provider.refresh()
    idp.down = True
    assert await reason_of(provider, "new") == Reason.REASON_IDENTITY_PROVIDER_UNAVAILABLE
    assert await reason_of(provider, "new") == Reason.REASON_IDENTITY_PROVIDER_UNAVAILABLE
    assert idp.reads == 2
    assert (await provider.key("k")).kid == "k", "known keys outlive an outage"


async def test_withdrawn_keys_end_with_the_next_read_and_unread_ones_after_a_day() -> None:
    idp = Idp("k")
    provider = idp.provider()
    await provider.refresh()
    idp.now += KEPT_SECONDS + 1
    idp.down = True
    assert await reason_of(provider, "k") == Reason.REASON_IDENTITY_PROVIDER_UNAVAILABLE
    idp.down, idp.kids = False, ("other",)
    idp.now += 10
    assert await reason_of(provider, "k") == Reason.REASON_TOKEN_REFUSED


async def test_the_fingerprint_changes_with_the_keys_and_only_then() -> None:
    idp = Idp("k")
    provider = idp.provider()
    seen = [provider.fingerprint]
    for kids in [("k",), ("k",), ("k", "l")]:
        idp.kids = kids
        await provider.refresh()
        seen.append(provider.fingerprint)
    assert seen[0] != seen[1] == seen[2] != seen[3]


async def test_a_provider_that_comes_back_is_found_in_the_background(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    idp = Idp("k")
    idp.down = True
    provider = idp.provider()
    slept: list[float] = []
    real_sleep = asyncio.sleep

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 4:
            idp.down = False
        await real_sleep(0)

    # one module's name for it and not asyncio's own: loops in other tests' threads sleep by it as well
    slow = SimpleNamespace(**{**vars(asyncio), "sleep": sleep})
    monkeypatch.setattr("lakeward_authz.adapters.oidc.provider.asyncio", slow)
    with caplog.at_level(logging.WARNING):
        task = asyncio.create_task(provider.keep_fresh())
        while len(slept) < 6:
            await real_sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert slept[:6] == [1, 2, 4, 8, 3600, 3600]
    assert provider.issuers == frozenset({"https://idp"})
    assert {record.message for record in caplog.records} == {"an identity provider can't be reached"}


async def test_closing_ends_a_read_that_is_under_way() -> None:
    idp = Idp("k")
    provider = idp.provider()
    idp.gate.clear()
    waiting = asyncio.create_task(provider.refresh())
    await asyncio.sleep(0)
    await provider.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
