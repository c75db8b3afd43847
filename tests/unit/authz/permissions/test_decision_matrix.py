"""The decision matrix, by the compiled model."""

from __future__ import annotations

import pytest

from lakeward_authz.domain.permissions.lakeward import MODEL
from tests.support.authz_matrix import MATRIX, SUBJECTS, fixture


@pytest.mark.parametrize("name", MATRIX)
def test_exactly_the_subjects_of_the_matrix_may(name: str) -> None:
    world = fixture()
    may = {subject: world.may(f"user:{subject}", name) for subject in SUBJECTS}
    found = {action: {subject for subject in SUBJECTS if action in may[subject]} for action in MATRIX[name]}
    assert found == MATRIX[name]


def test_the_matrix_has_every_action_of_every_object() -> None:
    world = fixture()
    for name, actions in MATRIX.items():
        found = MODEL.types[world.nodes[name].key.type]
        assert {relation for relation in found.bits if relation.startswith("can_")} == set(actions), name


def test_an_assumed_owner_role_writes_below_managed_access_and_neither_grants_nor_moves() -> None:
    world = fixture()
    for name in ("ns_2_1", "ns_2_2", "table_2_2", "generic_2_2"):
        assert world.may("role:R", name) - world.may("user:N21", name) == set()
        assert world.may("user:N21", name) - world.may("role:R", name) == set()
    assert "can_grant_select" not in world.may("role:R", "ns_2_1")
    assert "can_move" not in world.may("role:R", "ns_2_1")
    assert "can_create_table" in world.may("role:R", "ns_2_1")
