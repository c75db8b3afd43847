"""Entity tags: whom they tell apart, and how long they hold."""

from __future__ import annotations

import dataclasses
import itertools
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_catalog.application.caller import Delegation
from lakeward_catalog.application.ports.access import Access
from lakeward_catalog.application.tables import etags
from lakeward_catalog.domain.model import MetadataId
from tests.support.catalog.values import NOON, a_namespace, a_project, a_tabular, a_warehouse, uuid7

WAREHOUSE = a_warehouse(a_project())
TABLE = a_tabular(a_namespace(WAREHOUSE, "sales"))
SHAPE = "0123456789abcdef"
MILLISECOND = timedelta(milliseconds=1)

REPLIES = st.fixed_dictionaries(
    {
        "metadata_id": st.sampled_from([TABLE.metadata_id, MetadataId(uuid7())]),
        "references": st.booleans(),
        "level": st.sampled_from([None, *Access]),
        "row_version": st.integers(1, 12),
        "delegation": st.frozensets(st.sampled_from(list(Delegation))),
        "base_uri": st.sampled_from(["", "http://lake", "http://lake/2"]),
    }
)


def shape(reply: dict[str, Any]) -> str:
    table = dataclasses.replace(TABLE, metadata_id=reply["metadata_id"])
    if reply["level"] is None:
        return etags.without_access(table, references=reply["references"])
    return etags.with_access(
        table,
        dataclasses.replace(WAREHOUSE, row_version=reply["row_version"]),
        reply["level"],
        delegation=reply["delegation"],
        base_uri=reply["base_uri"],
        references=reply["references"],
    )


def seen(reply: dict[str, Any]) -> tuple[Any, ...]:
    """What a reply shows: without access, only the metadata."""
    bare = (reply["metadata_id"], reply["references"])
    if reply["level"] is None:
        return bare
    return (*bare, reply["level"], reply["row_version"], reply["delegation"], reply["base_uri"])


@given(REPLIES, REPLIES)
def test_two_replies_share_a_shape_exactly_when_they_show_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert (shape(one) == shape(other)) is (seen(one) == seen(other))


def test_replies_that_differ_in_one_thing_never_share_a_tag() -> None:
    base: dict[str, Any] = {
        "metadata_id": TABLE.metadata_id,
        "references": False,
        "level": Access.READ,
        "row_version": 1,
        "delegation": frozenset[Delegation](),
        "base_uri": "http://lake",
    }
    changes: list[dict[str, Any]] = [
        {},
        {"metadata_id": MetadataId(uuid7())},
        {"references": True},
        {"level": None},
        {"level": Access.READ_WRITE_DELETE},
        {"row_version": 2},
        {"delegation": frozenset({Delegation.VENDED_CREDENTIALS})},
        {"delegation": frozenset({Delegation.REMOTE_SIGNING})},
        {"base_uri": "http://other"},
    ]
    tags = [etags.tag(shape(base | change), expires_at=None, now=NOON) for change in changes]
    assert all(one != other for one, other in itertools.combinations(tags, 2))


def test_the_order_in_which_a_client_names_what_it_accepts_does_not_count() -> None:
    words = [Delegation.VENDED_CREDENTIALS, Delegation.REMOTE_SIGNING, Delegation.CLIENT_MANAGED]
    shapes = {
        etags.with_access(TABLE, WAREHOUSE, Access.READ, delegation=frozenset(order), base_uri="", references=False)
        for order in itertools.permutations(words)
    }
    assert len(shapes) == 1


@pytest.mark.parametrize(
    ("life", "holds"),
    [
        (timedelta(minutes=10), timedelta(minutes=5)),
        (timedelta(hours=2), timedelta(hours=1)),
        (timedelta(hours=12), timedelta(hours=1)),
    ],
)
def test_a_tag_holds_for_half_of_a_credentials_life_or_an_hour(life: timedelta, holds: timedelta) -> None:
    tag = etags.tag(SHAPE, expires_at=NOON + life, now=NOON)
    assert etags.matching([tag], SHAPE, now=NOON + holds - MILLISECOND) == tag
    assert etags.matching([tag], SHAPE, now=NOON + holds) is None


@given(st.timedeltas(min_value=timedelta(hours=-1), max_value=timedelta(days=2)))
def test_no_tag_outlives_its_credential(life: timedelta) -> None:
    tag = etags.tag(SHAPE, expires_at=NOON + life, now=NOON)
    assert etags.matching([tag], SHAPE, now=NOON + max(life, timedelta())) is None


def test_a_tag_without_a_credential_holds_as_long_as_the_shape() -> None:
    tag = etags.tag(SHAPE, expires_at=None, now=NOON)
    assert etags.matching([tag], SHAPE, now=NOON + timedelta(days=9000)) == tag
    assert etags.matching([tag], SHAPE[::-1], now=NOON) is None


@pytest.mark.parametrize(
    "presented",
    [
        f'"{SHAPE}"',
        f'W/"lk2.{SHAPE}"',
        f'W/"lw0.{SHAPE}"',
        f"lw1.{SHAPE}",
        f'W/"lw1.{SHAPE.upper()}"',
        f'W/"lw1.{SHAPE}."',
        f'W/"lw1.{SHAPE}.zz"',
        f'W/"lw1.{SHAPE}.{"f" * 17}"',
        f'W/"lw1.{SHAPE}" x',
        f'w/"lw1.{SHAPE}"',
        "",
        "**",
    ],
)
def test_a_tag_of_another_make_never_holds(presented: str) -> None:
    assert etags.matching([presented], SHAPE, now=NOON) is None


@pytest.mark.parametrize("mine", [f'W/"lw1.{SHAPE}"', f'"lw1.{SHAPE}"', f' W/"lw1.{SHAPE}" '])
def test_a_tag_among_others_is_found_weak_or_strong(mine: str) -> None:
    others = ['W/"foreign"', f'W/"lw1.{SHAPE[::-1]}"', f'W/"lw1.{SHAPE}.1"']
    assert etags.matching([*others, mine], SHAPE, now=NOON) == mine.strip()
    assert etags.matching(others, SHAPE, now=NOON) is None


def test_any_is_answered_with_the_tag_of_what_is_there() -> None:
    assert etags.matching(["*"], SHAPE, now=NOON) == f'W/"lw1.{SHAPE}"'
