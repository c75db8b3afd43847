"""What may be a name."""

from __future__ import annotations

import pytest

from lakeward_catalog.domain import names
from lakeward_catalog.domain.model import Kind
from lakeward_catalog.domain.names import (
    MAX_NAME_BYTES,
    MAX_SOUGHT,
    NamespaceIdent,
    TabularIdent,
    check_new_name,
    name_key,
)
from lakeward_catalog.transport import decode
from lakeward_catalog.transport.probing import looked_for
from lakeward_protocol.catalog.v1 import types_pb2
from lakeward_servicekit.errors import Reason, Refusal

LONG = "x" * 10_000_000
N = types_pb2.NamespaceIdent(parts=["n"])


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


class Untouched:
    """Stands for unicodedata; what asks it anything fails."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"unicodedata.{name} was asked of a text that is too long")


@pytest.fixture
def _unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert NamespaceIdent.of(("n",)).key == "n"  # which is remembered
    monkeypatch.setattr(names, "unicodedata", Untouched())


@pytest.mark.usefixtures("_unfolded")
def test_a_name_of_ten_megabytes_is_refused_before_it_is_folded_or_looked_at_by_character() -> None:
    for take in (
        lambda: check_new_name(LONG),
        lambda: NamespaceIdent.of((LONG,)),
        lambda: looked_for(
            Kind.TABLE, types_pb2.TabularIdent(namespace=types_pb2.NamespaceIdent(parts=[LONG] * 2), name="t")
        ),
        lambda: NamespaceIdent.of(tuple("x" * 1_000_000)),
    ):
        with pytest.raises(Refusal) as refused:
            take()
        assert len(str(refused.value)) < 3000
        assert all(len(value) < 3000 for value in refused.value.metadata.values())


def test_of_a_name_that_is_looked_for_the_beginning_alone_is_folded() -> None:
    """It is more than anything can be called, so nothing is found."""
    assert name_key(LONG.upper()) == "x" * MAX_SOUGHT
    sought = types_pb2.TabularIdent(namespace=N, name=LONG)
    assert TabularIdent(NamespaceIdent(("n",)), LONG).key == ("n", "x" * MAX_SOUGHT)
    for ident in (decode.tabular_ident(sought), looked_for(Kind.TABLE, sought)):
        assert ident.key == ("n", "x" * MAX_SOUGHT)
    with pytest.raises(Refusal):
        check_new_name("x" * MAX_SOUGHT)


def test_a_name_is_as_long_as_its_utf_8_is() -> None:
    check_new_name("\U0001f600" * (MAX_NAME_BYTES // 4))
    with pytest.raises(Refusal, match="longer than 255 bytes"):
        check_new_name("\U0001f600" * (MAX_NAME_BYTES // 4 + 1))
