"""The session with a KV v2 store and the place of secrets in it, over a store that says what a test wants."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from lakeward_servicekit.errors import Reason
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings.loading import load
from lakeward_servicekit.settings.problems import SettingsError
from lakeward_vending.adapters.kv2.logins import AppRole, Kubernetes, Login, Token, UserPass
from lakeward_vending.adapters.kv2.opening import login_of
from lakeward_vending.adapters.kv2.place import Place
from lakeward_vending.adapters.kv2.session import Session
from lakeward_vending.adapters.kv2.vault import Kv2Vault
from lakeward_vending.application.refusals import SecretStoreUnavailable
from lakeward_vending.settings import SecretSettings
from tests.support.vending.fakes import refusal_of

ID = UUID(int=7)
SECRET = "hush-login"


class Store:
    """A store that grants tokens t1, t2, ... and answers what is asked with the newest of them.

    Attributes:
        lease: seconds that a token lasts.
        renewable: whether it may last longer.
        fails: what it answers whatever is asked, where it is not None.
        asked: method, path and token of each request.
    """

    def __init__(self, *, lease: float = 90, renewable: bool = True) -> None:
        self.lease, self.renewable = lease, renewable
        self.fails: int | Exception | None = None
        self.asked: list[tuple[str, str, str]] = []
        self.granted = 0
        self.time = 0.0

    def session(self, login: Login | None = None) -> Session:
        http = httpx.AsyncClient(base_url="http://bao:8200", transport=httpx.MockTransport(self._answer))
        return Session(http, login or UserPass("userpass", "vending", SecretStr(SECRET)), now=lambda: self.time)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        token = request.headers.get("x-vault-token", "")
        path = request.url.path.removeprefix("/v1/")
        self.asked.append((request.method, path, token))
        if isinstance(self.fails, Exception):
            raise self.fails
        if self.fails is not None:
            return httpx.Response(self.fails, json={"errors": [f"{SECRET} {token}"]})
        if path.endswith("renew-self"):
            return self._token(f"t{self.granted}")
        if "/login" in path:
            self.granted += 1
            return self._token(f"t{self.granted}")
        if path == "auth/token/lookup-self":
            return httpx.Response(200, json={"data": {"ttl": self.lease, "renewable": self.renewable}})
        return httpx.Response(200 if token in {f"t{self.granted}", "given"} else 403, json={"data": {}})

    def _token(self, token: str) -> httpx.Response:
        auth = {"client_token": token, "lease_duration": self.lease, "renewable": self.renewable}
        return httpx.Response(200, json={"auth": auth})

    def paths(self) -> list[str]:
        return [path for _, path, _ in self.asked]


LOGIN, RENEWAL = "auth/userpass/login/vending", "auth/token/renew-self"


async def test_one_login_serves_all_who_ask_at_once_and_those_after_them() -> None:
    store = Store()
    session = store.session()
    await asyncio.gather(*(session.call("GET", "kv/data/x") for _ in range(5)))
    await session.call("GET", "kv/data/x")
    assert store.paths().count(LOGIN) == 1
    assert len(store.asked) == 7


async def test_a_token_is_renewed_after_two_thirds_of_its_life_and_goes_on() -> None:
    store = Store(lease=90)
    session = store.session()
    for store.time in (0, 59, 61, 120, 122):
        await session.call("GET", "x")
    assert store.paths() == [LOGIN, "x", "x", RENEWAL, "x", "x", RENEWAL, "x"]


async def test_a_token_that_can_not_be_renewed_is_followed_by_another_one_in_time() -> None:
    store = Store(lease=90, renewable=False)
    session = store.session()
    for store.time in (0, 61):
        await session.call("GET", "x")
    assert store.paths() == [LOGIN, "x", LOGIN, "x"]
    assert store.asked[-1][2] == "t2"


async def test_a_token_whose_life_is_over_is_not_sent() -> None:
    store = Store(lease=90)
    session = store.session()
    for store.time in (0, 91):
        await session.call("GET", "x")
    assert store.paths() == [LOGIN, "x", LOGIN, "x"]


async def test_a_token_that_was_revoked_is_followed_by_another_one_in_the_same_call() -> None:
    store = Store()
    session = store.session()
    await session.call("GET", "x")
    store.granted, store.time = 7, 10
    assert (await session.call("GET", "x")).status == 200
    assert store.paths() == [LOGIN, "x", "x", LOGIN, "x"]


async def test_what_a_policy_forbids_is_refused_without_a_login_for_each_call() -> None:
    store = Store()
    session = store.session(Token(SecretStr("other"), None))
    for _ in range(3):
        with pytest.raises(SecretStoreUnavailable, match="policy"):
            await session.call("GET", "x")
    assert store.paths().count("auth/token/lookup-self") == 1


@pytest.mark.parametrize(
    "fault", [500, 503, 429, 307, 412, httpx.ConnectError("x"), httpx.ReadTimeout("x"), httpx.RemoteProtocolError("x")]
)
async def test_an_outage_is_a_refusal_that_may_be_repeated_names_the_store_and_ends_by_itself(
    fault: int | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store()
    session = store.session()
    store.fails = fault
    with caplog.at_level(logging.DEBUG), pytest.raises(SecretStoreUnavailable) as refused:
        await session.call("GET", "x")
    assert refused.value.reason == Reason.REASON_SECRET_STORE_UNAVAILABLE
    assert refused.value.metadata == {"store": "http://bao:8200"}
    assert SECRET not in refused.value.message + caplog.text
    store.fails = None
    assert (await session.call("GET", "x")).status == 200


async def test_a_renewal_that_fails_leaves_the_token_in_use_until_its_end() -> None:
    store = Store(lease=90)
    session = store.session()
    await session.call("GET", "x")
    store.time, store.fails = 61, 503
    with pytest.raises(SecretStoreUnavailable):
        await session.call("GET", "x")
    asked = len(store.asked)
    store.fails = None
    assert (await session.call("GET", "x")).status == 200
    assert store.paths()[asked:] == ["x"]
    store.time = 67
    await session.call("GET", "x")
    assert store.paths()[-2:] == [RENEWAL, "x"]


async def test_a_reply_without_end_and_one_that_is_no_json_are_outages() -> None:
    def answer(content: bytes) -> Callable[[httpx.Request], httpx.Response]:
        return lambda request: httpx.Response(200, content=content)

    for content, said in ((b"{" + b" " * (1 << 20), "more than"), (b"<html>", "not JSON")):
        http = httpx.AsyncClient(base_url="http://bao", transport=httpx.MockTransport(answer(content)))
        with pytest.raises(SecretStoreUnavailable, match=said):
            await Session(http, Token(SecretStr("t"), None)).call("GET", "x")


async def test_a_password_in_the_address_is_not_shown() -> None:
    http = httpx.AsyncClient(
        base_url="http://me:hush@bao:8200", transport=httpx.MockTransport(lambda _: httpx.Response(500))
    )
    with pytest.raises(SecretStoreUnavailable) as refused:
        await Session(http, Token(SecretStr("t"), None)).call("GET", "x")
    assert "hush" not in str(refused.value) + str(refused.value.metadata)


async def test_tokens_in_files_are_read_when_they_are_needed(tmp_path: Path) -> None:
    store, file = Store(renewable=False), tmp_path / "token"
    session = store.session(Token(None, file))
    with pytest.raises(SecretStoreUnavailable, match=r"token can't be read: No such file"):
        await session.call("GET", "x")
    file.write_text("given\n")
    await session.call("GET", "x")
    assert store.asked[-1] == ("GET", "x", "given")
    file.write_text("")
    store.time = 91
    with pytest.raises(SecretStoreUnavailable, match="is empty"):
        await session.call("GET", "x")


async def test_each_login_sends_its_proof_to_its_own_mount(tmp_path: Path) -> None:
    (tmp_path / "jwt").write_text("a.b.c\n")
    sent: list[tuple[str, object]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append((request.url.raw_path.decode(), json.loads(request.content or b"null")))
        return httpx.Response(200, json={"auth": {"client_token": "t", "lease_duration": 0}})

    logins: list[Login] = [
        UserPass("people", "a/b", SecretStr("p")),
        AppRole("approle", "r", SecretStr("s")),
        Kubernetes("kubernetes", "lake", tmp_path / "jwt"),
    ]
    for login in logins:
        http = httpx.AsyncClient(base_url="http://bao", transport=httpx.MockTransport(answer))
        await Session(http, login).call("GET", "x")
    assert [each for each in sent if "/login" in each[0]] == [
        ("/v1/auth/people/login/a%2Fb", {"password": "p"}),
        ("/v1/auth/approle/login", {"role_id": "r", "secret_id": "s"}),
        ("/v1/auth/kubernetes/login", {"role": "lake", "jwt": "a.b.c"}),
    ]


@pytest.mark.parametrize(
    ("written", "data"),
    [
        ("kv", "kv/data/secret/"),
        ("/kv/", "kv/data/secret/"),
        ("kv/data", "kv/data/secret/"),
        ("kv/data/iceberg", "kv/data/iceberg/secret/"),
        ("kv/data/iceberg/prod", "kv/data/iceberg/prod/secret/"),
        ("team/kv/data/a b", "team/kv/data/a%20b/secret/"),
        ("team/kv", "team/kv/data/secret/"),
    ],
)
def test_a_mount_may_be_written_as_policies_have_it(written: str, data: str) -> None:
    place = Place.parse(written)
    assert place.data(ID) == f"{data}{ID}"
    assert place.metadata(ID) == place.data(ID).replace("/data/", "/metadata/", 1)


@pytest.mark.parametrize("written", ["", "/", "../sys", "kv/../sys", "kv/data/..", "data/x", "a b"])
def test_a_place_that_is_none_stops_the_start(written: str) -> None:
    with pytest.raises(SettingsError, match="KV2__SECRET_MOUNT"):
        load(SecretSettings, _settings(LAKEKEEPER__KV2__SECRET_MOUNT=written))


def _settings(**changes: str) -> dict[str, str]:
    return {
        "LAKEKEEPER__SECRET_BACKEND": "kv2",
        "LAKEKEEPER__KV2__URL": "http://bao:8200",
        "LAKEKEEPER__KV2__SECRET_MOUNT": "kv",
        "LAKEKEEPER__KV2__USER": "vending",
        "LAKEKEEPER__KV2__PASSWORD": SECRET,
        **changes,
    }


def test_the_settings_choose_the_login_and_no_key_is_needed() -> None:
    settings = load(SecretSettings, _settings()).settings
    assert settings.key_ring == ()
    assert login_of(settings) == UserPass("userpass", "vending", SecretStr(SECRET))
    compound = f'{{url="http://bao:8200", user="vending", password="{SECRET}", secret_mount="kv/data/iceberg"}}'
    found = load(SecretSettings, {"LAKEKEEPER__SECRET_BACKEND": "Kv2", "LAKEKEEPER__KV2": compound}).settings
    assert (found.kv2_user, found.kv2_secret_mount) == ("vending", "kv/data/iceberg")
    assert SECRET not in repr(found)


@pytest.mark.parametrize(
    ("login", "missing"),
    [
        ("userpass", {"KV2__USER", "KV2__PASSWORD"}),
        ("token", {"KV2__TOKEN"}),
        ("approle", {"KV2__ROLE_ID", "KV2__SECRET_ID"}),
        ("kubernetes", {"KV2__KUBERNETES_ROLE"}),
    ],
)
def test_a_login_without_its_proof_stops_the_start(login: str, missing: set[str]) -> None:
    environ = _settings(LAKEWARD__KV2__LOGIN=login)
    del environ["LAKEKEEPER__KV2__USER"], environ["LAKEKEEPER__KV2__PASSWORD"]
    with pytest.raises(SettingsError) as refused:
        load(SecretSettings, environ)
    assert {problem.variable.partition("__")[2] for problem in refused.value.problems} == missing


def test_a_kv_store_that_is_chosen_and_not_named_stops_the_start() -> None:
    with pytest.raises(SettingsError, match="LAKEKEEPER__KV2__URL is missing"):
        load(SecretSettings, {"LAKEKEEPER__SECRET_BACKEND": "kv2"})


async def test_a_secret_that_does_not_parse_is_refused_without_its_text() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if "lookup" in request.url.path:
            return httpx.Response(200, json={"data": {"ttl": 0}})
        return httpx.Response(200, json={"data": {"data": {"type": "s3", "secret-access-key": SECRET}}})

    http = httpx.AsyncClient(base_url="http://bao", transport=httpx.MockTransport(answer))
    vault = Kv2Vault(Session(http, Token(SecretStr("t"), None)), Place.parse("kv"))
    refusal = await refusal_of(vault.get(ID))
    assert refusal.reason == Reason.REASON_SECRET_UNREADABLE
    assert SECRET not in refusal.message
