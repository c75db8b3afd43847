"""Every suite may ask for the real components; each is started when a test first needs it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tests.support.shares import place_of, share_of

if TYPE_CHECKING:
    from xdist.remote import Producer

pytest_plugins = ["tests.support.components", "tests.support.lakeward"]

# The processes that tests start keep what Python compiled; without that most of their start is to compile it again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# How long an example takes says how busy the machine is, and nothing of what is tested. The rest is Hypothesis's own
# profile, which makes up the same examples each time where `CI` is set.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


class _Shares(LoadScopeScheduling):
    """Hands whole shares to workers, in the order of `place_of`."""

    def _split_scope(self, nodeid: str) -> str:
        return share_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> _Shares:
    config.option.loadscopereorder = False
    return _Shares(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A worker's tests in the order of their shares; in one process they stay as fixtures of a session want them."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: place_of(share_of(item.nodeid)))
