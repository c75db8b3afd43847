"""Servers under names."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from lakeward import ClientCredentials, StaticToken, TokenFile, profiles
from lakeward.cli.main import main
from lakeward.errors import ConfigurationError


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "kept" / "profiles.toml"
    monkeypatch.setenv("LAKEWARD_PROFILES", str(path))
    monkeypatch.delenv("LAKEWARD_PROFILE", raising=False)
    return path


def test_without_a_file_there_is_no_profile() -> None:
    assert profiles.find() is None
    with pytest.raises(ConfigurationError, match="no profile 'x'"):
        profiles.find("x")


@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1))
def test_what_is_written_is_read_again(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAKEWARD_PROFILES", str(tmp_path_factory.mktemp("p") / "profiles.toml"))
        document = {"default": text, "profiles": {text: {"url": "http://x", "token": text}}}
        profiles.write(document)
        assert profiles.read() == document


def test_the_file_is_its_owners_alone(place: Path) -> None:
    profiles.write({"profiles": {"a": {"url": "http://x", "token": "t"}}})
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("told", "auth"),
    [
        ({}, None),
        ({"token": "t"}, StaticToken("t")),
        ({"token-file": "/t"}, TokenFile("/t")),
        (
            {"token-url": "http://i", "client-id": "c", "client-secret": "s", "scope": "x"},
            ClientCredentials("http://i", "c", "s", scope="x"),
        ),
    ],
)
def test_a_profile_says_where_tokens_come_from(told: dict[str, str], auth: object) -> None:
    assert profiles.parse({"url": "http://x", **told}).auth == auth


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({}, "no url"),
        ({"url": "http://x", "colour": "blue"}, "colour"),
        ({"url": "http://x", "token": "t", "token-file": "f"}, "one is enough"),
        ({"url": "http://x", "client-id": "c"}, "lacks token-url, client-secret"),
    ],
)
def test_a_profile_that_can_not_be_is_refused(told: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        profiles.parse(told)


def test_the_command_keeps_uses_and_forgets(place: Path) -> None:
    run = CliRunner().invoke
    assert run(main, ["profiles", "add", "a", "--url", "http://a"]).exit_code == 0
    added = ["profiles", "add", "b", "--url", "http://b", "--token-url", "http://i", "--client-id", "c"]
    assert run(main, added, input="s3cr3t\n").exit_code == 0
    found = profiles.find()
    assert found is not None
    assert found.url == "http://a"
    assert run(main, ["profiles", "use", "b"]).exit_code == 0
    found = profiles.find()
    assert found is not None
    assert found.url == "http://b"
    listed = run(main, ["profiles", "list", "--json"]).output
    assert "s3cr3t" not in listed
    assert "***" in listed
    assert run(main, ["profiles", "remove", "b"]).exit_code == 0
    assert "s3cr3t" not in place.read_text()
    assert profiles.find() is None


def test_a_broken_file_is_told(place: Path) -> None:
    place.parent.mkdir()
    place.write_text("default = ")
    ended = CliRunner().invoke(main, ["profiles", "list"])
    assert ended.exit_code == 2
    assert str(place) in ended.output
