from __future__ import annotations

from xml.parsers import expat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_vending.adapters.network.calls import Reply
from lakeward_vending.adapters.s3 import failures, xml

LISTING = b"""<?xml version="1.0" encoding="UTF-8"?>
<!-- written by a store -->
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Contents><Key>a &amp; b</Key><Size>1</Size></Contents>
<Contents><Key><![CDATA[c<d]]></Key></Contents></ListBucketResult>"""


def nested(depth: int) -> bytes:
    return b"<a>" * depth + b"</a>" * depth


def many(elements: int) -> bytes:
    return b"<r>" + b"<a/>" * (elements - 1) + b"</r>"


def test_texts_are_read_by_path_without_namespaces_or_prefixes() -> None:
    assert [pair for pair in xml.texts(LISTING) if pair[0].endswith("Key")] == [
        ("ListBucketResult/Contents/Key", "a & b"),
        ("ListBucketResult/Contents/Key", "c<d"),
    ]
    assert xml.texts(b'<n:r xmlns:n="urn:n"><n:a>1</n:a></n:r>') == [("r/a", "1"), ("r", "")]


@pytest.mark.parametrize(
    "body",
    [
        nested(xml.MAX_DEPTH + 1),
        nested(50_000),
        b"<a>" * 100_000,
        many(xml.MAX_ELEMENTS + 1),
        b"<r>" + b"<" + b"a" * (xml.MAX_NAME + 1) + b"/></r>",
        b"<r " + b" ".join(b'a%d="x"' % number for number in range(xml.MAX_ATTRIBUTES + 1)) + b"/>",
        b"<r>" + b"x" * xml.MAX_BYTES + b"</r>",
        b" " * xml.MAX_PROLOG + b"<r/>",
        b"<!--" + b"x" * xml.MAX_PROLOG + b"--><!DOCTYPE r []><r/>",
        b'<!DOCTYPE r [<!ENTITY a "b">]><r>&a;</r>',
        b'<!DOCTYPE r SYSTEM "http://169.254.169.254/"><r/>',
        '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE r []><r/>'.encode("utf-16"),
        b"<r>\xff\xfe</r>",
        b"<r>&undeclared;</r>",
        b"<r><a></r></a>",
        b"<r>",
        b"",
    ],
    ids=lambda body: repr(body[:24]),
)
def test_a_reply_that_is_no_store_s_is_refused(body: bytes) -> None:
    with pytest.raises(xml.BadXml):
        xml.texts(body)


def test_what_is_at_every_bound_is_read() -> None:
    assert len(xml.texts(nested(xml.MAX_DEPTH))) == xml.MAX_DEPTH
    assert len(xml.texts(many(xml.MAX_ELEMENTS))) == xml.MAX_ELEMENTS


def test_a_full_page_of_the_longest_keys_is_read() -> None:
    entry = (
        "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>&quot;e&quot;</ETag>"
        "<ChecksumAlgorithm>CRC32</ChecksumAlgorithm><ChecksumType>FULL_OBJECT</ChecksumType><Size>1</Size>"
        "<Owner><ID>i</ID><DisplayName>n</DisplayName></Owner><StorageClass>STANDARD</StorageClass></Contents>"
    ).format(key="%C3%A9" * 512)
    body = f'<ListBucketResult xmlns="urn:x">{entry * 1000}</ListBucketResult>'.encode()
    found = [value for path, value in xml.texts(body) if path == "ListBucketResult/Contents/Key"]
    assert len(found) == 1000


def test_the_work_ends_where_a_bound_is_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much follows, no more elements are looked at than are allowed."""
    started: list[int] = []
    create = expat.ParserCreate

    class Counting:
        def __init__(self, *args: object, **kwargs: object) -> None:
            object.__setattr__(self, "inner", create(*args, **kwargs))  # type: ignore[arg-type] # as they came

        def __setattr__(self, name: str, value: object) -> None:
            if name == "StartElementHandler":

                def counted(*args: object) -> None:
                    started.append(1)
                    value(*args)  # type: ignore[operator] # the handler

                setattr(self.inner, name, counted)
            else:
                setattr(self.inner, name, value)

        def __getattr__(self, name: str) -> object:
            return getattr(object.__getattribute__(self, "inner"), name)

    monkeypatch.setattr(expat, "ParserCreate", Counting)
    for body in (nested(50_000), many(500_000)):
        started.clear()
        with pytest.raises(xml.BadXml):
            xml.texts(body)
        assert 0 < len(started) <= xml.MAX_ELEMENTS + 1


@given(st.recursive(st.text("ab&<", max_size=5), lambda inner: st.lists(inner, max_size=4), max_leaves=30))
def test_what_is_kept_of_a_reply_grows_with_the_reply_and_not_faster(tree: object) -> None:
    def written(node: object) -> str:
        if isinstance(node, list):
            return "".join(f"<n>{written(each)}</n>" for each in node)
        return str(node).replace("&", "&amp;").replace("<", "&lt;")

    body = f"<r>{written(tree)}</r>".encode()
    try:
        found = xml.texts(body)
    except xml.BadXml:
        return  # deeper than a reply is
    assert sum(len(path) + len(value) for path, value in found) <= (xml.MAX_DEPTH + 1) * len(body)


@pytest.mark.parametrize(
    ("status", "passes"),
    [(200, False), (206, False), (400, True), (503, True), (429, True), (404, True)],
)
def test_only_a_reply_that_is_no_success_says_that_the_store_is_busy(status: int, passes: bool) -> None:
    """An object's own content is whatever somebody wrote into it."""
    assert failures.is_passing(Reply(status, b"<Error><Code>SlowDown</Code></Error>")) is passes


@pytest.mark.parametrize(
    "body",
    [
        b"<Error>" + b" " * failures.MAX_ERROR_BYTES + b"<Code>SlowDown</Code></Error>",
        b"<Error>" + nested(xml.MAX_DEPTH) + b"<Code>SlowDown</Code></Error>",
        b"<Error><Code>" + b"A" * 200 + b"</Code></Error>",
        b"<html><body>",
    ],
    ids=lambda body: repr(body[:24]),
)
def test_an_error_that_is_no_store_s_has_no_code(body: bytes) -> None:
    assert xml.error_code(body) == ""
