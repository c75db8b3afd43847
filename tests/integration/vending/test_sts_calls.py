"""What goes to an STS, seen by one that answers whatever it is told to."""

from __future__ import annotations

import datetime as dt
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

import pytest

from lakeward_locations import Location
from lakeward_servicekit.errors import Reason
from lakeward_servicekit.system import SystemIds
from lakeward_vending.adapters.network.addresses import AddressGuard, SystemResolver
from lakeward_vending.adapters.network.calls import HttpCalls
from lakeward_vending.adapters.s3 import oss, r2
from lakeward_vending.adapters.s3.backend import S3Backend
from lakeward_vending.application.ports import Grant, Storage
from lakeward_vending.domain import credentials
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.addresses import AddressRules
from lakeward_vending.domain.credentials import Credential
from lakeward_vending.domain.profiles import profile as profiles
from lakeward_vending.domain.s3.keys import Session
from lakeward_vending.domain.s3.system_identity import SystemIdentityRules
from lakeward_vending.domain.secret import Secret
from tests.support.vending.fakes import START, FakeClock, refusal_of
from tests.support.vending.permits import TABLE, credential, profile_text

pytestmark = pytest.mark.integration

EXPIRES = "2026-08-21T13:30:00Z"
GRANTED = f"""<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
<AccessKeyId>AK</AccessKeyId><SecretAccessKey>sk</SecretAccessKey><SessionToken>tok</SessionToken>
<Expiration>{EXPIRES}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"""


