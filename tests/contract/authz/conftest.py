"""Authz's own database for contract suites."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.authz_stores import Stores, opened


@pytest.fixture
async def stores(postgres_url: str) -> AsyncIterator[Stores]:
    """Empty ones."""
    async with opened(postgres_url) as made:
        yield made
