"""Types, defaults and transforms, one by one."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward_catalog.domain.iceberg.defaults import check_default
from lakeward_catalog.domain.iceberg.documents import Invalid
from lakeward_catalog.domain.iceberg.transforms import parse_transform
from lakeward_catalog.domain.iceberg.types import parse_primitive


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("LONG", "long"),
        ("fixed[16]", "fixed[16]"),
        ("fixed[ 16 ]", "fixed[16]"),
        ("decimal(9,2)", "decimal(9, 2)"),
        ("decimal( 38 , 38 )", "decimal(38, 38)"),
        ("timestamptz_ns", "timestamptz_ns"),
        ("geometry", "geometry"),
        ("geometry(OGC:CRS84)", "geometry(OGC:CRS84)"),
        ("geography(EPSG:4326, Vincenty)", "geography(EPSG:4326, vincenty)"),
        ("geography(EPSG:4326)", "geography(EPSG:4326)"),
        ("variant", "variant"),
    ],
)
def test_a_type_has_one_spelling(text: str, canonical: str) -> None:
    assert parse_primitive(text).text == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        "strin",
        "decimal",
        "decimal(0,0)",
        "decimal(39,1)",
        "decimal(2,3)",
        "fixed",
        "fixed[-1]",
        "geometry()",
        "geography(a, flat)",
    ],
)
def test_what_is_not_a_type_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        parse_primitive(text)


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("boolean", [True, False], [0, "true"]),
        ("int", [0, -(2**31), 2**31 - 1], [2**31, 1.0, "1", True]),
        ("long", [2**63 - 1], [2**63, 1.5]),
        ("float", [1, 1.5], ["1.5", True]),
        ("double", [1e300], ["NaN"]),
        ("decimal(4,2)", ["1.50", "-12.34"], ["1.5", 1.5, "123.45", "x", ""]),
        ("decimal(9,0)", ["12"], ["12.0"]),
        ("date", ["2017-11-16"], ["2017-13-16", "16.11.2017", 17]),
        ("time", ["22:31:08.123456", "22:31:08"], ["22:31", "22:31:08.1234567"]),
        ("timestamp", ["2017-11-16T22:31:08.123456"], ["2017-11-16T22:31:08+00:00", "2017-02-30T22:31:08"]),
        (
            "timestamptz",
            ["2017-11-16T22:31:08.123456+00:00"],
            ["2017-11-16T22:31:08.123456", "2017-11-16T22:31:08+01:00"],
        ),
        ("timestamp_ns", ["2017-11-16T22:31:08.123456789"], ["2017-11-16"]),
        ("timestamptz_ns", ["2017-11-16T22:31:08.123456789+00:00"], ["2017-11-16T22:31:08.123456789"]),
        ("string", ["", "anything"], [1, None]),
        ("uuid", ["f79c3e09-677c-4bbd-a479-3f349cb785e7"], ["f79c3e09", "{f79c3e09-677c-4bbd-a479-3f349cb785e7}"]),
        ("fixed[2]", ["00ff"], ["00", "0", "zzzz"]),
        ("binary", ["", "00FF"], ["0", "xx"]),
        ("variant", [], [1]),
        ("geometry", [], ["POINT (1 1)"]),
        ("unknown", [], [1]),
    ],
)
def test_a_default_is_a_json_value_of_its_type(kind: str, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        check_default(parse_primitive(kind), value)
    for value in bad:
        with pytest.raises(Invalid):
            check_default(parse_primitive(kind), value)


def test_a_nested_column_has_no_default() -> None:
    with pytest.raises(Invalid):
        check_default(None, {})


@pytest.mark.parametrize(
    ("text", "kind", "canonical"),
    [
        ("Identity", "identity", "identity"),
        ("bucket[0016]", "bucket", "bucket[16]"),
        ("truncate[2147483647]", "truncate", "truncate[2147483647]"),
        ("truncate[2147483648]", None, "truncate[2147483648]"),
        ("bucket[0]", None, "bucket[0]"),
        ("years", None, "years"),
        ("void", "void", "void"),
    ],
)
def test_a_transform_has_one_spelling_and_an_unknown_one_keeps_its_own(
    text: str, kind: str | None, canonical: str
) -> None:
    known = parse_transform(text)
    assert (known.kind, known.text) == (kind, canonical)
