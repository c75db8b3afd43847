"""An adversary with a signature for a file of its own table sends something else with it.

Each line is an attack: what is signed, and what is sent with that signature. Whatever the store answers, nobody else's file is
read or changed. The same list runs over both ways in which requests are signed: by sessions, where the warehouse can vend
credentials, and by the server's own key, where it can't.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx
import pytest

from tests.integration.security.conftest import Place
from tests.support.storage_attacks import Ground, as_key, ask, send

pytestmark = pytest.mark.integration


@dataclass(frozen=True)
class Attack:
    """A request that is signed, and another that is sent.

    Attributes:
        name: what it tries.
        method: of what is signed, as `target` and `body` are; `Ground.fill` fills in the places.
        sent_method: of what is sent; empty: the same. So for `sent` and `sent_body`.
        added: headers that are sent before the signed ones; after them, where `after`.
        signed: the client's own headers, as the signer gets them.
        replaced: signed headers that are sent with other values, or not at all for None.
        refused: whether the store has to refuse it; else it may answer as if nothing had been added.
        only_sessions: whether the server's own key signs nothing of the kind.
        unsaid: what must not be in the answer, beside the secret.
    """

    name: str
    method: str
    target: str
    sent_method: str = ""
    sent: str = ""
    added: tuple[tuple[str, str], ...] = ()
    after: bool = False
    replaced: tuple[tuple[str, str | None], ...] = ()
    signed: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    sent_body: str | None = None
    refused: bool = True
    only_sessions: bool = False
    unsaid: str = ""


OWN = "/{bucket}/{table}/data/own"
VICTIM = "/{bucket}/{victim}"
OUTSIDE = "/{other}/{outside}"
# Signed: an object in the own table whose name is the victim's path. Sent: the victim's path, and where it claims to come from.
ROOT = "/{bucket}/{table}"
LIST = "/{bucket}?list-type=2&prefix={table}%2F"
DELETE_OWN = "<Delete><Object><Key>{table}/data/own</Key></Object></Delete>"
DELETE_VICTIM = "<Delete><Object><Key>{victim}</Key></Object></Delete>"


def forwarded(name: str, method: str, to: str, **others: object) -> Attack:
    """The path that is acted upon is `to`; the rest of what was signed is said to be a proxy's."""
    given: dict[str, object] = {"added": (("X-Forwarded-Prefix", ROOT),)} | others
    return Attack(name, method, ROOT + to, sent=to, **given)  # type: ignore[arg-type]


