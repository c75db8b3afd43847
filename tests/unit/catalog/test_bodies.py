"""How large a body may be."""

from __future__ import annotations

import pytest

from lakeward_catalog.domain.bodies import MAX_TEXT, text_of
from lakeward_servicekit.deflated import Deflated, deflate
from lakeward_servicekit.errors import Reason, Refusal


def test_a_part_within_the_limit_is_its_text() -> None:
    assert text_of(deflate(b"text")) == b"text"


def test_a_part_that_says_it_is_too_long_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        text_of(Deflated(b"", 0, MAX_TEXT + 1))
    assert (refused.value.reason, refused.value.metadata["limit"]) == (Reason.REASON_TOO_LARGE, str(MAX_TEXT))
