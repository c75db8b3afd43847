"""What a refusal repeats of what callers wrote has a bound, wherever it is made."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lakeward_servicekit.errors import MAX_MESSAGE, MAX_VALUE, Reason, Refusal, invalid_field

# of one to four bytes each, so that a cut falls inside of some
TEXT = st.text(st.sampled_from("a\u00e9\u20ac\U0001f600"), max_size=50)
LONG = st.builds(lambda text, times: text * times, TEXT, st.integers(0, 300))


@given(message=LONG, value=LONG)
def test_message_and_values_are_whole_or_lose_their_middle(message: str, value: str) -> None:
    refusal = Refusal(Reason.REASON_INVALID_FIELD, message, field="name", value=value)
    for sent, shown, limit in (
        (message, refusal.message, MAX_MESSAGE),
        (value, refusal.metadata["value"], MAX_VALUE),
    ):
        if len(sent.encode()) <= limit:
            assert shown == sent
        else:
            assert limit - 8 <= len(shown.encode()) <= limit
            head, _, tail = shown.partition(" [...] ")
            assert sent.startswith(head)
            assert sent.endswith(tail)
            assert len(head) > len(tail) > 0
    assert str(refusal) == f"INVALID_FIELD: {refusal.message}"


@given(value=LONG)
def test_the_refusal_of_a_field_ends_with_what_would_be_right(value: str) -> None:
    assert invalid_field("name", value, "a UUID").message.endswith("it must be a UUID")
