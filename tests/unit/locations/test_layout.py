from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lakeward_locations import Layout, LayoutError, LayoutKind, Location, LocationError, Named
from lakeward_locations.layout import escape_name

BASE = Location.parse("s3://abc/wh")
ONE, TWO, THREE = (
    Named(name, UUID(int=number)) for number, name in enumerate(("grand parent", "parent", "my tabular"), 1)
)


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (None, [str(THREE.uuid)]),
        ({"type": "default"}, [str(THREE.uuid)]),
        ({"type": "tabular-only", "tabular": "{name}-{uuid}"}, [f"my%20tabular-{THREE.uuid}"]),
        (
            {"type": "full-hierarchy", "namespace": "{name}", "tabular": "t-{uuid}"},
            ["grand%20parent", "parent", f"t-{THREE.uuid}"],
        ),
    ],
)
def test_each_layout_puts_a_tabular_where_the_reference_says(document: object, path: list[str]) -> None:
    layout = Layout.parse(document)
    namespace = layout.namespace_location(BASE, (ONE, TWO))
    assert list(layout.tabular_location(namespace, THREE).segments[len(BASE.segments) :]) == path


@pytest.mark.parametrize(
    "document",
    [
        "default",
        {},
        {"type": "flat"},
        {"type": "default", "tabular": "{uuid}"},
        {"type": "tabular-only"},
        {"type": "tabular-only", "tabular": "{name}"},
        {"type": "tabular-only", "tabular": "../{uuid}"},
        {"type": "tabular-only", "tabular": "a/{uuid}"},
        {"type": "tabular-only", "tabular": "%2F{uuid}"},
        {"type": "tabular-only", "tabular": "{uuid}?"},
        {"type": "tabular-only", "tabular": "{uuid}{id}"},
        {"type": "tabular-only", "tabular": 3},
        {"type": "tabular-only", "tabular": "{uuid}" + "x" * 255},
        {"type": "full-hierarchy", "tabular": "{uuid}"},
        {"type": "full-hierarchy", "namespace": "ns", "tabular": "{uuid}"},
        {"type": "full-hierarchy", "namespace": "{name}/..", "tabular": "{uuid}"},
        {"type": "full-hierarchy", "namespace": "{uuid}", "tabular": "t"},
    ],
)
def test_a_layout_that_could_render_to_no_segment_is_refused(document: object) -> None:
    with pytest.raises(LayoutError):
        Layout.parse(document)


@pytest.mark.parametrize("kind", list(LayoutKind))
def test_a_layout_reads_back_from_its_own_document(kind: LayoutKind) -> None:
    templates = {
        LayoutKind.DEFAULT: {},
        LayoutKind.TABULAR_ONLY: {"tabular": "{uuid}"},
        LayoutKind.FULL_HIERARCHY: {"namespace": "{name}", "tabular": "{name}"},
    }
    document = {"type": kind.value} | templates[kind]
    assert Layout.parse(document).document() == document


NAMES = st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20)


@given(name=NAMES)
def test_any_name_renders_to_one_segment_below_its_namespace(name: str) -> None:
    layout = Layout.parse({"type": "full-hierarchy", "namespace": "{name}", "tabular": "{name}"})
    named = Named(name, UUID(int=7))
    try:
        namespace = layout.namespace_location(BASE, (named,))
    except LocationError as error:  # only an overlong one can fail
        assert "longer" in error.fault  # noqa: PT017 - the other outcome is asserted below
        return
    tabular = layout.tabular_location(namespace, named)
    assert len(tabular.segments) - len(BASE.segments) == 2
    assert Location.parse(str(tabular)) == tabular


@given(left=NAMES, right=NAMES)
def test_two_names_never_share_an_escape(left: str, right: str) -> None:
    assume(left != right)
    assert escape_name(left) != escape_name(right)
