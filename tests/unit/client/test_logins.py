"""People who log in: by a device, by a browser, and by what is left of it afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from lakeward import AsyncClient, Client
from lakeward._async import tokens as waiting
from lakeward._sync import tokens as plain
from lakeward.auth import BrowserLogin, DeviceFlow, DevicePrompt
from lakeward.errors import AuthError, GrantError

PROJECT = {"project-id": "p", "project-name": "Here"}
DEVICE = {"device_code": "dc", "user_code": "AB-CD", "verification_uri": "http://idp.test/go", "interval": 1}


def not_yet(error: str = "authorization_pending") -> httpx.Response:
    return httpx.Response(400, json={"error": error})


def token(name: str, *, life: int = 3600, refresh: str | None = None) -> httpx.Response:
    told = {"access_token": name, "expires_in": life, **({"refresh_token": refresh} if refresh else {})}
    return httpx.Response(200, json=told)


class Provider:
    """Answers token requests in order; everything else is the lake's, which lets everybody in."""

    def __init__(self, *answers: httpx.Response, device: Any = None) -> None:
        self.answers = iter(answers)
        self.device = httpx.Response(200, json=DEVICE) if device is None else device
        self.forms: list[dict[str, str]] = []
        self.seen: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.host != "idp.test":
            self.seen.append(request.headers["authorization"])
            return httpx.Response(200, json=PROJECT)
        form = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        if request.url.path == "/device":
            return self.device
        self.forms.append(form)
        return next(self.answers)


class Waits:
    """The pauses that were made, none of which takes time; the clock goes on by them."""

    def __init__(self) -> None:
        self.made: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.made.append(seconds)

    def monotonic(self) -> float:
        return 1000.0 + sum(self.made)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Waits:
    made = Waits()

    async def sleep(seconds: float) -> None:
        made.sleep(seconds)

    # the two modules' own names and not the clock's: threads of other tests sleep by it as well
    clock = SimpleNamespace(monotonic=made.monotonic)
    monkeypatch.setattr(plain, "clock", clock)
    monkeypatch.setattr(plain, "time", SimpleNamespace(sleep=made.sleep))
    monkeypatch.setattr(waiting, "clock", clock)
    monkeypatch.setattr(waiting, "anyio", SimpleNamespace(sleep=sleep))
    return made


@pytest.fixture(autouse=True)
def nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEWARD_LOGINS", str(tmp_path / "logins.json"))


def flow(shown: list[DevicePrompt], **settings: Any) -> DeviceFlow:
    return DeviceFlow("http://idp.test/device", "http://idp.test/token", "app", prompt=shown.append, **settings)


def test_a_person_is_waited_for_as_slowly_as_the_provider_says(waits: Waits) -> None:
    shown: list[DevicePrompt] = []
    provider = Provider(not_yet(), not_yet("slow_down"), not_yet(), token("t1"))
    with Client("http://lake.test", auth=flow(shown), transport=httpx.MockTransport(provider)) as lake:
        lake.management.projects.get()
        lake.management.projects.get()
    assert [(each.url, each.code, each.complete_url) for each in shown] == [("http://idp.test/go", "AB-CD", None)]
    assert waits.made == [1, 1, 6, 6]
    assert {form["device_code"] for form in provider.forms} == {"dc"}
    assert provider.seen == ["Bearer t1", "Bearer t1"]


async def test_the_waiting_twin_waits_as_well(waits: Waits) -> None:
    provider = Provider(not_yet(), token("t1"))
    async with AsyncClient("http://lake.test", auth=flow([]), transport=httpx.MockTransport(provider)) as lake:
        await lake.management.projects.get()
    assert waits.made == [1, 1]
    assert provider.seen == ["Bearer t1"]


@pytest.mark.parametrize("seconds", [3, 300])
def test_nobody_is_waited_for_for_ever(waits: Waits, seconds: int) -> None:
    provider = Provider(*(not_yet() for _ in range(1000)))
    auth = flow([], timeout=seconds)
    with (
        Client("http://lake.test", auth=auth, transport=httpx.MockTransport(provider)) as lake,
        pytest.raises(AuthError, match="AB-CD"),
    ):
        lake.management.projects.get()
    assert sum(waits.made) < seconds


