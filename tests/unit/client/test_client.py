"""The client against a server that is a function; both twins, where what is tested can differ."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from lakeward import AsyncClient, Client, ClientCredentials, Retries, TokenFile
from lakeward._async import connection as waiting
from lakeward._sync import connection as plain
from lakeward.errors import (
    AnswerError,
    AuthError,
    BadRequestError,
    ConfigurationError,
    ConflictError,
    ForbiddenError,
    LakewardError,
    NotFoundError,
    ServerError,
    TooManyRequestsError,
    UnauthorizedError,
    UnavailableError,
    UnreachableError,
)

URL = "http://lake.test"
PROJECT = {"project-id": "p", "project-name": "Here"}
Handler = Callable[[httpx.Request], httpx.Response]


class _Still(random.Random):
    def uniform(self, a: float, b: float) -> float:
        del a, b
        return 0.0


QUICK = Retries(attempts=3, source=_Still())


def client(handler: Handler, **settings: Any) -> Client:
    return Client(URL, transport=httpx.MockTransport(handler), retries=QUICK, **settings)


def refusal(status: int, kind: str = "Kind", message: str = "no", **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"error": {"message": message, "type": kind, "code": status}}, headers=headers)


def answering(*answers: httpx.Response | Exception) -> tuple[Handler, list[httpx.Request]]:
    asked: list[httpx.Request] = []
    left = iter(answers)

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return handle, asked


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, BadRequestError),
        (401, UnauthorizedError),
        (403, ForbiddenError),
        (404, NotFoundError),
        (409, ConflictError),
        (412, ConflictError),
        (422, BadRequestError),
        (500, ServerError),
    ],
)
def test_a_refusal_says_what_the_server_said(status: int, kind: type[LakewardError]) -> None:
    handle, asked = answering(refusal(status, "SomeException", "the reason", **{"x-request-id": "r1"}))
    with (
        client(handle) as lake,
        pytest.raises(kind, match=rf"the reason \(SomeException {status}, request r1\)") as told,
    ):
        lake.management.info()
    assert (told.value.status, told.value.type, told.value.message) == (status, "SomeException", "the reason")  # type: ignore[attr-defined]
    assert len(asked) == 1


def test_a_refusal_that_is_no_document_of_ours_is_told_as_it_is() -> None:
    handle, _ = answering(httpx.Response(404, text="<h1>nginx</h1>"))
    with client(handle) as lake, pytest.raises(NotFoundError, match="<h1>nginx</h1>"):
        lake.management.info()


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_may_pass_is_asked_again(status: int) -> None:
    handle, asked = answering(refusal(status), refusal(status), httpx.Response(200, json=PROJECT))
    with client(handle) as lake:
        assert lake.management.projects.get().project_name == "Here"
    assert len(asked) == 3


def test_asking_again_ends() -> None:
    handle, asked = answering(*(refusal(503) for _ in range(3)))
    with client(handle) as lake, pytest.raises(UnavailableError):
        lake.management.projects.get()
    assert len(asked) == 3


def test_a_change_is_repeated_under_its_key() -> None:
    made = httpx.Response(201, json={"project-id": "n"})
    handle, asked = answering(httpx.ReadTimeout("late"), refusal(503), made)
    with client(handle) as lake:
        assert lake.management.projects.create("new") == "n"
    keys = {request.headers["idempotency-key"] for request in asked}
    assert len(asked) == 3
    assert len(keys) == 1


def test_a_change_without_a_key_is_not_repeated_once_it_may_have_arrived() -> None:
    handle, asked = answering(httpx.ReadTimeout("late"))
    with client(handle) as lake, pytest.raises(UnreachableError, match="no answer in time"):
        lake.management.projects.rename("p", "other")
    assert len(asked) == 1


def test_a_change_that_never_left_is_repeated() -> None:
    handle, asked = answering(httpx.ConnectError("refused"), httpx.Response(200))
    with client(handle) as lake:
        lake.management.projects.rename("p", "other")
    assert len(asked) == 2


def test_the_wait_that_a_refusal_asks_for_is_heeded_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("lakeward._sync.connection.time", SimpleNamespace(sleep=slept.append))
    told = [refusal(429, **{"retry-after": "3"}), refusal(429, **{"retry-after": "9999"})]
    handle, _ = answering(*told, httpx.Response(200, json=PROJECT))
    with client(handle) as lake:
        lake.management.projects.get()
    assert slept == [3.0, QUICK.longest]


def test_too_many_requests_is_told_when_attempts_are_used_up() -> None:
    handle, _ = answering(*(refusal(429) for _ in range(3)))
    with client(handle) as lake, pytest.raises(TooManyRequestsError):
        lake.management.info()


async def test_the_twin_that_waits_does_the_same() -> None:
    handle, asked = answering(refusal(503), httpx.Response(200, json=PROJECT))
    async with AsyncClient(URL, transport=httpx.MockTransport(handle), retries=QUICK) as lake:
        assert (await lake.management.projects.get()).project_name == "Here"
    assert len(asked) == 2


def _endless() -> Iterator[bytes]:
    while True:
        yield b"x" * 65_536


def test_an_answer_without_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "LARGEST_ANSWER", 1_000_000)
    with client(lambda _: httpx.Response(200, content=_endless())) as lake, pytest.raises(AnswerError, match="larger"):
        lake.management.info()
    assert waiting.LARGEST_ANSWER == 256 * 1024 * 1024


def test_an_answer_of_another_shape_names_the_member_and_not_its_value() -> None:
    handle, _ = answering(httpx.Response(200, json={"project-id": {"secret": "s3cr3t"}, "project-name": "Here"}))
    with client(handle) as lake, pytest.raises(AnswerError, match="project-id") as told:
        lake.management.projects.get()
    assert "s3cr3t" not in str(told.value)


def test_what_a_newer_server_says_is_kept() -> None:
    handle, _ = answering(httpx.Response(200, json={**PROJECT, "colour": "blue"}))
    with client(handle) as lake:
        found = lake.management.projects.get()
    assert found.model_dump(by_alias=True)["colour"] == "blue"


def test_listings_go_on_to_their_end() -> None:
    role = {
        "id": "1", "ident": "lakekeeper~a", "provider-id": "lakekeeper", "source-id": "a", "name": "A", "description": None,
        "project-id": "p", "created-at": "2026-01-01T00:00:00Z", "updated-at": None,
    }  # fmt: skip
    pages = [
        {"roles": [role], "next-page-token": "t2"},
        {"roles": [], "next-page-token": "t3"},
        {"roles": [role, role], "next-page-token": None},
    ]
    handle, asked = answering(*(httpx.Response(200, json=page) for page in pages))
    with client(handle) as lake:
        assert len(list(lake.management.roles.list())) == 3
    assert [request.url.params.get("pageToken") for request in asked] == [None, "t2", "t3"]


def test_the_url_may_be_what_engines_take_and_may_have_a_prefix() -> None:
    handle, asked = answering(httpx.Response(200, json=PROJECT))
    with Client(f"{URL}/lake/catalog/", transport=httpx.MockTransport(handle)) as lake:
        lake.management.projects.get()
    assert str(asked[0].url) == f"{URL}/lake/management/v1/project"


@pytest.mark.parametrize("url", ["", "lake.test", "ftp://lake.test", "http://", "http://u:secret@lake.test"])
def test_a_url_that_is_no_servers_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(ConfigurationError) as told:
        Client(url)
    assert "secret" not in str(told.value)


def token_answer(token: str, life: int) -> httpx.Response:
    return httpx.Response(200, json={"access_token": token, "expires_in": life})


CREDENTIALS = ClientCredentials("http://idp.test/token", "app", "s3cr3t", scope="lakeward")


def test_client_credentials_ask_for_a_token_once_and_again_when_it_is_refused() -> None:
    tokens = iter(["t1", "t2"])
    seen: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        if request.url.host == "idp.test":
            assert b"client_secret=s3cr3t" in request.content
            assert b"scope=lakeward" in request.content
            return token_answer(next(tokens), 3600)
        seen.append(request.headers["authorization"])
        return refusal(401) if len(seen) == 3 else httpx.Response(200, json=PROJECT)

    with client(handle, auth=CREDENTIALS) as lake:
        for _ in range(3):
            lake.management.projects.get()
    assert seen == ["Bearer t1", "Bearer t1", "Bearer t1", "Bearer t2"]


def test_a_token_that_ends_soon_is_replaced() -> None:
    asked = 0

    def handle(request: httpx.Request) -> httpx.Response:
        nonlocal asked
        if request.url.host == "idp.test":
            asked += 1
            return token_answer(f"t{asked}", 0)
        return httpx.Response(200, json=PROJECT)

    with client(handle, auth=CREDENTIALS) as lake:
        lake.management.projects.get()
        lake.management.projects.get()
    assert asked == 2


def test_a_token_that_stays_refused_is_told_and_not_asked_for_for_ever() -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        return token_answer("t", 3600) if request.url.host == "idp.test" else refusal(401)

    with client(handle, auth=CREDENTIALS) as lake, pytest.raises(UnauthorizedError):
        lake.management.projects.get()


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            httpx.Response(400, json={"error": "invalid_client", "error_description": "who?"}),
            "400: invalid_client who?",
        ),
        (httpx.Response(200, text="<html>"), "is it the token endpoint"),
        (httpx.Response(200, json=[]), "is it the token endpoint"),
        (httpx.Response(200, content=b"x" * 300_000), "more than"),
    ],
)
def test_a_provider_that_gives_no_token_is_told_of_without_the_secret(answer: httpx.Response, told: str) -> None:
    with client(lambda _: answer, auth=CREDENTIALS) as lake, pytest.raises(AuthError, match=told) as error:
        lake.management.projects.get()
    assert "s3cr3t" not in str(error.value)


def test_secrets_are_not_shown() -> None:
    assert "s3cr3t" not in repr(CREDENTIALS)


def test_a_token_file_is_read_anew_each_time(tmp_path: Any) -> None:
    file = tmp_path / "token"
    seen: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["authorization"])
        return httpx.Response(200, json=PROJECT)

    with client(handle, auth=TokenFile(file)) as lake:
        with pytest.raises(AuthError, match="token"):
            lake.management.projects.get()
        for token in ("one", "two"):
            file.write_text(f"{token}\n")
            lake.management.projects.get()
    assert seen == ["Bearer one", "Bearer two"]
