"""What the log says, and what it never says."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_servicekit.secrecy import MASK, SecretStr
from lakeward_servicekit.telemetry import Correlation, bind
from lakeward_servicekit.telemetry.logs import OURS, JsonFormatter, TextFormatter, configure, masked

ROOT = Path(__file__).parents[3]


def _record(message: str = "something happened", /, **extra: Any) -> logging.LogRecord:
    return logging.getLogger("lakeward_catalog.test").makeRecord(
        "lakeward_catalog.test", logging.INFO, "file.py", 7, message, (), None, extra=extra
    )


def _line(record: logging.LogRecord, **options: bool) -> dict[str, Any]:
    line = json.loads(JsonFormatter(**options).format(record))
    assert isinstance(line, dict)
    return line


def test_a_line_is_one_json_object_with_the_call_sites_fields() -> None:
    line = _line(_record(table="ns.t", attempts=3, elapsed_ms=1.5))
    assert line["message"] == "something happened"
    assert (line["level"], line["logger"]) == ("info", "lakeward_catalog.test")
    assert (line["table"], line["attempts"], line["elapsed_ms"]) == ("ns.t", 3, 1.5)
    assert line["timestamp"].endswith("Z")


def test_a_line_has_the_ids_of_the_request_it_belongs_to() -> None:
    with bind(Correlation("r-1", "a" * 32, "b" * 16)):
        line = _line(_record())
    assert (line["request_id"], line["trace_id"], line["span_id"]) == ("r-1", "a" * 32, "b" * 16)
    assert "request_id" not in _line(_record())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("password", "hunter2"),
        ("PG_PASSWORD", "hunter2"),
        ("authorization", "Bearer hunter2"),
        ("X-Auth-Token", "hunter2"),
        ("secret_access_key", "hunter2"),
        ("session_token", b"hunter2"),
        ("anything", SecretStr("hunter2")),
        ("headers", {"Authorization": "hunter2", "accept": "x"}),
        ("nested", [{"deep": {"private_key": "hunter2"}}]),
        ("listed", [SecretStr("hunter2")]),
    ],
)
def test_a_secret_is_masked_wherever_it_stands(key: str, value: object) -> None:
    for formatter in (JsonFormatter(), TextFormatter()):
        text = formatter.format(_record(**{key: value}))
        assert "hunter2" not in text
        assert MASK in text


@pytest.mark.parametrize("key", ["secret_id", "access_key_id", "next_page_token", "key", "table", "tokenised"])
def test_what_only_sounds_like_a_secret_is_shown_where_it_is_known_to_be_none(key: str) -> None:
    assert masked(key, "shown") == (MASK if key == "tokenised" else "shown")


@given(
    st.recursive(
        st.none() | st.text() | st.integers() | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_every_value_can_be_logged(value: object) -> None:
    assert "\n" not in JsonFormatter().format(_record(value=value))


def test_a_message_and_fields_can_not_forge_a_line() -> None:
    assert "\n" not in JsonFormatter().format(_record(table='x"}\n{"level":"error"'))
    assert "\n" not in TextFormatter().format(_record(table="x\nERROR all is lost"))


def test_a_field_can_not_take_the_place_of_the_lines_own() -> None:
    assert _line(_record(timestamp="never", logger="other"))["logger"] == "lakeward_catalog.test"


def _fail() -> None:
    raise LookupError("gone")


def test_an_exception_is_told_with_its_trace() -> None:
    with pytest.raises(LookupError) as raised:
        _fail()
    record = _record()
    record.exc_info = (raised.type, raised.value, raised.tb)
    assert "LookupError: gone" in _line(record)["exception"]
    assert "LookupError: gone" in TextFormatter().format(record)


def test_the_source_is_told_where_it_is_asked_for() -> None:
    assert _line(_record(), with_source=True)["source"] == "file.py:7"
    assert "source" not in _line(_record())


def test_configure_sends_json_to_a_file_and_text_to_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    root, ours = logging.getLogger(), logging.getLogger("lakeward_catalog")
    before = root.handlers[:], root.level, ours.level
    try:
        for stream, begins in ((io.StringIO(), "{"), (Terminal(), "")):
            monkeypatch.setattr("sys.stderr", stream)
            configure(level="info")
            logging.getLogger("lakeward_catalog.test").info("hello", extra={"table": "t"})
            logging.getLogger("lakeward_catalog.test").debug("unheard")
            logging.getLogger("boto3").info("unheard")
            (line,) = stream.getvalue().splitlines()
            assert line.startswith(begins)
            assert begins == "{" or "hello  table=t" in line
    finally:
        root.handlers[:] = before[0]
        root.setLevel(before[1])
        ours.setLevel(before[2])


def test_the_level_is_for_every_package_of_ours_that_logs() -> None:
    places = [path for folder in ("libs/*", "services/*", "cli") for path in ROOT.glob(f"{folder}/lakeward_*")]
    assert sorted(path.name for path in places if path.name != "lakeward_protocol") == list(OURS)
