"""A gateway over fake services, for each test its own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.unit.gateway.fakes import World, world


@pytest.fixture
async def served() -> AsyncIterator[World]:
    async with world() as made:
        yield made
