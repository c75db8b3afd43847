from __future__ import annotations

import string
from urllib.parse import quote, unquote

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from lakeward_locations import Location, LocationError, pattern_mark
from lakeward_locations.location import MAX_BYTES, SCHEMES, fold

KEYS = st.text(alphabet=string.ascii_letters + string.digits + "-_.=~+ é漢", min_size=1, max_size=6).filter(
    lambda text: text not in {".", ".."}
)
SEGMENTS = st.lists(KEYS, max_size=4).map(tuple)
BUCKETS = st.text(alphabet="abc019-", min_size=3, max_size=5)


def location(bucket: str, segments: tuple[str, ...], scheme: str = "s3") -> Location:
    return Location.parse("/".join((f"{scheme}:/", bucket, *segments)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "s3:",
        "s3:/bucket/a",
        "s3:///a",
        "//bucket/a",
        "bucket/a",
        "/bucket/a",
        "http://bucket/a",
        "file:///tmp/a",
        "s3://bucket./a",
        "s3://./a",
        "s3://../a",
        "s3://bu cket/a",
        "s3://user@bucket/a",
        "s3://bucket:9000/a",
        "s3://bücket/a",
        "s3://bucket//a",
        "s3://bucket/a//b",
        "s3://bucket/a//",
        "s3://bucket//",
        "s3://bucket/.",
        "s3://bucket/..",
        "s3://bucket/a/../b",
        "s3://bucket/a/./b",
        "s3://bucket/a/..",
        "s3://bucket/%2e%2e/b",
        "s3://bucket/a/.%2E/b",
        "s3://bucket/a/%2e/b",
        "s3://bucket/a/%252e%252e/b",
        "s3://bucket/a%2Fb",
        "s3://bucket/a%2f..%2fb",
        "s3://bucket/a%252Fb",
        "s3://bucket/a\\b",
        "s3://bucket/a%5Cb",
        "s3://bucket/a%00b",
        "s3://bucket/a%0Ab",
        "s3://bucket/a%7fb",
        "s3://bucket/%2525252525252525252e",
        "s3://bucket/a?b",
        "s3://bucket/a#b",
        "s3://bucket?x=1",
        "s3://bucket/a\nb",
        "s3://bucket/a\x7fb",
        "s3://bucket/a\u200bb",
        "s3://bucket/a\u202eb",
        "s3://bucket/a\u3164b",
        "s3://bucket/a\ufe0fb",
        "s3://bucket/a\ud800b",
        " s3://bucket/a",
        "s3://bucket/" + "x" * MAX_BYTES,
        "abfss://account.dfs.core.windows.net/a",
        "abfss://@account.dfs.core.windows.net/a",
        "abfss://fs@/a",
        "abfss://fs@a@b/a",
    ],
)
def test_what_is_no_location_or_could_be_read_as_another_is_refused(text: str) -> None:
    with pytest.raises(LocationError):
        Location.parse(text)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("s3://bucket", "s3://bucket/"),
        ("s3://bucket/", "s3://bucket/"),
        ("S3://Bucket/A/b/", "s3://bucket/A/b/"),
        ("s3a://bucket/A/b", "s3://bucket/A/b/"),
        ("s3n://bucket/100%/x y/ü", "s3://bucket/100%/x y/ü/"),
        ("gs://bucket/a.b/...", "gs://bucket/a.b/.../"),
        ("abfss://fs@acc.dfs.core.windows.net/a", "abfss://fs@acc.dfs.core.windows.net/a/"),
        ("wasbs://fs@acc.blob.core.windows.net/a", "abfss://fs@acc.dfs.core.windows.net/a/"),
    ],
)
def test_spellings_of_one_place_have_one_key(text: str, key: str) -> None:
    assert Location.parse(text).key == key


@given(bucket=BUCKETS, segments=SEGMENTS)
def test_a_location_parses_again_from_its_own_text(bucket: str, segments: tuple[str, ...]) -> None:
    assume(bucket.strip("-") == bucket)
    one = location(bucket, segments)
    assert Location.parse(str(one)) == one
    assert Location.parse(one.directory) == one
    assert one.segments == segments
    assert one.prefix == (one.path + "/" if segments else "")


