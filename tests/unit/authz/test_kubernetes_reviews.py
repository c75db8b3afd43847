"""What the API server says of a token is read with care, asked for seldom, and never taken for more than it is."""

from __future__ import annotations

import asyncio
import dataclasses
import gzip
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from lakeward_authz.adapters.kubernetes import reviews
from lakeward_authz.adapters.kubernetes.cluster import Cluster, NoCluster, own_cluster
from lakeward_authz.adapters.kubernetes.reviews import ClusterUnreachable, RememberedReviews, Reviewed, TokenReviews
from lakeward_authz.adapters.kubernetes.verifier import (
    LEGACY_ISSUERS,
    KubernetesRules,
    KubernetesVerifier,
    SubjectSource,
)
from lakeward_authz.application.identifying import Identification, IdentityProvider, TrustedProviders
from lakeward_authz.domain.engines import EngineTokens
from lakeward_authz.domain.profiles import Profile, UserKind
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind, UserId
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.reviews import ACCEPTED, SPARK, service_token
from tests.support.users import FixedClock

NOW = datetime(2026, 8, 1, tzinfo=UTC)
AT = int(NOW.timestamp())
HELD = Reviewed(authenticated=True, uid="u-1", username=SPARK, audiences=("lake",))


def token(**claims: object) -> str:
    return service_token(exp=claims.pop("exp", AT + 300), **claims)


class Body(httpx.AsyncByteStream):
    """A body as it comes over the wire."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self.content), 65_536):
            yield self.content[start : start + 65_536]


@dataclasses.dataclass(frozen=True)
class Answer:
    """What an API server answers."""

    code: int
    content: bytes = b""
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def response(self) -> httpx.Response:
        return httpx.Response(self.code, headers=self.headers, stream=Body(self.content))


class Server:
    """An API server that always answers the same."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        return self.answer.response()


def answering(status: object) -> Answer:
    return Answer(201, json.dumps({"kind": "TokenReview", "status": status}).encode())


@pytest.fixture
def own_token(tmp_path: Path) -> Path:
    file = tmp_path / "token"
    file.write_text("own-1\n", encoding="ascii")
    return file


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    file = tmp_path / "empty"
    file.write_text("\n", encoding="ascii")
    return file


async def review(
    server: Callable[[httpx.Request], httpx.Response], own_token: Path, audiences: Sequence[str] = ("lake",)
) -> Reviewed:
    async with httpx.AsyncClient(transport=httpx.MockTransport(server)) as http:
        cluster = Cluster("https://api:6443", Path("ca"), own_token)
        return await TokenReviews(http, cluster, audiences=audiences)("a.b.c")


async def test_a_review_asks_with_our_own_token_about_the_callers_and_its_audiences(own_token: Path) -> None:
    server = Server(answering(ACCEPTED))
    assert await review(server, own_token) == HELD
    (asked,) = server.asked
    assert str(asked.url) == "https://api:6443/apis/authentication.k8s.io/v1/tokenreviews"
    assert asked.headers["authorization"] == "Bearer own-1"
    assert json.loads(asked.content) == {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenReview",
        "spec": {"token": "a.b.c", "audiences": ["lake"]},
    }


async def test_without_audiences_none_are_asked_about(own_token: Path) -> None:
    server = Server(answering(ACCEPTED))
    await review(server, own_token, ())
    assert "audiences" not in json.loads(server.asked[0].content)["spec"]


@pytest.mark.parametrize(
    "status",
    [
        {"authenticated": False, "user": ACCEPTED["user"]},
        {**ACCEPTED, "authenticated": "true"},
        {**ACCEPTED, "authenticated": 1},
        {**ACCEPTED, "error": "the lookup failed"},
        {**ACCEPTED, "user": None},
        {"user": ACCEPTED["user"]},
        {},
    ],
)
async def test_whatever_is_no_clear_yes_is_a_no(status: object, own_token: Path) -> None:
    assert await review(Server(answering(status)), own_token) == Reviewed(authenticated=False)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(403), "system:auth-delegator"),
        (Answer(401), "does not know this process's own token"),
        (Answer(500), "answers 500"),
        (Answer(302, headers={"location": "https://evil/"}), "answers 302"),
        (Answer(201, b"<html>"), "no TokenReview"),
        (Answer(201, b"[" * 100_000), "no TokenReview"),
        (Answer(201, b"[]"), "no TokenReview"),
        (Answer(201, b'{"status": null}'), "no TokenReview"),
        (Answer(201, b" " * 300_000), "more than 262144 bytes"),
        (
            Answer(201, gzip.compress(b" " * 100_000_000), {"content-encoding": "gzip"}),
            "no TokenReview",
        ),
    ],
)
async def test_an_answer_that_can_not_be_used_is_no_verdict(answer: Answer, why: str, own_token: Path) -> None:
    with pytest.raises(ClusterUnreachable, match=why) as raised:
        await review(Server(answer), own_token)
    assert "own-1" not in str(raised.value)
    assert "a.b.c" not in str(raised.value)


