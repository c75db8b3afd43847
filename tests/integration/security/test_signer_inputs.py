"""An adversary asks for signatures that would open what isn't its own. None is made: each line is refused by the signer.

`{own}` is the path of a file of its own table, `{table}` the key of the table, `{victim}` that of another table's file; `{host}`
is the store's. What is refused here never reaches the store; what is signed and then bent is in test_signatures.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx
import pytest

from tests.integration.security.conftest import Place
from tests.support.storage_attacks import Ground, ask

pytestmark = pytest.mark.integration


@dataclass(frozen=True)
class Asked:
    """What is asked for.

    Attributes:
        uri: whole, or the path and query at the store.
        region: empty: the warehouse's.
    """

    method: str
    uri: str
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    region: str = ""


def _headers(*headers: tuple[str, str], method: str = "PUT") -> Asked:
    return Asked(method, OWN, headers)


OWN, VICTIM, OUTSIDE, LIST = (
    "/{bucket}/{table}/data/own",
    "/{bucket}/{victim}",
    "/{other}/{outside}",
    "/{bucket}?list-type=2&",
)
KEY = "<Object><Key>{}</Key></Object>"
ASKED = (
    # Places of nobody, of the bucket, and of another bucket.
    *(Asked(method, path) for method in ("GET", "PUT", "DELETE", "HEAD") for path in ("/{bucket}", "/{bucket}/", "/", "",
    "/{bucket}/x")),
    *(Asked(method, OUTSIDE) for method in ("GET", "PUT", "DELETE", "HEAD")),
    Asked("GET", "/{bucket}/{table}"), Asked("GET", "/{bucket}/{table}x/f"), Asked("GET", "/{bucket}/{table}%20/f"),
    # Methods.
    *(Asked(method, OWN) for method in ("PATCH", "OPTIONS", "TRACE", "CONNECT", "COPY", "MOVE", "PROPFIND", "get ",
    "GET\r\nX: y", "", "G\u0130T")),
    # Steps.
    *(Asked("GET", path) for path in (
        "/{bucket}/{table}/../x", "/{bucket}/{table}/./own", "/{bucket}/{table}/%2e%2e/x", "/{bucket}/{table}/%2E%2E/x",
        "/{bucket}/{table}/.%2e/x", "/{bucket}/{table}/%252e%252e/x", "/{bucket}/{table}/%25252e%25252e/x",
        "/{bucket}/{table}/..%2fx",
        "/{bucket}/{table}/..%252fx", "/{bucket}/{table}/..%5cx", "/{bucket}/{table}/..\\x",
        "/{bucket}/../{bucket}/{table}/x",
        "/{bucket}/{table}/data%2F..%2F..%2Fx", "/{bucket}/{table}%2Fdata/own", "/{bucket}%2F{table}/data/own",
        "/{bucket}/{table}//own", "//{bucket}/{table}/own", "/{bucket}//{table}/own", "/{bucket}/{table}/%00",
        "/{bucket}/{table}/x%00",
        "/{bucket}/{table}/%0d%0aX:%20y", "/{bucket}/{table}/%c0%ae%c0%ae/x", "/{bucket}/{table}/%ff",
        "/{bucket}/{table}/%",
        "/{bucket}/{table}/%zz", "/{bucket}/{table}/é", "/{bucket}/{table}/a b", "/{bucket}/{table}/a\tb",
        "/{bucket}/{table}/<x>",
    )),
    # URIs that name something else.
    *(Asked("GET", uri) for uri in (
        "http://{host}{own}#x", "http://{host}#{own}", "http://user@{host}{own}", "http://user:pass@{host}{own}",
        "http://{host}@evil.test{own}",
        "http://evil.test{own}", "http://evil.test@{host}{own}", "http://{host}:1{own}", "http://{host}.evil.test{own}",
        "http://evil.{host}{own}",
        "http://{bucket}.{host}/{table}/data/own", "http://{other}.{host}/{outside}", "http://127.1:{port}{own}",
        "http://localhost:{port}{own}",
        "http://[::1]:{port}{own}", "http://[::ffff:127.0.0.1]:{port}{own}", "http://2130706433:{port}{own}",
        "http://{host}.{own}",
        "http://{host}\\{own}", "http:/{host}{own}", "http:{own}", "//{host}{own}", "ftp://{host}{own}", "file://{own}",
        "s3://{bucket}/{table}/own",
        "http://{host}", "http://", "", "http:// {host}{own}", " http://{host}{own}", "http://{host}{own}\n",
        "http://{host}{own}\u200b",
        "http://s3.amazonaws.com{own}", "http://{bucket}.s3.amazonaws.com/{table}/data/own", "http://{host}?{own}",
    )),
    # Other operations by the query.
    *(Asked(method, f"{OWN}?{query}") for method, query in (
        ("GET", "acl"), ("PUT", "acl"), ("GET", "ACL"), ("GET", "policy"), ("GET", "tagging"), ("PUT", "tagging"),
        ("DELETE", "tagging"), ("GET", "torrent"),
        ("GET", "versions"), ("GET", "uploads"), ("PUT", "retention"), ("PUT", "legal-hold"), ("POST",
        "select&select-type=2"), ("POST", "restore"),
        ("POST", ""), ("GET", "attributes"), ("GET", "cors"), ("GET", "lifecycle"), ("PUT", "uploads"), ("GET",
        "response-content-type=text/html"),
        ("GET", "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=604800"), ("GET", "X-Amz-Security-Token=x"), ("GET",
        "a=1;acl"), ("GET", "versionId=1&versionId=2"),
        ("GET", "x-id=GetObject+x"), ("GET", "%61cl"), ("GET", "acl="), ("DELETE", "delete"), ("GET", "delete"), ("GET",
        "versionId=%"), ("GET", "renameObject"),
    )),
    *(Asked("GET", f"/{{bucket}}?{query}") for query in (
        "acl", "policy", "location", "versioning", "uploads", "versions", "cors", "lifecycle", "encryption", "logging",
        "notification", "website", "list-type=2",
        "list-type=2&prefix=", "list-type=2&prefix=/", "list-type=2&prefix={table}", "list-type=2&prefix={table}x/",
        "prefix={table}/",
        "list-type=1&prefix={table}/", "list-type=2&prefix={table}/../", "list-type=2&prefix={table}/%2e%2e/",
        "list-type=2&prefix={table}/%252e%252e/",
        "list-type=2&prefix={table}//", "list-type=2&prefix={table}/&prefix=", "list-type=2&prefix={table}/&Prefix=x",
        "list-type=2&list-type=2&prefix={table}/",
        "list-type=2&prefix={table}/&acl", "list-type=2&prefix={table}/&versions", "list-type=2&prefix={table}%2F%00",
        "list-type=2&prefix={table}/;prefix=",
        "list-type=2&prefix={table}+/",
    )),
    Asked("GET", "/{other}?list-type=2&prefix={table}/"), Asked("POST", "/{bucket}?list-type=2&prefix={table}/"),
    Asked("PUT", "/{bucket}?acl"),
    # Deletes of many.
    *(Asked("POST", "/{bucket}?delete", body=body) for body in (
        None, "", "x", "<Delete/>", "<Delete></Delete>", f"<Delete>{KEY.format('{table}')}</Delete>",
        f"<Delete>{KEY.format('{table}/a')}{KEY.format('{victim}')}</Delete>",
        f"<Delete>{KEY.format('{table}/../x')}</Delete>",
        f"<Delete>{KEY.format('{table}/a<!-- -->')}</Delete>", f"<Delete>{KEY.format('{table}/<![CDATA[a]]>')}</Delete>",
        f"<!DOCTYPE x [<!ENTITY e '{{victim}}'>]><Delete>{KEY.format('&e;')}</Delete>",
        f"<?xml version='1.0' encoding='UTF-7'?><Delete>{KEY.format('{table}/a')}</Delete>",
        "<Delete><Object><Key>{table}/a</Key><Key>{victim}</Key></Object></Delete>",
        "<Delete xmlns='urn:x'><Object><Key>{table}/a</Key></Object></Delete>",
        "<delete><object><key>{table}/a</key></object></delete>", f"<Delete>{KEY.format('{table}/a')}</Delete><Delete/>",
        f"<x><Delete>{KEY.format('{table}/a')}</Delete></x>",
    )),
    Asked("POST", "/{other}?delete", body=f"<Delete>{KEY.format('{table}/a')}</Delete>"),
    Asked("POST", OWN + "?delete", body=f"<Delete>{KEY.format('{table}/a')}</Delete>"),
    Asked("PUT", "/{bucket}?delete", body=f"<Delete>{KEY.format('{table}/a')}</Delete>"), Asked("POST",
    "/{bucket}?delete&acl", body=f"<Delete>{KEY.format('{table}/a')}</Delete>"),
    # Headers.
    *(_headers((name, value)) for name, value in (
        ("x-amz-acl", "public-read"), ("X-Amz-Acl", "private"), ("x-amz-grant-read", "id=x"), ("x-amz-grant-full-control",
        "id=x"), ("x-amz-website-redirect-location", "/x"),
        ("x-amz-bypass-governance-retention", "true"), ("x-amz-rename-source", VICTIM), ("x-http-method-override",
        "DELETE"), ("X-HTTP-Method", "DELETE"),
        ("x-method-override", "DELETE"), ("X-Forwarded-Prefix", "/{bucket}"), ("x-forwarded-host", "evil.test"),
        ("X-Forwarded-Uri", VICTIM), ("Forwarded", "host=x"),
        ("X-Original-URL", VICTIM), ("X-Rewrite-URL", VICTIM), ("x-amz-copy-source", VICTIM),
        ("x-amz-copy-source", OUTSIDE), ("X-Amz-Copy-Source", "{victim}"),
        ("x-amz-copy-source", "/{bucket}/{table}/../x"), ("x-amz-copy-source", "/{bucket}/{table}/%2e%2e/x"),
        ("x-amz-copy-source", OWN + "?acl"), ("x-amz-copy-source", ""),
        ("x-amz-copy-source", "arn:aws:s3:::{bucket}/{table}/data/own"), ("x-amz-copy-source", OWN + "+x"), ("x",
        "a\r\nHost: evil"), ("x\r\ny", "z"), ("", "x"), ("a b", "x"),
    )),
    _headers(("x-amz-copy-source", OWN), ("X-Amz-Copy-Source", VICTIM)),
    # Regions.
    Asked("GET", OWN, region="eu-central-1"), Asked("GET", OWN, region="us-east-1/s3/aws4_request"),
    Asked("GET", OWN, region="US-EAST-1"),
)  # fmt: skip


def _name(asked: Asked) -> str:
    return ascii(f"{asked.method} {asked.uri} {asked.headers or asked.body or asked.region}")


@pytest.fixture
async def ground(place: Place, grounds: Callable[[Place, bool], Awaitable[Ground]]) -> Ground:
    return await grounds(place, True)


@pytest.mark.parametrize("asked", ASKED, ids=_name)
async def test_what_could_open_more_than_the_own_table_is_not_signed(
    http: httpx.AsyncClient, ground: Ground, asked: Asked
) -> None:
    own = ground.fill(OWN)
    uri = ground.fill(asked.uri.replace("{own}", own))
    body = None if asked.body is None else ground.fill(asked.body)
    headers: dict[str, list[str]] = {name: [ground.fill(value)] for name, value in asked.headers}
    whole = uri if "://" in uri or not uri.startswith("/") or uri.startswith("//") else f"{ground.store.endpoint}{uri}"
    reply = await ask(
        http, ground, asked.method, "", uri=whole or "?", headers=headers, body=body, region=asked.region or None
    )
    assert reply.status_code in {400, 403, 404, 405}, (whole, reply.text)
    assert "authorization" not in reply.text.lower(), reply.text
    assert reply.json()["error"]["message"]


async def test_another_table_s_file_is_signed_for_by_its_own_rights_and_not_by_the_first_one_s(
    http: httpx.AsyncClient, ground: Ground
) -> None:
    """The signer looks up who owns a place; here the caller may read both, and each signature is the place's own."""
    mine, theirs = [(await ask(http, ground, "GET", ground.fill(path))).json() for path in (OWN, VICTIM)]
    tokens = [answer["headers"]["x-amz-security-token"] for answer in (mine, theirs)]
    assert tokens[0] != tokens[1]
