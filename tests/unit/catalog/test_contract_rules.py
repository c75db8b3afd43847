"""The rules of contracts: what a change of metadata may do, as tables and views are promised."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_catalog.domain.contracts.contract import Contract, Rules, parsed, stored
from lakeward_catalog.domain.contracts.rules import broken_by_shape
from lakeward_catalog.domain.contracts.shapes import Shape, shape_of
from lakeward_catalog.domain.model import Kind
from lakeward_catalog.domain.names import NamespaceIdent
from lakeward_servicekit.errors import Reason, Refusal

ID = {"id": 1, "name": "id", "type": "long", "required": True}
NAME = {"id": 2, "name": "name", "type": "string", "required": False}
PRICE = {"id": 3, "name": "price", "type": "decimal(10, 2)", "required": False}
PLACE = {
    "id": 4,
    "name": "place",
    "required": False,
    "type": {"type": "struct", "fields": [{"id": 5, "name": "zip", "type": "int", "required": False}]},
}
TAGS = {
    "id": 6,
    "name": "tags",
    "required": False,
    "type": {"type": "list", "element-id": 7, "element": "int", "element-required": False},
}
ALL = (ID, NAME, PRICE, PLACE, TAGS)


def shape(*fields: Any, spec: Any = (), properties: Any = None) -> Shape:
    return shape_of(
        msgspec.json.encode(
            {
                "schemas": [
                    {"schema-id": 0, "fields": [{"id": 99, "name": "old", "type": "int", "required": False}]},
                    {"schema-id": 1, "fields": fields},
                ],
                "current-schema-id": 1,
                "partition-specs": [{"spec-id": 3, "fields": spec}],
                "default-spec-id": 3,
                "properties": properties or {},
            }
        )
    )


def rules(**promised: Any) -> Rules:
    return msgspec.convert({key.replace("_", "-"): value for key, value in promised.items()}, Rules)


@pytest.mark.parametrize(
    ("promised", "after", "says"),
    [
        ({"columns_stay": True}, (ID, NAME, PRICE, TAGS), "column 'place' stays, and would be dropped"),
        (
            {"columns_stay": True},
            (ID, NAME, PRICE, {**PLACE, "type": {"type": "struct", "fields": []}}, TAGS),
            "place.zip",
        ),
        (
            {"names_stay": True},
            (ID, {**NAME, "name": "label"}, PRICE, PLACE, TAGS),
            "keeps its name, and would be 'label'",
        ),
        (
            {"types_only_widen": True},
            ({**ID, "type": "int"}, NAME, PRICE, PLACE, TAGS),
            "of type long can't become int",
        ),
        ({"types_only_widen": True}, (ID, NAME, {**PRICE, "type": "decimal(9,2)"}, PLACE, TAGS), "decimal(9,2)"),
        ({"types_only_widen": True}, (ID, NAME, {**PRICE, "type": "decimal(12,3)"}, PLACE, TAGS), "decimal(12,3)"),
        ({"types_only_widen": True}, (ID, {**NAME, "type": PLACE["type"]}, PRICE, TAGS), "can't become struct"),
        ({"optional_stays": True}, (ID, {**NAME, "required": True}, PRICE, PLACE, TAGS), "would be required"),
        (
            {"optional_stays": True},
            (*ALL, {"id": 8, "name": "new", "type": "int", "required": True}),
            "older rows have no value",
        ),
        ({"required_columns": [{"name": "owner"}]}, (*ALL[:4],), "column 'owner' is missing"),
        ({"required_columns": [{"name": "id", "type": "string"}]}, ALL[:4], "is long; it has to be string"),
        ({"required_columns": [{"name": "name", "required": True}]}, ALL[:4], "has to be required"),
    ],
)
def test_what_a_schema_may_not_become_is_said(promised: Any, after: Any, says: str) -> None:
    problem = broken_by_shape(rules(**promised), Kind.TABLE, shape(*ALL), shape(*after))
    assert problem is not None
    assert says in problem
    assert broken_by_shape(Rules(), Kind.TABLE, shape(*ALL), shape(*after)) is None


@pytest.mark.parametrize(
    "after",
    [
        ALL,
        tuple(reversed(ALL)),
        (*ALL, {"id": 8, "name": "new", "type": "int", "required": False}),
        (*ALL, {"id": 8, "name": "new", "type": "int", "required": True, "initial-default": 0}),
        ({**ID, "required": False}, *ALL[1:]),
        (ID, NAME, {**PRICE, "type": "decimal(38,2)"}, PLACE, TAGS),
        (*ALL[:4], {**TAGS, "type": {**TAGS["type"], "element": "long"}}),  # type: ignore[dict-item]
        (
            *ALL,
            {
                "id": 8,
                "name": "new",
                "required": False,
                "type": {"type": "struct", "fields": [{"id": 9, "name": "x", "type": "int", "required": True}]},
            },
        ),
    ],
)
def test_what_keeps_every_promise_is_let_pass(after: Any) -> None:
    promised = rules(columns_stay=True, names_stay=True, types_only_widen=True, optional_stays=True)
    assert broken_by_shape(promised, Kind.TABLE, shape(*ALL), shape(*after)) is None


def test_what_was_there_before_its_contract_can_be_committed_to() -> None:
    promised = rules(required_columns=[{"name": "owner"}], allowed_partitionings=[["day(ts)"]])
    as_it_is = shape(*ALL)
    assert broken_by_shape(promised, Kind.TABLE, as_it_is, shape(*ALL, properties={"a": "b"})) is None
    assert broken_by_shape(promised, Kind.TABLE, None, as_it_is) is not None


@pytest.mark.parametrize(
    ("spec", "allowed"),
    [
        ([], True),
        ([{"transform": "bucket[16]", "source-id": 1}], True),
        ([{"transform": "bucket[16]", "source-ids": [1]}, {"transform": "void", "source-id": 2}], True),
        ([{"transform": "identity", "source-id": 2}], True),
        ([{"transform": "bucket[8]", "source-id": 1}], False),
        ([{"transform": "identity", "source-id": 2}, {"transform": "bucket[16]", "source-id": 1}], False),
    ],
)
def test_tables_are_partitioned_as_one_of_those_that_are_allowed(spec: Any, allowed: bool) -> None:
    promised = rules(allowed_partitionings=[[], ["bucket[16](id)"], ["name"]])
    problem = broken_by_shape(promised, Kind.TABLE, None, shape(*ALL, spec=spec))
    assert (problem is None) == allowed
    assert broken_by_shape(promised, Kind.VIEW, None, shape(*ALL, spec=spec)) is None


def test_properties_that_stay_are_neither_changed_nor_removed_and_may_be_set_first() -> None:
    promised, without = rules(properties_stay=["owner"]), shape(*ALL)
    owned = shape(*ALL, properties={"owner": "sales"})
    assert broken_by_shape(promised, Kind.TABLE, without, owned) is None
    assert broken_by_shape(promised, Kind.TABLE, owned, without) is not None
    assert broken_by_shape(promised, Kind.TABLE, owned, shape(*ALL, properties={"owner": "hr"})) is not None


def test_a_view_is_judged_by_the_schema_of_its_current_version() -> None:
    view = {
        "schemas": [{"schema-id": 0, "fields": ALL}, {"schema-id": 1, "fields": [ID]}],
        "versions": [{"version-id": 1, "schema-id": 0}, {"version-id": 2, "schema-id": 1}],
        "properties": {},
    }
    old, new = (shape_of(msgspec.json.encode({**view, "current-version-id": number})) for number in (1, 2))
    assert broken_by_shape(rules(columns_stay=True), Kind.VIEW, old, new) is not None
    assert broken_by_shape(rules(columns_stay=True), Kind.VIEW, new, old) is None


_fields = st.lists(
    st.builds(
        lambda number, name, kind, required: {
            "id": number,
            "name": f"{name}{number}",
            "type": kind,
            "required": required,
        },
        st.integers(1, 6),
        st.sampled_from("ab"),
        st.sampled_from(["int", "long", "float", "double", "string"]),
        st.booleans(),
    ),
    unique_by=lambda field: field["id"],
)


@given(before=_fields, after=_fields)
def test_readers_of_what_was_there_still_find_it(before: list[Any], after: list[Any]) -> None:
    promised = rules(columns_stay=True, names_stay=True, types_only_widen=True, optional_stays=True)
    if broken_by_shape(promised, Kind.TABLE, shape(*before), shape(*after)) is not None:
        return
    now = {field["name"]: field for field in after}
    for field in before:
        assert field["name"] in now
        assert now[field["name"]]["type"] in {field["type"], {"int": "long", "float": "double"}.get(field["type"])}
        assert not (now[field["name"]]["required"] and not field["required"])


@pytest.mark.parametrize(
    ("namespace", "names", "where", "name", "concerned"),
    [
        ((), (), ("sales",), "orders", True),
        (("sales",), (), ("Sales",), "orders", True),
        (("sales",), (), ("sales", "eu"), "orders", True),
        (("sales", "eu"), (), ("sales",), "orders", False),
        (("sales",), (), ("salesroom",), "orders", False),
        (("sales",), ("ORDERS",), ("sales",), "orders", True),
        (("sales",), ("items",), ("sales",), "orders", False),
    ],
)
def test_a_contract_counts_in_its_namespace_and_below(
    namespace: Any, names: Any, where: Any, name: str, concerned: bool
) -> None:
    contract = Contract(name="c", namespace=namespace, names=names)
    assert contract.concerns(NamespaceIdent.of(where), name) == concerned


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (b"{}", "the list of contracts can't be set: Expected `array`"),
        (b'[{"name": "a"}]', "contract 'a' can't be set: it has neither a rule nor a checker"),
        (b'[{"name": "a", "rules": {"column-stays": true}}]', "unknown field `column-stays`"),
        (b'[{"name": "a b", "rules": {"columns-stay": true}}]', "matching regex"),
        (
            b'[{"name": "a", "checkers": ["nobody"]}]',
            "checker 'nobody' is not in the settings; those that are: approval",
        ),
        (b'[{"name": "a", "checkers": ["approval"]}, {"name": "a", "checkers": ["approval"]}]', "two of this name"),
        (b'[{"name": "a", "rules": {"refused-operations": ["destroy"]}}]', "Invalid enum value 'destroy'"),
    ],
)
def test_contracts_that_can_not_be_are_refused_with_what_is_wrong(document: bytes, says: str) -> None:
    with pytest.raises(Refusal) as refused:
        parsed(document, checkers={"approval"})
    assert refused.value.reason == Reason.REASON_INVALID_CONTRACT
    assert says in refused.value.message


def test_what_is_stored_reads_as_it_was_set() -> None:
    wanted = parsed(b'[{"name": "a", "namespace": ["x"], "rules": {"allowed-partitionings": [[]]}}]', checkers=())
    assert stored(msgspec.json.encode(wanted)) == wanted
