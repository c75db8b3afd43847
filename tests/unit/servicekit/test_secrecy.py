"""A secret is seen by nobody who does not ask for it."""

from __future__ import annotations

import dataclasses
import json
import traceback

import pytest

from lakeward_servicekit.secrecy import SecretStr


def test_a_secret_is_masked_however_it_is_printed() -> None:
    @dataclasses.dataclass(frozen=True)
    class Holder:
        secret: SecretStr

    secret = SecretStr("hunter2")
    printed = [
        str(secret),
        repr(secret),
        f"{secret}",
        f"{secret!r}",
        repr(Holder(secret)),
        str([secret]),
    ]
    assert [text for text in printed if "hunter2" in text or "**********" not in text] == []


def test_a_secret_is_not_in_the_traceback_of_what_failed_over_it() -> None:
    text = "hunter" + str(2)
    with pytest.raises(TypeError) as failed:
        json.dumps({"password": SecretStr(text)})
    assert text not in "".join(traceback.format_exception(failed.value))


def test_an_empty_secret_is_seen_to_be_empty() -> None:
    assert str(SecretStr("")) == ""


def test_secrets_are_equal_where_their_texts_are_and_equal_no_text() -> None:
    assert SecretStr("one") == SecretStr("one") != SecretStr("two")
    assert SecretStr("one") != "one"
    assert len({SecretStr("one"), SecretStr("one"), SecretStr("two")}) == 2


def test_whoever_needs_a_secret_asks_for_it() -> None:
    assert SecretStr("hunter2").get_secret_value() == "hunter2"
