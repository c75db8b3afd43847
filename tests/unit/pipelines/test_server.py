from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lakeward_pipelines import server
from lakeward_pipelines.server import ServerUnavailable


def test_a_given_address_where_nobody_serves_is_an_error_and_starts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "serves", lambda url: False)
    with (
        pytest.raises(ServerUnavailable, match=r"http://127\.0\.0\.1:1"),
        server.server("http://127.0.0.1:1", log=tmp_path / "log", environment={}),
    ):
        pass
    assert not (tmp_path / "log").exists()


def test_one_that_serves_where_up_would_listen_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def serves(url: str) -> bool:
        asked.append(url)
        return True

    monkeypatch.setattr(server, "serves", serves)
    environment = {"LAKEKEEPER__BIND_IP": "0.0.0.0", "LAKEKEEPER__LISTEN_PORT": "9191"}
    with server.server(None, log=tmp_path / "log", environment=environment) as url:
        assert url == "http://127.0.0.1:9191"
    assert asked == ["http://127.0.0.1:9191"]


def test_an_embedded_one_that_ends_while_it_starts_is_an_error_with_the_end_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho 'the folder is taken'; exit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(server, "serves", lambda url: False)
    monkeypatch.setattr(sys, "executable", str(program))
    with (
        pytest.raises(ServerUnavailable, match=r"(?s)status 3.*the folder is taken"),
        server.server(None, log=tmp_path / "log", environment={"PATH": "/bin:/usr/bin"}),
    ):
        pass