async def test_an_api_server_that_is_away_is_no_verdict(own_token: Path) -> None:
    def away(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("connection refused", request=request)

    with pytest.raises(ClusterUnreachable, match="connection refused"):
        await review(away, own_token)


async def test_an_own_token_that_was_replaced_is_read_again_once(own_token: Path) -> None:
    def replaced(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers["authorization"])
        own_token.write_text("own-2", encoding="ascii")
        return (answering(ACCEPTED) if asked[-1] == "Bearer own-2" else Answer(401)).response()

    asked: list[str] = []
    assert (await review(replaced, own_token)).authenticated
    assert asked == ["Bearer own-1", "Bearer own-2"]


async def test_a_token_file_that_is_gone_or_empty_is_no_verdict(empty: Path, tmp_path: Path) -> None:
    for file in (empty, tmp_path / "nowhere", tmp_path):
        with pytest.raises(ClusterUnreachable, match="token file"):
            await review(Server(answering(ACCEPTED)), file)


def test_a_pod_finds_its_own_cluster_and_anything_else_none() -> None:
    environ = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    found = own_cluster(environ, ca_file=None, token_file=None)
    assert found == Cluster(
        "https://10.96.0.1:443",
        Path("/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"),
        Path("/var/run/secrets/kubernetes.io/serviceaccount/token"),
    )
    six = own_cluster({"KUBERNETES_SERVICE_HOST": "fd00::1"}, ca_file=Path("ca"), token_file=Path("t"))
    assert six == Cluster("https://[fd00::1]:443", Path("ca"), Path("t"))
    with pytest.raises(NoCluster, match="KUBERNETES_SERVICE_HOST"):
        own_cluster({}, ca_file=None, token_file=None)


@dataclasses.dataclass
class Counted:
    """Reviews that are counted, and wait at a gate."""

    answer: Reviewed = HELD
    trouble: bool = False
    asked: list[str] = dataclasses.field(default_factory=list)
    gate: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    async def __call__(self, text: str) -> Reviewed:
        self.asked.append(text)
        await self.gate.wait()
        if self.trouble:
            raise ClusterUnreachable("it is away")
        return self.answer


@pytest.mark.parametrize("answer", [HELD, Reviewed(authenticated=False)])
async def test_a_verdict_is_remembered_for_seconds_whatever_it_was(answer: Reviewed) -> None:
    at = 100.0
    counted = Counted(answer)
    remembered = RememberedReviews(counted, now=lambda: at)
    for _ in range(3):
        assert await remembered("t") == answer
    assert counted.asked == ["t"]
    at += reviews.REMEMBERED_SECONDS
    await remembered("t")
    await remembered("other")
    assert counted.asked == ["t", "t", "other"]


async def test_all_who_ask_about_one_token_wait_for_one_review_and_one_who_leaves_does_not_end_it() -> None:
    counted = Counted()
    counted.gate.clear()
    remembered = RememberedReviews(counted)
    waiting = [asyncio.create_task(remembered("t")) for _ in range(20)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.sleep(0)
    counted.gate.set()
    assert set(await asyncio.gather(*waiting[1:])) == {HELD}
    assert counted.asked == ["t"]


async def test_no_verdict_is_not_remembered() -> None:
    counted = Counted(trouble=True)
    remembered = RememberedReviews(counted)
    with pytest.raises(ClusterUnreachable):
        await remembered("t")
    counted.trouble = False
    assert await remembered("t") == HELD


async def test_a_flood_of_tokens_reaches_the_api_server_a_few_at_once(own_token: Path) -> None:
    under_way, most = 0, 0

    async def slow(request: httpx.Request) -> httpx.Response:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        for _ in range(10):
            await asyncio.sleep(0)
        under_way -= 1
        return answering(ACCEPTED).response()

    async with httpx.AsyncClient(transport=httpx.MockTransport(slow)) as http:
        asking = TokenReviews(http, Cluster("https://api", Path("ca"), own_token), audiences=())
        await asyncio.gather(*(asking(f"t{number}") for number in range(100)))
    assert 1 < most <= 16


def rules(**changed: object) -> KubernetesRules:
    return dataclasses.replace(KubernetesRules(frozenset({"lake"}), None, SubjectSource.UID), **changed)  # type: ignore[arg-type]


def verifier(
    counted: Counted, its: KubernetesRules | None = None, engines: Sequence[EngineTokens] = ()
) -> KubernetesVerifier:
    return KubernetesVerifier(its or rules(), counted, engines=engines, clock=FixedClock(NOW))


async def identify(text: str, *providers: IdentityProvider) -> Identification:
    return await TrustedProviders(providers).identify(f"Bearer {text}")


async def refused(text: str, *providers: IdentityProvider) -> Refusal:
    with pytest.raises(Refusal) as refusal:
        await identify(text, *providers)
    assert text not in str(refusal.value)
    return refusal.value


async def test_a_service_account_is_an_application_until_its_token_ends() -> None:
    found = await identify(token(), verifier(Counted()))
    assert found.principal == Principal(PrincipalKind.USER, UserId("kubernetes~u-1"))
    assert found.profile == Profile(SPARK, None, UserKind.APPLICATION)
    assert (found.principal.token_roles, found.expires_at) == ((), datetime.fromtimestamp(AT + 300, UTC))


async def test_its_engine_is_matched_by_what_was_reviewed() -> None:
    trino = EngineTokens("trino", "kubernetes", frozenset(), frozenset({"u-1"}))
    found = await identify(token(), verifier(Counted(), engines=[trino]))
    assert found.principal.engines == ("trino",)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (token(exp=AT - 61), "expired"),
        (token(exp="soon"), "exp"),
        (token(aud=["elsewhere"]), "issuer"),
        (token(aud=...), "issuer"),
        (token(iss=...), "issuer"),
        ("2YotnFZFEjr1zCsicMWpAA", "malformed"),
    ],
)
async def test_nobody_is_asked_about_a_token_that_can_not_be_taken(text: str, cause: str) -> None:
    counted = Counted()
    assert (await refused(text, verifier(counted))).metadata == {"cause": cause}
    assert counted.asked == []