class Sts:
    """A service that keeps what it is sent, and answers from a list; the last answer is given again and again."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.answers: list[tuple[int, str]] = [(200, GRANTED)]
        sts = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", "0")))
                sts.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
                status, text = sts.answers.pop(0) if len(sts.answers) > 1 else sts.answers[0]
                self.send_response(status)
                if status == 302:
                    self.send_header("location", text)
                    text = ""
                self.send_header("content-length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
                del format, args

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.requests[-1][2].decode()).items()}


@pytest.fixture
def sts() -> Iterator[Sts]:
    service = Sts()
    thread = threading.Thread(target=service.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield service
    service.server.shutdown()
    service.server.server_close()
    thread.join()


@asynccontextmanager
async def opened() -> AsyncIterator[tuple[S3Backend, HttpCalls]]:
    guard = AddressGuard(AddressRules(), SystemResolver())
    calls = HttpCalls(guard)
    try:
        yield (
            S3Backend(calls=calls, guard=guard, rules=SystemIdentityRules(), clock=FakeClock(), ids=SystemIds()),
            calls,
        )
    finally:
        calls.close()


def storage(sts: Sts, *, key: Credential | None = None, **changes: object) -> Storage:
    text = profile_text(sts_endpoint=f"{sts.url}/sts", **changes)
    return Storage(profiles.parse(text), profiles.digest(text), key or credential(external_id="ext"), UUID(int=1))


async def mint(sts: Sts, *, principal: str = "oidc~alice", **changes: Any) -> Session:
    async with opened() as (backend, _):
        return await backend.mint(Grant(storage(sts, **changes), TABLE, Access.READ, principal))


async def test_an_sts_is_asked_for_the_role_with_everything_that_the_profile_says(sts: Sts) -> None:
    minted = await mint(
        sts,
        sts_role_arn="arn:aws-cn:iam::1:role/x",
        sts_token_validity_seconds=1200,
        sts_session_tags={"team": "a b", "cost": "1"},
    )
    assert minted == Session("AK", Secret("sk"), Secret("tok"), dt.datetime(2026, 8, 21, 13, 30, tzinfo=dt.UTC))
    form = sts.form()
    policy = json.loads(form.pop("Policy"))
    assert policy["Statement"][0]["Resource"] == "arn:aws-cn:s3:::lake/wh/t1/*"
    assert form.pop("RoleSessionName").startswith("lakeward-")
    assert form == {
        "Action": "AssumeRole",
        "Version": "2011-06-15",
        "RoleArn": "arn:aws-cn:iam::1:role/x",
        "DurationSeconds": "1200",
        "ExternalId": "ext",
        "Tags.member.1.Key": "cost",
        "Tags.member.1.Value": "1",
        "Tags.member.2.Key": "team",
        "Tags.member.2.Value": "a b",
    }
    path, headers, _ = sts.requests[0]
    assert path == "/sts"
    assert "/eu/sts/aws4_request" in headers["authorization"]


async def test_principals_are_told_apart_by_the_session_s_name_and_not_named_by_it(sts: Sts) -> None:
    names = []
    for principal in ("oidc~alice", "oidc~bob", "oidc~alice"):
        await mint(sts, principal=principal)
        names.append(sts.form()["RoleSessionName"])
    assert names[0] == names[2] != names[1]
    assert "alice" not in names[0]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            (
                403,
                "<ErrorResponse><Error><Code>AccessDenied</Code><Message>arn:secret</Message></Error></ErrorResponse>",
            ),
            "NOT_ISSUED",
        ),
        ((400, "<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>"), "UNAVAILABLE"),
        ((503, "busy"), "UNAVAILABLE"),
        ((200, "<html>"), "UNAVAILABLE"),
        ((200, '<!DOCTYPE x [<!ENTITY e "y">]><a>&e;</a>'), "UNAVAILABLE"),
        ((200, GRANTED.replace(EXPIRES, "soon")), "UNAVAILABLE"),
    ],
)
async def test_what_an_sts_answers_decides_whether_a_retry_can_help(
    sts: Sts, answer: tuple[int, str], reason: str
) -> None:
    sts.answers = [answer]
    refusal = await refusal_of(mint(sts))
    expected = {"NOT_ISSUED": Reason.REASON_CREDENTIAL_NOT_ISSUED, "UNAVAILABLE": Reason.REASON_STORE_UNAVAILABLE}
    assert refusal.reason == expected[reason]
    assert "arn:secret" not in refusal.message


async def test_a_redirect_is_not_followed(sts: Sts) -> None:
    sts.answers = [(302, f"{sts.url}/elsewhere")]
    assert (await refusal_of(mint(sts))).reason == Reason.REASON_CREDENTIAL_NOT_ISSUED
    assert [path for path, *_ in sts.requests] == ["/sts"]


async def test_an_assumed_role_is_assumed_again_shortly_before_it_ends(sts: Sts) -> None:
    async with opened() as (backend, _):
        signing = storage(sts, assume_role_arn="arn:aws:iam::1:role/server")
        key = await backend.signing_key(signing)
        assert key.session_token == Secret("tok")
        await backend.signing_key(signing)
        assert len(sts.requests) == 1
        clock = backend._clock
        assert isinstance(clock, FakeClock)
        clock.advance(minutes=86)
        await backend.signing_key(signing)
        assert len(sts.requests) == 2
        assert "Policy" not in sts.form()


R2 = {
    "type": "s3",
    "credential-type": "cloudflare-r2",
    "access-key-id": "parent",
    "secret-access-key": "sk",
    "token": "bearer",
    "account-id": "acc/ount",
}


async def test_r2_is_asked_for_one_prefix_and_its_level(sts: Sts) -> None:
    key = credentials.parse(json.dumps(R2).encode())
    result = {"result": {"accessKeyId": "AK", "secretAccessKey": "sk", "sessionToken": "tok"}}
    sts.answers = [(200, json.dumps(result))]
    async with opened() as (_, calls):
        for access, permission in ((Access.READ, "object-read-only"), (Access.READ_WRITE, "object-read-write")):
            grant = Grant(storage(sts, key=key), TABLE, access, "alice")
            minted = await r2.mint(grant, key, seconds=900, calls=calls, clock=FakeClock(), api=sts.url)
            path, headers, body = sts.requests[-1]
            assert path == "/client/v4/accounts/acc%2Fount/r2/temp-access-credentials"
            assert headers["authorization"] == "Bearer bearer"
            assert json.loads(body) == {
                "bucket": "lake",
                "prefixes": ["wh/t1/"],
                "permission": permission,
                "ttlSeconds": 900,
                "parentAccessKeyId": "parent",
            }
            assert minted.expires_at == START + dt.timedelta(seconds=900)


async def test_oss_is_asked_with_a_signed_form_and_its_own_kind_of_policy(sts: Sts) -> None:
    key = credentials.parse(json.dumps({**R2, "credential-type": "aliyun-oss"}).encode())
    granted = {
        "Credentials": {"AccessKeyId": "AK", "AccessKeySecret": "sk", "SecurityToken": "tok", "Expiration": EXPIRES}
    }
    sts.answers = [(200, json.dumps(granted))]
    async with opened() as (backend, _):
        oss_storage = storage(sts, key=key, sts_role_arn="acs:ram::1:role/x")
        minted = await backend.mint(Grant(oss_storage, TABLE, Access.READ_WRITE, "alice"))
        wild = Grant(oss_storage, Location.parse("s3://lake/wh/t*"), Access.READ, "alice")
        assert (await refusal_of(backend.mint(wild))).reason == Reason.REASON_CREDENTIAL_NOT_ISSUED
    assert minted.access_key_id == "AK"
    form = sts.form()
    signature = form.pop("Signature")
    assert signature == oss.signature(form, key=Secret("sk"))
    policy = json.loads(form["Policy"])
    assert policy["Version"] == "1"
    assert policy["Statement"][0]["Resource"] == "acs:oss:*:*:lake/wh/t1/*"
    assert "oss:DeleteObject" not in policy["Statement"][0]["Action"]
