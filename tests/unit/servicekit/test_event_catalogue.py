"""The page of events has each event of the contract, with an example that keeps to it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from google.protobuf.json_format import ParseDict
from google.protobuf.message_factory import GetMessageClass

from tests.support.event_contracts import PAYLOADS, payloads

PAGE = Path(__file__).parents[3] / "docs" / "events.md"
EXAMPLES = dict(re.findall(r"^#### `([a-z.-]+)`\n.*?^```json\n(.*?)\n```$", PAGE.read_text(), re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize(("kind", "verb"), PAYLOADS)
def test_each_event_is_on_the_page_with_an_example_of_every_member(kind: str, verb: str) -> None:
    payload, example = PAYLOADS[kind, verb], json.loads(EXAMPLES[f"{kind}.{verb}"])
    ParseDict(example, GetMessageClass(payload)())
    assert example.keys() == {field.json_name for field in payload.fields}


def test_no_two_payloads_are_of_one_event() -> None:
    assert len(PAYLOADS) == len([*payloads()]) == len(EXAMPLES)