ATTACKS = (
    # A path that a proxy is said to have taken away.
    forwarded("prefix: read another table", "GET", VICTIM),
    forwarded("prefix: read another bucket", "GET", OUTSIDE),
    forwarded("prefix: overwrite another table", "PUT", VICTIM, sent_body="mine now"),
    forwarded("prefix: overwrite in another bucket", "PUT", OUTSIDE, sent_body="mine now"),
    forwarded("prefix: write a new file", "PUT", VICTIM + "-new", sent_body="mine now"),
    forwarded("prefix: delete in another table", "DELETE", VICTIM),
    forwarded("prefix: delete in another bucket", "DELETE", OUTSIDE),
    forwarded("prefix: look for another's file", "HEAD", VICTIM),
    forwarded("prefix: list another bucket", "GET", "/{other}"),
    forwarded("prefix: make a bucket", "PUT", "/newbucket"),
    forwarded("prefix: delete a bucket", "DELETE", "/{other}"),
    forwarded("prefix: start an upload", "POST", VICTIM + "-big?uploads"),
    Attack(
        "prefix: list buckets", "GET", LIST.replace("?", "/?"), sent="/?list-type=2&prefix={table}%2F",
        added=(("X-Forwarded-Prefix", "/{bucket}"),), refused=False, unsaid="{other}",
    ),
    forwarded("prefix without its slash", "GET", VICTIM, added=(("X-Forwarded-Prefix", ROOT[1:]),)),
    forwarded("prefix with a slash behind", "GET", VICTIM, added=(("X-Forwarded-Prefix", ROOT + "/"),)),
    forwarded("prefix in lower case", "GET", VICTIM, added=(("x-forwarded-prefix", ROOT),)),
    forwarded("prefix behind the signed headers", "GET", VICTIM, after=True),
    forwarded("prefix twice, empty first", "GET", VICTIM, added=(("X-Forwarded-Prefix", ""), ("X-Forwarded-Prefix", ROOT))),
    forwarded("prefix twice, empty last", "GET", VICTIM, added=(("X-Forwarded-Prefix", ROOT), ("X-Forwarded-Prefix", ""))),
    forwarded("prefix in place of the signed one", "GET", VICTIM, replaced=(("x-forwarded-prefix", ROOT),), added=()),
    forwarded("prefix, and the signed one left out", "GET", VICTIM, replaced=(("x-forwarded-prefix", None),)),
    forwarded("prefix among others", "GET", VICTIM, added=(("X-Forwarded-Prefix", ROOT + ", /x"),)),
    forwarded("prefix with the rest of the way", "GET", VICTIM, added=(
        ("X-Forwarded-Prefix", ROOT), ("X-Forwarded-Host", "{host}"), ("X-Forwarded-Proto", "http"),
        ("X-Forwarded-Port", "{port}"), ("X-Forwarded-For", "127.0.0.1"),
    )),
    # Other words for the same.
    forwarded("path", "GET", VICTIM, added=(("X-Forwarded-Path", ROOT + VICTIM),)),
    forwarded("forwarded uri", "GET", VICTIM, added=(("X-Forwarded-Uri", ROOT + VICTIM),)),
    forwarded("original url", "GET", VICTIM, added=(("X-Original-Url", ROOT + VICTIM), ("X-Original-Uri", ROOT + VICTIM))),
    forwarded("rewrite url", "GET", VICTIM, added=(("X-Rewrite-Url", ROOT + VICTIM),)),
    forwarded("script name", "GET", VICTIM, added=(("X-Script-Name", ROOT), ("X-Forwarded-Script-Name", ROOT))),
    forwarded("envoy's original path", "GET", VICTIM, added=(("X-Envoy-Original-Path", ROOT + VICTIM),)),
    forwarded("standard Forwarded", "GET", VICTIM, added=(("Forwarded", "host={host};proto=http;path=" + ROOT),)),
    Attack("original url to the victim", "GET", OWN, refused=False, added=(
        ("X-Original-Url", VICTIM), ("X-Rewrite-Url", VICTIM), ("X-Forwarded-Uri", VICTIM), ("X-Forwarded-Path", VICTIM))),
    # Another host.
    Attack("host: another's", "GET", OWN, added=(("Host", "{other}.{host}"),)),
    Attack("host: another's, forwarded from the signed one", "GET", OWN, sent=OUTSIDE, added=(
        ("Host", "{other}.{host}"), ("X-Forwarded-Host", "{host}"))),
    Attack("host: forwarded to another bucket's", "GET", OWN, sent=OUTSIDE, added=(("X-Forwarded-Host", "{other}.{host}"),)),
    Attack("host: with the victim's path", "GET", OWN, sent=VICTIM, added=(("X-Forwarded-Host", "{host}" + OWN),)),
    # Another path.
    Attack("path: another table's", "GET", OWN, sent=VICTIM),
    Attack("path: another bucket's", "GET", OWN, sent=OUTSIDE),
    Attack("path: absolute form", "GET", OWN, sent="http://{host}" + VICTIM),
    Attack("path: absolute form, another bucket", "GET", OWN, sent="http://{other}.{host}/{outside}"),
    Attack("path: dots", "GET", OWN, sent="/{bucket}/{table}/data/own/../../../../{victim}"),
    Attack("path: escaped dots", "GET", OWN, sent="/{bucket}/{table}/data/own/%2e%2e/%2e%2e/%2e%2e/%2e%2e/{victim}"),
    Attack("path: escaped slashes", "GET", OWN, sent="/{bucket}/{table}%2f..%2f..%2f{victim}"),
    Attack("path: double slash", "GET", OWN, sent="//{bucket}/{victim}"),
    Attack("path: double slash inside", "GET", OWN, sent="/{bucket}//{victim}"),
    Attack("path: backslashes", "GET", OWN, sent="/{bucket}/{table}\\..\\{victim}"),
    Attack("path: parameters", "GET", OWN, sent=VICTIM + ";" + OWN),
    Attack("path: a fragment", "GET", OWN, sent=VICTIM + "#" + OWN),
    Attack("path: the parent", "GET", OWN, sent="/{bucket}/{table}"),
    # Another method.
    Attack("method: write by a signature to read", "GET", OWN, sent_method="PUT", sent_body="x"),
    Attack("method: delete by a signature to read", "GET", OWN, sent_method="DELETE"),
    Attack("method: delete by a signature to write", "PUT", OWN, sent_method="DELETE"),
    Attack("method: read by a signature to look", "HEAD", OWN, sent_method="GET"),
    Attack("method: override", "GET", OWN, added=(("X-HTTP-Method-Override", "DELETE"), ("X-Method-Override", "DELETE"),
                                                  ("X-HTTP-Method", "DELETE")), refused=False),
    # Another operation.
    *(
        Attack(f"query: {query}", method, OWN, sent=f"{OWN}?{query}")
        for method, query in (
            ("GET", "acl"), ("GET", "policy"), ("GET", "tagging"), ("GET", "versions"), ("GET", "uploads"),
            ("GET", "versionId=1"), ("GET", "list-type=2&prefix="), ("PUT", "acl"), ("PUT", "policy"), ("PUT", "tagging"),
            ("PUT", "uploadId=x&partNumber=1"), ("DELETE", "tagging"), ("GET", "X-Amz-Expires=604800"), ("GET", "_method=DELETE"),
        )
    ),
    Attack("list: another prefix", "GET", LIST, sent="/{bucket}?list-type=2&prefix="),
    Attack("list: no prefix", "GET", LIST, sent="/{bucket}?list-type=2"),
    Attack("list: a second prefix", "GET", LIST, sent="/{bucket}?list-type=2&prefix={table}%2F&prefix="),
    Attack("list: another bucket", "GET", LIST, sent="/{other}?list-type=2&prefix={table}%2F"),
    Attack("list: the first version", "GET", LIST, sent="/{bucket}?prefix={table}%2F"),
    # Another body.
    Attack("delete: others' keys", "POST", "/{bucket}?delete", body=DELETE_OWN, sent_body=DELETE_VICTIM,
           refused=False, only_sessions=True),
    Attack("delete: one more key", "POST", "/{bucket}?delete", body=DELETE_OWN,
           sent_body=DELETE_OWN.replace("</Delete>", "<Object><Key>{victim}</Key></Object></Delete>"),
           refused=False, only_sessions=True),
    Attack("delete: in another bucket", "POST", "/{bucket}?delete", sent="/{other}?delete", body=DELETE_OWN,
           sent_body=DELETE_OWN, only_sessions=True),
    # Headers that the signature must have covered.
    Attack("copy: another table's", "PUT", OWN + "-copy", added=(("x-amz-copy-source", VICTIM),)),
    Attack("copy: another bucket's", "PUT", OWN + "-copy", added=(("X-Amz-Copy-Source", OUTSIDE),)),
    Attack("copy: another than was said first", "PUT", OWN + "-copy",
           added=(("x-amz-copy-source", VICTIM), ("x-amz-copy-source", OWN))),
    Attack("copy: a part", "PUT", OWN + "-copy?partNumber=1&uploadId=x", added=(("x-amz-copy-source", VICTIM),)),
    Attack("header: acl", "PUT", OWN + "-open", added=(("x-amz-acl", "public-read-write"),)),
    Attack("header: grant", "PUT", OWN + "-open", added=(("x-amz-grant-full-control", "uri=http://acs.amazonaws.com/groups/global/AllUsers"),)),
    Attack("header: tagging", "PUT", OWN + "-tagged", added=(("x-amz-tagging", "a=b"),)),
    Attack("header: redirect", "PUT", OWN + "-led", added=(("x-amz-website-redirect-location", VICTIM),)),
    Attack("header: rename", "PUT", OWN + "-renamed", added=(("x-amz-rename-source", VICTIM),)),
    Attack("header: another time", "GET", OWN, replaced=(("x-amz-date", "20350101T000000Z"),)),
    Attack("header: another hash", "PUT", OWN, replaced=(("x-amz-content-sha256", "0" * 64),), sent_body="x"),
    Attack("header: another token", "GET", OWN, replaced=(("x-amz-security-token", "none"),)),
    Attack("header: no authorization", "GET", OWN, sent=VICTIM, replaced=(("authorization", None),)),
)  # fmt: skip


