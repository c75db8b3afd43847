"""What logins leave behind: for whom it is, who may read it, and what becomes of it when it ends."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest

from lakeward import AsyncClient, Client
from lakeward.auth import BrowserLogin, DeviceFlow
from lakeward.logins import LoginFile, LoginsNotKeptWarning

DEVICE = {"device_code": "dc", "user_code": "AB-CD", "verification_uri": "http://idp.test/go", "interval": 0}


class Provider:
    """Knows refresh tokens, each of which counts once: a new one comes with each access token."""

    def __init__(self) -> None:
        self.valid = ""
        self.logins = 0
        self.given = 0
        self.refuses = False

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.host != "idp.test":
            if self.refuses:
                self.refuses = False
                return httpx.Response(
                    401, json={"error": {"message": "it has ended", "type": "Unauthorized", "code": 401}}
                )
            return httpx.Response(200, json={"project-id": "p", "project-name": "Here"})
        if request.url.path == "/device":
            return httpx.Response(200, json=DEVICE)
        form = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] != self.valid:
                return httpx.Response(400, json={"error": "invalid_grant"})
        else:
            self.logins += 1
        self.given += 1
        self.valid = f"secret-{self.given}"
        return httpx.Response(200, json={"access_token": "t", "refresh_token": self.valid, "expires_in": 3600})


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    there = tmp_path / "home" / "logins.json"
    monkeypatch.setenv("LAKEWARD_LOGINS", str(there))
    return there


def flow(client_id: str = "app", **settings: Any) -> DeviceFlow:
    return DeviceFlow("http://idp.test/device", "http://idp.test/token", client_id, prompt=lambda _: None, **settings)


def used(provider: Callable[[httpx.Request], httpx.Response], auth: DeviceFlow | BrowserLogin) -> None:
    """What a program does: it starts, asks something, and ends."""
    with Client("http://lake.test", auth=auth, transport=httpx.MockTransport(provider)) as lake:
        lake.management.projects.get()


def test_a_person_logs_in_once_for_many_programs() -> None:
    provider = Provider()
    for _ in range(3):
        used(provider, flow())
    assert provider.logins == 1
    assert provider.given == 3


async def test_the_waiting_twin_keeps_and_finds_the_same() -> None:
    provider = Provider()
    used(provider, flow())
    async with AsyncClient("http://lake.test", auth=flow(), transport=httpx.MockTransport(provider)) as lake:
        await lake.management.projects.get()
    used(provider, flow())
    assert provider.logins == 1


def test_a_login_is_that_of_one_application_at_one_provider() -> None:
    provider = Provider()
    used(provider, flow())
    for other in (flow("other"), flow(scope="more"), flow(audience="else")):
        before = provider.logins
        used(provider, other)
        assert provider.logins == before + 1


def test_what_is_kept_is_a_file_that_its_owner_alone_reads(place: Path) -> None:
    used(Provider(), flow())
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    (token,) = json.loads(place.read_text()).values()
    assert token == "secret-1"
    assert [each.name for each in place.parent.iterdir()] == [place.name]


def test_nothing_is_kept_where_that_is_not_wanted(place: Path) -> None:
    provider = Provider()
    used(provider, flow(logins=None))
    used(provider, flow(logins=None))
    assert provider.logins == 2
    assert not place.exists()


def test_a_file_that_others_may_read_is_not_believed_and_is_made_anew(place: Path) -> None:
    provider = Provider()
    used(provider, flow())
    place.chmod(0o644)
    with pytest.warns(LoginsNotKeptWarning, match=r"logins\.json"):
        used(provider, flow())
    assert provider.logins == 2
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    used(provider, flow())
    assert provider.logins == 2


@pytest.mark.parametrize("content", ["", "no json", "[]", '{"x": 1}', "\xff"])
def test_a_file_that_holds_something_else_is_as_none(place: Path, content: str) -> None:
    place.parent.mkdir()
    place.write_text(content)
    place.chmod(0o600)
    provider = Provider()
    used(provider, flow())
    used(provider, flow())
    assert provider.logins == 1


def test_a_refresh_token_that_has_ended_is_replaced_by_the_next_login() -> None:
    provider = Provider()
    used(provider, flow())
    provider.valid = "another"
    used(provider, flow())
    used(provider, flow())
    assert provider.logins == 2


def test_a_program_takes_up_what_another_one_was_given_meanwhile() -> None:
    provider = Provider()
    with Client("http://lake.test", auth=flow(), transport=httpx.MockTransport(provider)) as lake:
        lake.management.projects.get()
        used(provider, flow())  # its refresh token takes the place of the one that is known here
        provider.refuses = True  # an hour passes
        lake.management.projects.get()
    assert provider.logins == 1
    assert provider.given == 3


def test_where_nothing_can_be_kept_a_login_still_counts(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    provider = Provider()
    with pytest.warns(LoginsNotKeptWarning, match="not kept"):
        used(provider, flow(logins=LoginFile(tmp_path / "file" / "logins.json")))
    assert provider.logins == 1


def test_no_secret_is_shown(place: Path) -> None:
    used(Provider(), flow())
    kept = LoginFile()
    assert "secret" not in repr(kept) + repr(flow()) + str(flow())
    assert "secret" not in repr(BrowserLogin("http://idp.test/auth", "http://idp.test/token", "app"))
    assert place.name not in repr(flow())


def test_what_is_forgotten_is_asked_for_again() -> None:
    provider = Provider()
    used(provider, flow())
    for _ in range(2):
        LoginFile().forget(flow().login)
    used(provider, flow())
    assert provider.logins == 2
