"""Ids that are made here are what they are said to be."""

from __future__ import annotations

import time
import uuid

from lakeward_servicekit.system import SystemIds, request_id


def test_ids_are_uuids_of_version_7_that_begin_with_the_time_and_differ() -> None:
    made = [*(uuid.UUID(request_id()) for _ in range(100)), *(SystemIds().uuid7() for _ in range(100))]
    now = time.time_ns() // 1_000_000
    assert {(each.version, each.variant) for each in made} == {(7, uuid.RFC_4122)}
    assert {abs((each.int >> 80) - now) < 60_000 for each in made} == {True}
    assert len(set(made)) == 200


def test_a_request_id_is_a_uuid_in_its_usual_form() -> None:
    made = request_id()
    assert made == str(uuid.UUID(made))