@pytest.fixture(params=["sessions", "own key"])
async def ground(
    request: pytest.FixtureRequest, place: Place, grounds: Callable[[Place, bool], Awaitable[Ground]]
) -> Ground:
    found = await grounds(place, request.param == "sessions")
    await found.restore()
    return found


async def _carry_out(http: httpx.AsyncClient, ground: Ground, attack: Attack) -> tuple[int, bytes]:
    body = None if attack.body is None else ground.fill(attack.body)
    given = {name: [ground.fill(value)] for name, value in attack.signed}
    reply = await ask(http, ground, attack.method, ground.fill(attack.target), headers=given, body=body)
    if attack.only_sessions and not ground.by_sessions:
        assert (reply.status_code, reply.json()["error"]["message"][:21]) == (403, "deletes of many files"), reply.text
        return reply.status_code, b""
    assert reply.status_code == 200, f"nothing was signed: {reply.text}"
    headers = {name.lower(): ",".join(values) for name, values in reply.json()["headers"].items()}
    for name, value in attack.replaced:
        if value is None:
            headers.pop(name, None)
        else:
            headers[name] = ground.fill(value)
    added = [(name, ground.fill(value)) for name, value in attack.added]
    lines = [*headers.items(), *added] if attack.after else [*added, *headers.items()]
    sent_body = ground.fill(attack.sent_body or "").encode()
    method = attack.sent_method or attack.method
    answer = await send(ground.store.endpoint, method, ground.fill(attack.sent or attack.target), lines, sent_body)
    return answer.status, answer.body


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
async def test_a_signature_opens_nothing_but_what_it_was_made_for(
    http: httpx.AsyncClient, ground: Ground, attack: Attack
) -> None:
    before = await ground.state()
    status, body = await _carry_out(http, ground, attack)
    assert ground.secret not in body
    assert not attack.unsaid or ground.fill(attack.unsaid).encode() not in body
    assert not attack.refused or status >= 400, (status, body[:500])
    assert await ground.state() == before


