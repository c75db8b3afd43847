from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from lakeward_cli.configuration import check, show
from lakeward_servicekit.settings.problems import SettingsError

_USABLE = {
    "LAKEKEEPER__PG_DATABASE_URL_WRITE": "postgresql://someone:hunter2@db.example/lakeward",
    "LAKEWARD__ENCRYPTION_KEYS": f"one:{'QUFB' * 10}QUE=",
    "PATH": "/bin",
}


async def _printed(
    capsys: pytest.CaptureFixture[str], environ: Mapping[str, str], service: str | None = None
) -> tuple[Mapping[str, tuple[str, str]], str]:
    """Value and source by name, and what went to standard error."""
    await check(environ, service)
    out, err = capsys.readouterr()
    lines = [re.fullmatch(r"([A-Z0-9_<>-]+)=(.*)  # (.+)", line) for line in out.splitlines()]
    assert all(lines), out
    return {line[1]: (line[2], line[3]) for line in lines if line}, err


async def test_what_is_in_force_is_printed_with_its_source_and_no_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "token").write_text("hunter3\n")
    environ = {
        **_USABLE,
        "LAKEKEEPER__NATS_ADDRESS": "nats://n:4222",
        "ICEBERG_REST__NATS_TOPIC": "lake",
        "LAKEKEEPER__NATS_TOKEN_FILE": str(tmp_path / "token"),
        "LAKEKEEPER__IDEMPOTENCY": '{lifetime="PT1H"}',
    }
    found, err = await _printed(capsys, environ)
    assert found["LAKEKEEPER__NATS_TOPIC"] == ("lake", "ICEBERG_REST__NATS_TOPIC")
    assert found["LAKEKEEPER__NATS_TOKEN"] == (
        "**********",
        f"LAKEKEEPER__NATS_TOKEN_FILE, file {tmp_path / 'token'}",
    )
    assert found["LAKEKEEPER__IDEMPOTENCY__LIFETIME"] == ("PT1H", "LAKEKEEPER__IDEMPOTENCY")
    assert found["LAKEKEEPER__LISTEN_PORT"] == ("8181", "default")
    assert "hunter" not in str(found) + err
    assert "QUFB" not in str(found) + err
    assert "ICEBERG_REST__NATS_TOPIC has the prefix of upstream's releases before 0.5" in err
    assert "the configuration is usable" in err


async def test_one_service_is_asked_for_what_it_reads_alone(capsys: pytest.CaptureFixture[str]) -> None:
    environ = {
        **_USABLE,
        "LAKEWARD__WORKLOAD__PEERS": f"catalog:{'A' * 43}=",
        "LAKEWARD__AUTHZ__ADDRESS": "authz:8192",
    }
    found, _ = await _printed(capsys, environ, "vending")
    assert "LAKEKEEPER__CACHE__STC__ENABLED" in found
    assert "LAKEKEEPER__LISTEN_PORT" not in found
    assert "LAKEKEEPER__TASK_POLL_INTERVAL" not in found


async def test_all_that_is_wrong_is_said_after_what_is_in_force(capsys: pytest.CaptureFixture[str]) -> None:
    environ = {**_USABLE, "LAKEKEEPER__LISTEN_PORT": "eighty", "LAKEKEEPER__LISTEN_PROT": "80"}
    with pytest.raises(SettingsError) as refused:
        await check(environ, None)
    assert {problem.variable for problem in refused.value.problems} == {
        "LAKEKEEPER__LISTEN_PORT",
        "LAKEKEEPER__LISTEN_PROT",
    }
    out = capsys.readouterr().out
    assert "LAKEKEEPER__LISTEN_PORT=  # can't be used as it is written" in out
    assert "eighty" not in out


async def test_showing_judges_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    await show({"LAKEKEEPER__LISTEN_PORT": "eighty"}, None)
    assert "LAKEKEEPER__PG_HOST_W=  # default" in capsys.readouterr().out
