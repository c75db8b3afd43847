"""What is tried at a store before the server's own key signs for clients: at SeaweedFS, and at stores that err in each way."""

from __future__ import annotations

import datetime as dt
import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

import pytest

from lakeward_servicekit.errors import Reason
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.s3.keys import SigningKey, SigningTerms
from lakeward_vending.domain.s3.signing import sigv4
from lakeward_vending.domain.s3.signing.request import Signable
from lakeward_vending.domain.secret import Secret
from tests.support.components import S3Place
from tests.support.vending.fakes import refusal_of
from tests.support.vending.s3 import s3_backend, storage

pytestmark = pytest.mark.integration

PREFIX, HOST = "x-forwarded-prefix", "x-forwarded-host"
BOTH = (HOST, PREFIX)


class Store:
    """An empty store that verifies signatures; its ways are the `ways` that it is given.

    prefix, host             verifies over the path or host that a header says
    unsigned prefix, ...     the same, and takes that header for empty where the signature covers it
    proxy                    stands behind one that says another host for every request
    bodies                   holds bodies against their hashes
    lax, deaf                takes any signature; takes none
    """

    def __init__(self, secret: str) -> None:
        self.ways: frozenset[str] = frozenset()
        self.methods: list[str] = []
        store = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", "0")))
                store.methods.append(self.command)
                headers = {name.lower(): value for name, value in self.headers.items()}
                if not store.verifies(self.command, self.path, headers, body, secret):
                    self.answer(403, "<Error><Code>SignatureDoesNotMatch</Code></Error>")
                elif self.command == "POST":
                    self.answer(200, "<DeleteResult/>")
                else:
                    self.answer(404, "<Error><Code>NoSuchKey</Code></Error>")

            do_POST = do_GET  # noqa: N815 - the library's name

            def answer(self, status: int, text: str) -> None:
                self.send_response(status)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
                del format, args

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def verifies(self, method: str, target: str, headers: dict[str, str], body: bytes, secret: str) -> bool:
        if self.ways & {"lax", "deaf"}:
            return "lax" in self.ways
        if "bodies" in self.ways and headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
            return False
        if "proxy" in self.ways:
            headers[HOST] = "proxy.test"
        url, told = urlsplit(target), headers["authorization"]
        paths, hosts = [url.path], [headers["host"]]
        for word, header, values in (("prefix", PREFIX, paths), ("host", HOST, hosts)):
            said = headers.get(header, "")
            if said and (word in self.ways or f"unsigned {word}" in self.ways):
                values.insert(0, said + url.path if word == "prefix" else said)
                if f"unsigned {word}" in self.ways:
                    headers[header] = ""
        names = told.partition("SignedHeaders=")[2].partition(",")[0].split(";")
        own = {"host", "x-amz-date", "x-amz-content-sha256"}
        covered = {name: headers.get(name, "") for name in names if name not in own}
        expected = {
            sigv4.sign(
                Signable(
                    method=method,
                    authority=host,
                    path=path,
                    query=tuple((unquote(part.rstrip("=")), "") for part in url.query.split("&") if part),
                    headers=covered,
                    payload_hash=headers["x-amz-content-sha256"],
                    access=Access.READ,
                    keys=(),
                ),
                region="us-east-1",
                key=SigningKey(told.partition("Credential=")[2].partition("/")[0], Secret(secret), None),
                now=dt.datetime.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=dt.UTC),
            )["authorization"]
            for path in paths
            for host in hosts
        }
        return told in expected


@pytest.fixture
def erring(s3_store: S3Place) -> Iterator[Store]:
    store = Store(s3_store.store.admin.secret_key)
    thread = threading.Thread(target=store.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield store
    finally:
        store.server.shutdown()
        thread.join()
        store.server.server_close()


@pytest.mark.parametrize(
    ("ways", "terms"),
    [
        ("", SigningTerms(BOTH, holds_bodies=False)),
        ("bodies", SigningTerms(BOTH, holds_bodies=True)),
        ("prefix", SigningTerms(BOTH, holds_bodies=False)),
        ("host", SigningTerms(BOTH, holds_bodies=False)),
        ("prefix host bodies", SigningTerms(BOTH, holds_bodies=True)),
        ("proxy", SigningTerms((PREFIX,), holds_bodies=False)),
        ("proxy prefix", SigningTerms((PREFIX,), holds_bodies=False)),
        ("unsigned-prefix", None),
        ("unsigned-host", None),
        ("proxy unsigned-prefix", None),
        ("lax", None),
        ("deaf", None),
    ],
)
async def test_the_own_key_signs_on_terms_that_its_store_was_seen_to_keep(
    s3_store: S3Place, erring: Store, ways: str, terms: SigningTerms | None
) -> None:
    erring.ways = frozenset(way.replace("-", " ") for way in ways.split())
    async with s3_backend() as backend:
        asking = backend.signing_terms(storage(s3_store, endpoint=erring.url, sts_enabled=False))
        if terms is not None:
            assert await asking == terms
            return
        refusal = await refusal_of(asking)
    assert refusal.reason == Reason.REASON_SIGNING_DISABLED
    assert "sts-enabled" in refusal.message
    assert "remote-signing-enabled" in refusal.message


async def test_seaweedfs_minds_empty_headers_that_are_signed_and_not_the_body_of_a_delete_of_many(
    s3_store: S3Place,
) -> None:
    async with s3_backend() as backend:
        assert await backend.signing_terms(storage(s3_store, sts_enabled=False)) == SigningTerms(
            BOTH, holds_bodies=False
        )


async def test_what_is_tried_at_a_store_leaves_nothing_there(s3_store: S3Place, erring: Store) -> None:
    async with s3_backend() as backend:
        await backend.signing_terms(storage(s3_store, endpoint=erring.url, sts_enabled=False))
    assert sorted(set(erring.methods)) == ["GET", "POST"]


async def test_a_store_that_is_away_tells_no_terms(s3_store: S3Place) -> None:
    async with s3_backend() as backend:
        refusal = await refusal_of(backend.signing_terms(storage(s3_store, endpoint="http://127.0.0.1:9")))
    assert refusal.reason == Reason.REASON_STORE_UNAVAILABLE
