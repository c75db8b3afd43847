"""What may be a name."""

from __future__ import annotations

import pytest

from lakeward.catalog.domain.names import MAX_NAME_BYTES, NamespaceIdent, check_new_name, name_key
from lakeward.servicekit.errors import Reason, Refusal


@pytest.mark.parametrize(
    "name", ["a\nb", "a\x00", "a\x1fb", "\x7f", "a\u0378", "\ud800", "a+b", "x" * (MAX_NAME_BYTES + 1), "é" * 128]
)
def test_a_name_of_control_or_unassigned_characters_or_too_long_is_refused(name: str) -> None:
    with pytest.raises(Refusal) as of_a_table:
        check_new_name(name)
    with pytest.raises(Refusal) as of_a_namespace:
        NamespaceIdent.of(("a", name))
    assert of_a_table.value.reason == Reason.REASON_INVALID_TABULAR_NAME
    assert of_a_namespace.value.reason == Reason.REASON_INVALID_NAMESPACE


@pytest.mark.parametrize("name", ["a.b", "a/b", "a b", "Ωmega", "👩‍🔬", "x" * MAX_NAME_BYTES])
def test_any_other_name_may_be_given_to_a_table(name: str) -> None:
    check_new_name(name)


@pytest.mark.parametrize(("one", "other"), [("Orders", "oRDERS"), ("STRASSE", "straße"), ("é", "e\u0301")])
def test_names_compare_without_case_and_by_what_they_show(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


def test_accents_count() -> None:
    assert name_key("resume") != name_key("résumé")