async def test_a_verdict_that_names_none_of_our_audiences_is_a_no() -> None:
    for audiences in ((), ("elsewhere",)):
        counted = Counted(dataclasses.replace(HELD, audiences=audiences))
        assert (await refused(token(), verifier(counted))).metadata == {"cause": "audience"}


async def test_a_user_of_the_cluster_without_the_configured_name_is_nobody() -> None:
    nameless = Counted(dataclasses.replace(HELD, uid=""))
    assert (await refused(token(), verifier(nameless))).reason == Reason.REASON_INVALID_USER_ID
    by_name = verifier(nameless, rules(subject_source=SubjectSource.USERNAME))
    assert (await identify(token(), by_name)).principal.user_id == f"kubernetes~{SPARK}"


async def test_while_the_api_server_is_away_nobody_is_said_to_be_refused() -> None:
    refusal = await refused(token(), verifier(Counted(trouble=True)))
    assert (refusal.reason, refusal.metadata) == (
        Reason.REASON_IDENTITY_PROVIDER_UNAVAILABLE,
        {"provider": "kubernetes"},
    )


@pytest.mark.parametrize("issuer", sorted(LEGACY_ISSUERS))
async def test_an_old_token_has_no_end_and_its_issuer_alone_chooses_who_reviews_it(issuer: str) -> None:
    new, old = Counted(), Counted()
    both = [verifier(new), verifier(old, rules(audiences=None, issuers=LEGACY_ISSUERS))]
    found = await identify(token(iss=issuer, aud=..., exp=...), *both)
    assert (found.principal.user_id, found.expires_at) == ("kubernetes~u-1", None)
    assert (new.asked, len(old.asked)) == ([], 1)
    assert (await refused(token(aud=...), *both)).metadata == {"cause": "issuer"}


async def test_without_an_audience_every_token_that_nobody_before_it_takes_is_reviewed() -> None:
    counted = Counted()
    await identify(token(iss="https://who-knows", aud=...), verifier(counted, rules(audiences=None)))
    assert len(counted.asked) == 1


async def test_the_revision_is_one_for_one_configuration_and_another_for_another() -> None:
    revisions = [
        (await identify(token(), verifier(Counted(), its))).revision
        for its in (rules(), rules(), rules(subject_source=SubjectSource.USERNAME), rules(audiences=None))
    ]
    assert revisions[0] == revisions[1]
    assert len(set(revisions)) == 3
