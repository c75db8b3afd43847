"""What an adversary has who may read and write one table: signatures for it, and a socket to the store.

The ground is the store with somebody else's files in it. What is sent goes out byte for byte: no client library tidies it up.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit
from xml.etree import ElementTree as ET

import httpx

from lakeward_components.seaweedfs import S3Store
from lakeward_components.sigv4 import Key
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.s3.keys import SigningKey
from lakeward_vending.domain.s3.signing import sigv4
from lakeward_vending.domain.s3.signing.request import Signable
from lakeward_vending.domain.secret import Secret
from tests.support.warehouses import Warehouse, tables_of, told

_SECONDS = 20.0
_MAX_BODY = 1 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What the store said."""

    status: int
    body: bytes


async def send(
    endpoint: str, method: str, target: str, headers: Iterable[tuple[str, str]], body: bytes = b""
) -> Answer:
    """One request over a connection of its own.

    Args:
        endpoint: of the store.
        target: of the request line, as it is.
        headers: as they are and in this order, repeated ones too; `Host`, where none is among them, is the endpoint's.
        body: with its length announced.
    """
    parts = urlsplit(endpoint)
    lines = list(headers)
    if not any(name.lower() == "host" for name, _ in lines):
        lines.insert(0, ("Host", parts.netloc))
    lines += [("Content-Length", str(len(body))), ("Connection", "close")]
    head = f"{method} {target} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines) + "\r\n"
    async with asyncio.timeout(_SECONDS):
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        try:
            writer.write(head.encode("latin-1") + body)
            await writer.drain()
            received = await reader.read(_MAX_BODY)
            while more := await reader.read(_MAX_BODY):
                received += more
        finally:
            writer.close()
    status = received.split(b" ", 2)[1]
    return Answer(int(status), received.partition(b"\r\n\r\n")[2])


@dataclass(frozen=True, slots=True)
class Ground:
    """One table of the adversary's, and what lies around it.

    Attributes:
        region: of the warehouse.
        table: the key of the adversary's table, without slashes around it.
        victim: the key of somebody else's file in the same bucket, in another table of the warehouse.
        outside: the key of a file in the bucket outside.
        secret: what both of these hold.
        by_sessions: whether requests are signed by sessions, and not by the server's own key.
    """

    store: S3Store
    warehouse: Warehouse
    table: str
    victim: str
    outside: str
    secret: bytes = field(repr=False)
    by_sessions: bool = True

    @property
    def region(self) -> str:
        return self.store.region

    def fill(self, text: str) -> str:
        """A text of an attack with the ground's places in it, as in `/{bucket}/{victim}`."""
        return text.format(
            bucket=self.store.bucket,
            table=self.table,
            victim=self.victim,
            other=self.store.outside_bucket,
            outside=self.outside,
            host=urlsplit(self.store.endpoint).netloc,
            port=urlsplit(self.store.endpoint).port,
        )

    async def restore(self) -> None:
        """Put the files where they were, so that one attack that succeeds doesn't make the next one look so."""
        files = {self.victim: self.secret, f"{self.table}/data/own": b"my own"}
        for key, content in files.items():
            await put(self.store, f"/{self.store.bucket}/{key}", content)
        await put(self.store, f"/{self.store.outside_bucket}/{self.outside}", self.secret)

    async def state(self) -> Mapping[str, object]:
        """What no attack may change: the victims' files, what lies beside them, and which buckets there are."""
        return {
            "the victim's table": await _listed(self.store, self.store.bucket, f"{self.victim.rpartition('/')[0]}/"),
            "the bucket outside": await _listed(self.store, self.store.outside_bucket, self.outside[:8]),
            "buckets": await _buckets(self.store),
            "the victim's file": await _content(self.store, f"/{self.store.bucket}/{self.victim}"),
            "the file outside": await _content(self.store, f"/{self.store.outside_bucket}/{self.outside}"),
        }