@pytest.mark.usefixtures("waits")
def test_a_login_that_is_refused_is_told_in_the_providers_word() -> None:
    provider = Provider(httpx.Response(400, json={"error": "access_denied", "error_description": "not you"}))
    with (
        Client("http://lake.test", auth=flow([]), transport=httpx.MockTransport(provider)) as lake,
        pytest.raises(GrantError, match="access_denied not you") as told,
    ):
        lake.management.projects.get()
    assert told.value.error == "access_denied"


@pytest.mark.parametrize(
    "answer", [httpx.Response(200, json={}), httpx.Response(200, text="<html>"), httpx.Response(404)]
)
def test_an_endpoint_that_gives_no_code_is_named(answer: httpx.Response) -> None:
    provider = Provider(device=answer)
    with (
        Client("http://lake.test", auth=flow([]), transport=httpx.MockTransport(provider)) as lake,
        pytest.raises(AuthError, match=r"idp\.test/device"),
    ):
        lake.management.projects.get()


def test_afterwards_the_refresh_token_does_until_it_is_refused(waits: Waits) -> None:
    shown: list[DevicePrompt] = []
    provider = Provider(
        token("t1", life=100, refresh="r1"),
        token("t2", life=100, refresh="r2"),
        token("t3", life=100),  # which leaves the refresh token as it was
        httpx.Response(400, json={"error": "invalid_grant"}),
        token("t4"),
    )
    with Client("http://lake.test", auth=flow(shown), transport=httpx.MockTransport(provider)) as lake:
        for _ in range(4):
            lake.management.projects.get()
            waits.made.append(100)
    assert provider.seen == ["Bearer t1", "Bearer t2", "Bearer t3", "Bearer t4"]
    assert [form.get("refresh_token") for form in provider.forms] == [None, "r1", "r2", "r2", None]
    assert len(shown) == 2


def test_no_secret_is_shown() -> None:
    for auth in (flow([], client_secret="s3cr3t"), browser(lambda _: None, client_secret="s3cr3t")):
        assert "s3cr3t" not in repr(auth)


def browser(show: Callable[[str], object], **settings: Any) -> BrowserLogin:
    return BrowserLogin("http://idp.test/login", "http://idp.test/token", "app", show=show, **settings)


def going(answer: dict[str, str], *, before: str = "") -> Callable[[str], object]:
    """A browser whose person logs in, after it looked for something else."""

    def show(url: str) -> None:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert asked["code_challenge_method"] == "S256"
        told = {"state": asked["state"], **answer}

        def browse() -> None:
            with httpx.Client(trust_env=False) as http:
                for path in (before, "/callback?state=another&code=stolen"):
                    if path:
                        base = asked["redirect_uri"].removesuffix("/callback")
                        assert http.get(base + path).status_code == 404
                assert http.get(asked["redirect_uri"], params=told).status_code == 200

        threading.Thread(target=browse, daemon=True).start()

    return show


def test_a_person_logs_in_with_a_browser_and_no_other_answer_is_taken() -> None:
    provider = Provider(token("t1"))
    auth = browser(going({"code": "c1"}, before="/favicon.ico"), host="127.0.0.1", timeout=30)
    with Client("http://lake.test", auth=auth, transport=httpx.MockTransport(provider)) as lake:
        lake.management.projects.get()
    (form,) = provider.forms
    assert (form["grant_type"], form["code"]) == ("authorization_code", "c1")
    assert len(form["code_verifier"]) >= 43
    assert provider.seen == ["Bearer t1"]


async def test_the_waiting_twin_takes_a_browsers_answer_too() -> None:
    provider = Provider(token("t1"))
    auth = browser(going({"code": "c1"}), host="127.0.0.1", timeout=30)
    async with AsyncClient("http://lake.test", auth=auth, transport=httpx.MockTransport(provider)) as lake:
        await lake.management.projects.get()
    assert provider.seen == ["Bearer t1"]


@pytest.mark.parametrize(
    ("show", "told"), [(going({"error": "access_denied"}), "access_denied"), (lambda _: None, "nobody logged in")]
)
def test_a_login_that_does_not_happen_is_told(show: Callable[[str], object], told: str) -> None:
    # a browser answers in milliseconds; nobody ever does
    auth = browser(show, host="127.0.0.1", timeout=0.01 if told == "nobody logged in" else 30)
    with (
        Client("http://lake.test", auth=auth, transport=httpx.MockTransport(Provider())) as lake,
        pytest.raises(AuthError, match=told),
    ):
        lake.management.projects.get()
