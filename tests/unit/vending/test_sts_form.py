"""The form that an STS is asked with is the standard library's, byte for byte."""

from __future__ import annotations

from urllib.parse import quote_plus

from hypothesis import example, given
from hypothesis import strategies as st

from lakeward_vending.adapters.s3.sts import quoted


@given(st.text(st.characters(codec="utf-8")))
@example("%41")
@example("+ ")
@example(" +")
def test_a_value_is_quoted_as_forms_are(text: str) -> None:
    assert quoted(text) == quote_plus(text).encode()