async def prepare(http: httpx.AsyncClient, store: S3Store, warehouse: Warehouse, *, by_sessions: bool) -> Ground:
    """Two tables in a namespace of their own, a file in the second, and one in the bucket outside."""
    name = f"n{secrets.token_hex(4)}"
    told(await http.post(f"{warehouse.path}/namespaces", json={"namespace": [name]}))
    tables = [await _made(http, warehouse, name, table) for table in ("mine", "theirs")]
    outside = f"{secrets.token_hex(4)}/secret"
    secret = secrets.token_hex(16).encode()
    return Ground(store, warehouse, tables[0], f"{tables[1]}/data/secret", outside, secret, by_sessions)


async def _made(http: httpx.AsyncClient, warehouse: Warehouse, namespace: str, name: str) -> str:
    schema = {"type": "struct", "fields": [{"id": 1, "name": "id", "type": "long", "required": False}]}
    made = told(await http.post(tables_of(warehouse, namespace), json={"name": name, "schema": schema})).json()
    location: str = made["metadata"]["location"]
    return location.removeprefix("s3://").partition("/")[2].strip("/")


async def ask(
    http: httpx.AsyncClient,
    ground: Ground,
    method: str,
    target: str,
    *,
    headers: Mapping[str, Sequence[str]] | None = None,
    body: str | None = None,
    uri: str | None = None,
    region: str | None = None,
) -> httpx.Response:
    """What the signer answers; `target` is the path and query at the store's endpoint, unless the whole `uri` is given."""
    document: dict[str, object] = {
        "method": method,
        "region": ground.region if region is None else region,
        "uri": uri or f"{ground.store.endpoint}{target}",
        "headers": dict(headers or {}),
    }
    if body is not None:
        document["body"] = body
    return await http.post(f"/catalog/{ground.warehouse.id}/v1/aws/s3/sign", json=document)


async def put(store: S3Store, path: str, content: bytes) -> None:
    """Write a file with the store's all-powerful key."""
    answer = await as_key(store, store.admin, "PUT", path, content)
    assert answer.status == 200, answer


async def as_key(
    store: S3Store,
    key: Key,
    method: str,
    path: str,
    body: bytes = b"",
    *,
    token: str | None = None,
    signed_path: str | None = None,
    **extra: str,
) -> Answer:
    """A request that a key signed over `signed_path`, else over what is sent; further headers are not signed."""
    url = urlsplit(signed_path or path)
    request = Signable(
        method=method,
        authority=urlsplit(store.endpoint).netloc,
        path="/" + quote(unquote(url.path[1:]), safe="-_.~/"),
        query=parse_qsl(url.query, keep_blank_values=True),
        headers={},
        payload_hash=hashlib.sha256(body).hexdigest(),
        access=Access.READ_WRITE_DELETE,
        keys=(),
    )
    headers = sigv4.sign(
        request,
        region=store.region,
        key=SigningKey(key.access_key, Secret(key.secret_key), None if token is None else Secret(token)),
        now=datetime.now(UTC),
    )
    added = [(name.replace("_", "-"), value) for name, value in extra.items()]
    return await send(store.endpoint, method, path, [*headers.items(), *added], body)


async def _listed(store: S3Store, bucket: str, prefix: str) -> Sequence[str]:
    query = urlencode({"list-type": "2", "prefix": prefix}, quote_via=quote)
    answer = await as_key(store, store.admin, "GET", f"/{bucket}?{query}")
    assert answer.status == 200, answer
    return sorted(key.text or "" for key in ET.fromstring(answer.body).iter() if key.tag.endswith("}Key"))


async def _buckets(store: S3Store) -> Sequence[str]:
    answer = await as_key(store, store.admin, "GET", "/")
    assert answer.status == 200, answer
    return sorted(name.text or "" for name in ET.fromstring(answer.body).iter() if name.tag.endswith("}Name"))


async def _content(store: S3Store, path: str) -> bytes:
    answer = await as_key(store, store.admin, "GET", path)
    assert answer.status == 200, answer
    return answer.body