SERVED = (
    Attack("read", "GET", OWN),
    Attack("look", "HEAD", OWN),
    Attack("list", "GET", LIST),
    Attack("write", "PUT", OWN + "-second", sent_body="x"),
    Attack("copy", "PUT", OWN + "-copy", signed=(("x-amz-copy-source", OWN),)),
    Attack("start an upload", "POST", OWN + "-big?uploads"),
    Attack("delete", "DELETE", OWN + "-second"),
    Attack("delete many", "POST", "/{bucket}?delete", body=DELETE_OWN, sent_body=DELETE_OWN, only_sessions=True),
)


@pytest.mark.parametrize("request_", SERVED, ids=lambda request: request.name)
async def test_what_was_signed_is_served(http: httpx.AsyncClient, ground: Ground, request_: Attack) -> None:
    """The twin: requests without a trick."""
    status, answer = await _carry_out(http, ground, request_)
    if request_.only_sessions and not ground.by_sessions:
        return
    assert 200 <= status < 300, (status, answer)


async def test_the_store_goes_by_the_prefix_that_a_stranger_adds(ground: Ground) -> None:
    """The twin: with the store's own key and nothing covered, the first attack of the list succeeds."""
    signed_path, sent = ground.fill(ROOT + OUTSIDE), ground.fill(OUTSIDE)
    store = ground.store
    answer = await as_key(
        store, store.admin, "GET", sent, signed_path=signed_path, x_forwarded_prefix=ground.fill(ROOT)
    )
    assert (answer.status, answer.body) == (200, ground.secret)
