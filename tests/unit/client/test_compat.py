"""The old names: all of them, as they were."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import httpx
import pylakekeeper
import pytest

from lakeward import compat
from lakeward.compat.errors import translated
from lakeward.errors import ConfigurationError, UnreachableError

CONFIG = {
    "s3.access-key-id": "AK",
    "s3.secret-access-key": "SK",
    "s3.session-token": "ST",
    "s3.region": "eu",
    "s3.endpoint": "http://store:9000",
    "expiration-time": "4102444800000",
}
ANSWERS: list[dict[str, Any]] = [
    {"table": {"name": "t", "format": "lance", "base-location": "s3://lake/t"}},
    {
        "table": {"name": "t", "format": "lance", "base-location": "s3://lake/t", "doc": "d", "protected": True},
        "config": {"s3.region": "us"},
        "storage-credentials": [{"prefix": "s3://lake/t", "config": CONFIG}],
        "location": "s3://lake/t",
    },
    {
        "table": {"name": "t", "format": "lance", "base-location": "abfss://f@a.dfs.core.windows.net/t"},
        "config": {"adls.sas-token-expires-at-ms.a.dfs.core.windows.net": "soon"},
    },
]


# How that package sends its requests, and hands its tokens to PyIceberg. Ours does both otherwise.
PLUMBING = {
    "transport": {"Transport"},
    "iceberg": {"SharedAuthManager", "register_auth", "warehouse_name_for"},
    "generic_tables": {"GenericTables.__init__"},
}


def modules_of(package: ModuleType) -> Iterator[ModuleType]:
    """It, and every module in it that has no name of its own use."""
    yield package
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if not found.name.rpartition(".")[2].startswith("_"):
            module = importlib.import_module(found.name)
            yield from modules_of(module) if found.ispkg else [module]


def public(module: ModuleType) -> set[str]:
    """What it says is public; where it says nothing, what it has made itself."""
    own = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    }
    return set(getattr(module, "__all__", own))


MODULES = [module.__name__.removeprefix("pylakekeeper").removeprefix(".") for module in modules_of(pylakekeeper)]
NAMES = [
    (module, name)
    for module in MODULES
    for name in sorted(
        public(importlib.import_module(f"pylakekeeper.{module}".rstrip("."))) - PLUMBING.get(module, set())
    )
]


def both(module: str) -> tuple[ModuleType, ModuleType]:
    named = (f"pylakekeeper.{module}", f"lakeward.compat.{module}")
    theirs, ours = (importlib.import_module(name.rstrip(".")) for name in named)
    return theirs, ours


def test_the_whole_package_was_walked() -> None:
    assert {"", "agents", "agents.langgraph", "agents.memory", "auth", "errors", "models", "url"} <= set(MODULES)
    for module, names in PLUMBING.items():
        assert {name.partition(".")[0] for name in names} <= public(importlib.import_module(f"pylakekeeper.{module}"))


@pytest.mark.parametrize("module", ["", "agents"])
def test_what_is_said_to_be_public_is_the_same(module: str) -> None:
    theirs, ours = both(module)
    assert set(ours.__all__) == set(theirs.__all__)


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_whatever_can_be_called_takes_what_it_took(module: str, name: str) -> None:
    theirs, ours = (getattr(each, name) for each in both(module))
    if not callable(theirs):
        assert theirs == ours
        return
    pairs = [(theirs, ours)]
    if inspect.isclass(theirs):
        pairs = [(theirs.__init__, ours.__init__)] if f"{name}.__init__" not in PLUMBING.get(module, ()) else []
        methods = [each for each, _ in inspect.getmembers(theirs, inspect.isroutine) if not each.startswith("_")]
        pairs += [(getattr(theirs, each), getattr(ours, each)) for each in methods if each in vars(theirs)]
        properties = {each for each, value in vars(theirs).items() if isinstance(value, property) and each[0] != "_"}
        assert properties <= set(dir(ours)) | set(getattr(ours, "__annotations__", {}))
    for before, now in pairs:
        taken = {each.name: (each.kind, each.default) for each in inspect.signature(before).parameters.values()}
        takes = {each.name: (each.kind, each.default) for each in inspect.signature(now).parameters.values()}
        assert takes == taken, before


@pytest.mark.parametrize("name", ["create", "load", "list", "drop"])
def test_generic_tables_take_what_they_took(name: str) -> None:
    theirs = pylakekeeper.Client("http://lake.test", "w", pylakekeeper.StaticToken("t")).generic_tables
    ours = compat.Client("http://lake.test", "w", compat.StaticToken("t")).generic_tables
    before, now = (inspect.signature(getattr(tables, name)).parameters for tables in (theirs, ours))
    assert {each: told.default for each, told in now.items()} == {each: told.default for each, told in before.items()}


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_reads_as_it_did(answer: dict[str, Any]) -> None:
    theirs = pylakekeeper.LoadGenericTableResponse.model_validate(answer)
    ours = compat.LoadGenericTableResponse.model_validate(answer)
    assert ours.model_dump() == theirs.model_dump()
    for name in ("location", "credentials", "lance_storage_options", "fsspec_kwargs", "expires_at", "is_expired"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.expires_within(1e9) == theirs.expires_within(1e9)


@pytest.mark.parametrize("given", ["ai.test", ["ai", "te.st"], "a..b", "a\x1fb", "ä/b", ""])
def test_namespaces_are_written_as_they_were(given: Any) -> None:
    for name in ("parse_namespace", "join_namespace", "encode_namespace"):
        assert getattr(compat, name)(given) == getattr(pylakekeeper, name)(given)


def answered(handler: Any, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> compat.Client:
    client = compat.Client("http://lake.test", "0198e000-0000-7000-8000-000000000001", **settings)
    monkeypatch.setattr(client.lake.connection, "_http", httpx.Client(transport=httpx.MockTransport(handler)))
    return client


@pytest.mark.parametrize(
    ("status", "kind"),
    [(404, compat.NotFoundError), (409, compat.ConflictError), (400, compat.LakekeeperHTTPError)],
)
def test_refusals_have_their_old_names_and_the_servers_words(
    status: int, kind: type[compat.LakekeeperHTTPError], monkeypatch: pytest.MonkeyPatch
) -> None:
    def handle(_: httpx.Request) -> httpx.Response:
        return httpx.Response(status, json={"error": {"message": "the reason", "type": "T", "code": status}})

    with answered(handle, monkeypatch, auth=compat.StaticToken("t")) as client, pytest.raises(kind) as refused:
        client.generic_tables.load("ai", "t")
    assert type(refused.value) is kind
    assert refused.value.status_code == status
    assert "the reason" in refused.value.body


def test_a_token_that_was_refused_is_forgotten_and_asked_for_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine(compat.Auth):
        forgotten = 0

        def auth_header(self) -> str:
            return f"Bearer t{self.forgotten}"

        def invalidate(self) -> None:
            self.forgotten += 1

    seen: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["authorization"])
        return httpx.Response(200, json=ANSWERS[0]) if len(seen) == 2 else httpx.Response(401)

    with answered(handle, monkeypatch, auth=Mine()) as client:
        assert client.generic_tables.load("ai", "t").location == "s3://lake/t"
    assert seen == ["Bearer t0", "Bearer t1"]


def test_a_drop_deletes_the_files_as_it_did_and_overrides_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(204) if request.method == "DELETE" else httpx.Response(200, json=ANSWERS[1])

    overrides = {"s3.endpoint": "http://here:1"}
    with answered(handle, monkeypatch, auth=compat.StaticToken("t"), storage_overrides=overrides) as client:
        client.generic_tables.drop("ai.test", "a b")
        loaded = client.generic_tables.load("ai.test", "t", vended=True)
    assert asked[0].url.raw_path.endswith(b"/namespaces/ai%1Ftest/generic-tables/a%20b")
    assert not asked[0].url.query
    assert asked[1].headers["x-iceberg-access-delegation"] == "vended-credentials"
    assert loaded.lance_storage_options["aws_endpoint"] == "http://here:1"


def test_formats_that_are_none_and_calls_that_cant_be_are_refused_here(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        answered(lambda _: httpx.Response(500), monkeypatch, auth=compat.StaticToken("t")) as client,
        pytest.raises(compat.ConfigError),
    ):
        client.generic_tables.create("ai", "t", format="Delta Lake")
    with pytest.raises(compat.AuthError):
        compat.StaticToken("")
    for missing in ({"base_url": "", "warehouse": "w"}, {"base_url": "http://lake.test", "warehouse": ""}):
        with pytest.raises(compat.ConfigError):
            compat.Client(**missing, auth=compat.StaticToken("t"))
    with pytest.raises(compat.ConfigError):
        compat.object_store_for("file:///x", {})
    with pytest.raises(compat.ConfigError):
        compat.object_store_for("s3://lake/t", {})


@pytest.mark.parametrize(
    ("raised", "kind"),
    [(ConfigurationError("x"), compat.ConfigError), (UnreachableError("x"), compat.LakekeeperError)],
)
def test_whatever_is_raised_has_an_old_name(raised: Exception, kind: type[Exception]) -> None:
    with pytest.raises(kind), translated():
        raise raised
