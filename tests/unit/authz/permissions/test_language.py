from __future__ import annotations

import pytest

from lakeward_authz.domain.permissions.compiled import Model
from lakeward_authz.domain.permissions.language import (
    AllOf,
    AnyOf,
    Computed,
    Direct,
    Except,
    MalformedModel,
    Restriction,
    Rule,
    Through,
    parse,
)

HEAD = """
model
  schema 1.1
# a remark
type user
type role
  relations
    define assignee: [user, role#assignee]
type box
  relations
    define parent: [box]
    define a: [user]
    define b: [user]
"""
A, B = Computed("a"), Computed("b")


@pytest.mark.parametrize(
    ("expression", "rule"),
    [
        ("[user]", Direct((Restriction("user"),))),
        (
            "[user, role#assignee, user:*]",
            Direct((Restriction("user"), Restriction("role", "assignee"), Restriction("user", wildcard=True))),
        ),
        ("a", A),
        ("a from parent", Through("a", "parent")),
        ("a or b or a from parent", AnyOf((A, B, Through("a", "parent")))),
        ("a and b", AllOf((A, B))),
        ("a but not b", Except(A, B)),
        ("a or (b but not a) or (a and b)", AnyOf((A, Except(B, A), AllOf((A, B))))),
        ("(a or b) and a", AllOf((AnyOf((A, B)), A))),
    ],
)
def test_an_expression_reads_as_its_rule(expression: str, rule: Rule) -> None:
    assert parse(f"{HEAD}    define c: {expression}")["box"]["c"] == rule


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("define c: ", "too early"),
        ("define c: a or", "too early"),
        ("define c: a or b and a", "parentheses"),
        ("define c: a but b", "'not'"),
        ("define c: (a or b", "too early"),
        ("define c: [user", "too early"),
        ("define c: a b", "'b' follows"),
        ("define c: a; b", "not of the language"),
        ("define c: or", "should"),
        ("define c: missing", "names missing"),
        ("define c: a from missing", "names a from missing"),
        ("define c: missing from parent", "names missing from parent"),
        ("define c: [nobody]", "names nobody"),
        ("define c: [role#missing]", "names role#missing"),
        ("define a: b", "new relation"),
        ("type box", "new relation"),
        ("condition c", "neither"),
    ],
)
def test_what_is_no_model_is_refused_with_what_is_wrong(line: str, why: str) -> None:
    with pytest.raises(MalformedModel, match=why):
        parse(f"{HEAD}    {line}")


def test_a_relation_does_not_follow_from_itself() -> None:
    with pytest.raises(MalformedModel, match="follow from themselves"):
        Model(parse(f"{HEAD}    define c: d\n    define d: c"))


def test_an_object_has_one_place() -> None:
    more = "    define other: [box]\n    define c: a from parent or b from other"
    with pytest.raises(MalformedModel, match="one place"):
        Model(parse(HEAD + more))


def test_an_exception_is_worked_out_before_what_needs_it() -> None:
    model = Model(parse(f"{HEAD}    define c: d or a\n    define d: b but not a"))
    box = model.types["box"]
    assert box.names(model.held(box.index, box.mask("b"), -1, 0)) == {"b", "c", "d"}
    assert box.names(model.held(box.index, box.mask("a", "b"), -1, 0)) == {"a", "b", "c"}