@given(
    left=st.tuples(BUCKETS, SEGMENTS),
    right=st.tuples(BUCKETS, SEGMENTS),
    schemes=st.tuples(*[st.sampled_from(["s3", "s3a", "gs"])] * 2),
)
@example(left=("abc", ("a", "b")), right=("abc", ("a", "bc")), schemes=("s3", "s3"))
@example(left=("abc", ("a", "b")), right=("abc", ("a", "b", "c")), schemes=("s3", "s3a"))
@example(left=("abc", ("a",)), right=("abc", ("A",)), schemes=("s3", "s3"))
@example(left=("abc", ()), right=("abcd", ()), schemes=("s3", "s3"))
@example(left=("abc", ("a",)), right=("abc", ("a",)), schemes=("s3", "gs"))
def test_containment_is_that_of_segments_in_every_form_it_is_asked_in(
    left: tuple[str, tuple[str, ...]], right: tuple[str, tuple[str, ...]], schemes: tuple[str, str]
) -> None:
    assume(all(bucket.strip("-") == bucket for bucket in (left[0], right[0])))
    outer, inner = location(*left, schemes[0]), location(*right, schemes[1])
    same_store = left[0] == right[0] and SCHEMES[schemes[0]] == SCHEMES[schemes[1]]
    truth = same_store and right[1][: len(left[1])] == left[1]

    assert outer.contains(inner) is truth
    assert inner.key.startswith(outer.key) is truth
    assert (outer.key <= inner.key < outer.key_end) is truth  # the range a database scans
    assert (outer.key in (*inner.enclosing_keys(), inner.key)) is truth
    assert outer.strictly_contains(inner) is (truth and left[1] != right[1])
    assert outer.overlaps(inner) is (truth or inner.contains(outer))
    assert outer.overlaps(inner, folded=True) or not outer.overlaps(inner)
    if truth:  # folded, what lies inside still does, by the same ranges
        assert inner.folded_key.startswith(outer.folded_key)
        assert outer.folded_key <= inner.folded_key < fold(outer.key_end)


RAW = st.text(alphabet="ab/.%25eEfF2c\\ :@?#+é\u200b\t", max_size=14)


@given(
    raw=RAW,
    scheme=st.sampled_from(["s3", "S3", "s3a", "gs"]),
    bucket=st.sampled_from(["abc", "ABC", "abcd", "abc.", ""]),
)
@example(raw="a/..%2Fb", scheme="s3", bucket="abc")
@example(raw="a/b/%2E%2e/c", scheme="s3", bucket="abc")
def test_no_spelling_that_lies_inside_escapes_the_base(raw: str, scheme: str, bucket: str) -> None:
    base = Location.parse("s3://abc/a/b")
    try:
        asked = Location.parse(f"{scheme}://{bucket}/{raw}")
    except LocationError:
        return
    if base.strictly_contains(asked):
        # what a store sees, literally and after any number of decodings, begins with the base's whole segments
        seen = asked.path
        for _ in range(4):
            assert seen.startswith("a/b/")
            assert seen.count("/") == asked.path.count("/")
            assert not {".", "..", ""} & set(seen.split("/"))
            seen = unquote(seen)
        assert asked.bucket == "abc"


@given(segments=SEGMENTS, extra=KEYS)
def test_joining_leads_inside_by_the_one_segment(segments: tuple[str, ...], extra: str) -> None:
    base = location("abc", segments)
    joined = base.join(extra)
    assert base.strictly_contains(joined)
    assert joined.segments == (*base.segments, extra)
    assert Location.parse(str(joined)) == joined


@pytest.mark.parametrize(
    "segment", ["", ".", "..", "a/b", "/a", "a/", "%2e%2e", "a%2Fb", "a\\b", "a?b", "a#b", "a\u200bb"]
)
def test_only_one_harmless_segment_can_be_joined(segment: str) -> None:
    with pytest.raises(LocationError):
        Location.parse("s3://abc/a").join(segment)


def test_the_base_itself_is_not_inside_and_another_scheme_of_its_family_is() -> None:
    base = Location.parse("s3://abc/wh")
    assert not base.strictly_contains(Location.parse("s3://abc/wh/"))
    assert base.strictly_contains(Location.parse("s3a://abc/wh/t"))
    assert not base.strictly_contains(Location.parse("gs://abc/wh/t"))


@given(text=st.text(max_size=40))
def test_a_refused_text_is_shown_in_a_form_that_can_travel(text: str) -> None:
    try:
        Location.parse("s3://" + text)
    except LocationError as error:
        error.location.encode()
        str(error).encode()


def test_a_quoted_name_is_taken_literally() -> None:
    name = quote("ü b", safe="")
    assert Location.parse(f"s3://abc/{name}").segments == (name,)


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        *(("a*", "*"), ("a/b?/c", "?"), ("a/${aws:username}", "${"), ("${", "${")),
        *(("a$b", None), ("a$", None), ("a{b}", None), ("%2A", None)),
    ],
)
def test_what_a_policy_would_read_as_a_pattern_is_found(text: str, mark: str | None) -> None:
    assert pattern_mark(text) == mark


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Abc", "aBC", True),
        ("%3F", "%3f", True),
        ("\u212a", "k", True),
        ("\u00c9", "\u00e9", True),
        ("stra\u00dfe", "STRASSE", True),
        ("\u03c3", "\u03c2", True),
        ("\u00e9", "e\u0301", False),
        ("a", "\uff41", False),
        ("a", "ab", False),
    ],
)
def test_places_are_alike_without_case_and_in_no_other_way(one: str, other: str, alike: bool) -> None:
    left, right = location("abc", ("x", one)), location("abc", ("x", other))
    assert (left.folded_key == right.folded_key) is alike
    assert left.key != right.key


def test_a_place_lies_in_its_parent() -> None:
    assert str(location("abc", ("x", "y")).parent()) == "s3://abc/x"
    with pytest.raises(ValueError, match="lies in nothing"):
        location("abc", ()).parent()
