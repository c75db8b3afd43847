from __future__ import annotations

import asyncio
import logging

import pytest

from lakeward_catalog.application.metadata_files import to_the_end


class Lost(Exception):  # noqa: N818 - what a loop around the work expects
    """Heard by who awaits."""


async def test_what_a_caller_hears_itself_is_not_logged_as_failed(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        await asyncio.sleep(0)
        raise Lost

    with pytest.raises(Lost):
        await to_the_end(work())
    assert not caplog.records


async def test_work_goes_on_when_its_caller_is_gone_and_its_failure_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    begun, go_on, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        await go_on.wait()
        ended.set()
        raise Lost

    caller = asyncio.ensure_future(to_the_end(work()))
    await begun.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    with caplog.at_level(logging.ERROR):
        go_on.set()
        await ended.wait()
        while not caplog.records:
            await asyncio.sleep(0)
    assert [record.message for record in caplog.records] == ["background work failed"]
