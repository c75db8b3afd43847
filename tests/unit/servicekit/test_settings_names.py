"""The catalogue against the reference that lists every upstream name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeward_servicekit.settings import environment, known, names
from lakeward_servicekit.settings.catalogue import Support
from lakeward_servicekit.settings.showing import effective

SETTINGS = names.every()
_REFERENCE = Path(__file__).resolve().parents[3].parent / "shared" / "reference" / "config.md"  # beside the checkout
_NAME = re.compile(r"(?:…)?_*[A-Z][A-Z0-9]*(?:(?:_+)(?:[A-Z0-9]+|<[A-Z]+>))*")
_LONE_WORDS = {"RUST_LOG", "SSL_CERT_FILE", "SSL_CERT_DIR", "GOOGLE_APPLICATION_CREDENTIALS", "HTTPS_PROXY"}
# Headings of the reference under which names are written without the level they lie below.
_LEVELS = {"2.11 Console": "UI__", "[Plus] Cedar": "CEDAR__", "[Plus] Role": "ROLE_PROVIDER__LDAP__"}


def _first_cells(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith("| `"):
            yield line.split(" | ")[0]


def _section(text: str, start: str, end: str) -> str:
    return text[text.index(start) : text.index(end)]


def _spans(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def _documented() -> set[str]:
    """Names of the tables of sections 2 and 3, and of its prose on the commercial edition."""
    text = _REFERENCE.read_text()
    found: set[str] = set()
    tables = _section(text, "### 2.1 Server", "### 2.9 Caches") + _section(text, "### 2.10", "### 2.11")
    for cell in _first_cells(tables.splitlines()):
        found |= set(_expanded(_spans(cell)))
    for cache in re.findall(r"^\| `([A-Z_]+)` \|", _section(text, "### 2.9", "### 2.10"), re.MULTILINE):
        found |= {f"CACHE__{cache}__{field}" for field in ("ENABLED", "CAPACITY", "TIME_TO_LIVE_SECS")}
    found |= {name for name in _spans(_section(text, "### 2.8", "### 2.9")) if "_" in name and name.isupper()}
    for cell in _first_cells(_section(text, "### 2.11", "## 3.").splitlines()):
        console = [span if span[0] != "_" else f"OPENID_POST_LOGOUT_REDIRECT{span}" for span in _spans(cell)]
        found |= {f"UI__{name}" for name in console}
    for cell in _first_cells(_section(text, "## 3. Names", "## 4.").splitlines()):
        found |= {span for span in _spans(cell) if _plain(span)}
    found |= set(_commercial(text))
    return {name for name in found if name not in _LONE_WORDS}


def _plain(span: str) -> bool:
    return bool(_NAME.fullmatch(span)) and not span.endswith("__") and "*" not in span


def _expanded(spans: list[str]) -> Iterator[str]:
    """`A__B`, `__C` and `…__C` in one cell: the later ones share the first one's beginning."""
    last = "OPENID_PROVIDERS__<ID>__URI"
    for span in spans:
        if not _plain(span):
            continue
        if span.startswith(("…", "__")):
            stem = "OPENID_PROVIDERS__<ID>" if span.startswith("…") else last.rpartition("__")[0]
            yield stem + span.removeprefix("…")
        else:
            last = span
            yield span


def _commercial(text: str) -> Iterator[str]:
    cedar = _section(text, "**[Plus] Cedar**", "**[Plus] Role providers**")
    last = ""
    for span in _spans(cedar):
        if span == "CEDAR__…" or not _plain(span):
            continue
        last = last.rpartition("__")[0] + span if span.startswith("__") else span
        yield f"CEDAR__{last}"
    chain = _section(text, "**[Plus] Role providers**", "| Kind (`TYPE`)")
    yield from _expanded([span for span in _spans(chain) if not span.endswith("…")])
    for line in _section(text, "| Kind (`TYPE`)", "| token |").splitlines()[2:]:
        for span in _spans(line.split(" | ", 1)[1]):
            if _plain(span):
                yield f"ROLE_PROVIDER__X__{span}"
    gate = _section(text, "**[Plus] Admission gate**", "**[Plus] License**")
    last = ""
    for span in _spans(gate):
        name = span.partition("=")[0]
        if name == "ADMISSION_ENFORCE_FILE":
            yield name
        elif _plain(name) and name != "ADMISSION_ENFORCE__":
            last = last.rpartition("__")[0] + name if name.startswith("__") else name
            yield f"ADMISSION_ENFORCE__{last}"
    yield from _expanded(_spans(_section(text, "**[Plus] License**", "### 2.6")))


@pytest.mark.skipif(not _REFERENCE.exists(), reason="the reference does not lie beside this checkout")
def test_every_name_of_the_reference_is_known() -> None:
    documented = {name.replace("<ID>", "X").replace("<NAME>", "X").replace("<IDP>", "X") for name in _documented()}
    assert len(documented) > 200, sorted(documented)
    unknown = {name for name in documented if not _known(name)}
    assert unknown == set()


def _known(name: str) -> bool:
    if names.find(name) is not None:
        return True
    secret = names.find(name.removesuffix("_FILE")) if name.endswith("_FILE") else None
    return secret is not None and secret.setting.secret


def test_no_name_stands_twice() -> None:
    every = [setting.name for setting in SETTINGS]
    assert len(every) == len(set(every))


def test_every_default_is_a_value_of_its_kind() -> None:
    for setting in SETTINGS:
        if setting.default is not None:
            setting.kind.parse(setting.default)


def test_every_setting_is_documented_with_a_sentence() -> None:
    assert [setting.name for setting in SETTINGS if not setting.about.endswith(".")] == []


def test_a_name_that_hands_its_value_on_names_a_known_one() -> None:
    for setting in SETTINGS:
        if setting.instead is not None:
            assert names.setting_of(setting.instead).kind is setting.kind


def test_every_supported_setting_is_a_field_of_exactly_one_class_and_stands_nowhere_else() -> None:
    fields = [setting for each in names.classes() for setting in each.own.values()]
    assert len({setting.name for setting in fields}) == len(fields)
    assert [each.name for each in known.SETTINGS if each.support is Support.SUPPORTED and each.instead is None] == []
    assert {each.name for each in known.SETTINGS} & {setting.name for setting in fields} == set()
    assert {each.support for each in fields} <= {Support.SUPPORTED, Support.PLANNED}


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No service is installed."""
    monkeypatch.setattr(names, "entry_points", lambda **_: ())
    _forget()
    yield
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    for remembering in (names.every, names._exact, names._patterns, names._by_name, names._levels):
        remembering.cache_clear()


@pytest.mark.usefixtures("alone")
def test_what_a_service_reads_that_is_not_installed_is_known_and_its_value_is_for_that_service_to_judge() -> None:
    assert [each.__module__ for each in names.classes() if "servicekit" not in each.__module__] == []
    read = environment.read(
        {
            "LAKEKEEPER__TASK_POLL_INTERVAL": "soon",
            "LAKEKEEPER__REFERENCED_BY": "{max_nesting_depth=[1]}",
            "LAKEWARD__PURGE_DELAI": "1",
        }
    )
    assert [str(problem) for problem in read.problems] == [
        "LAKEWARD__PURGE_DELAI is a name nobody knows; the nearest known name is LAKEWARD__PURGE_DELAY"
    ]
    assert read.found["TASK_POLL_INTERVAL"].value == "soon"


@pytest.mark.usefixtures("alone")
def test_a_secret_of_a_service_that_is_not_installed_is_masked() -> None:
    read = environment.read({"LAKEKEEPER__NATS_TOKEN": "hunter2"}, read_file=lambda _: "hunter3")
    assert "hunter2" not in "\n".join(map(str, effective(read)))
    assert not environment.read({"LAKEKEEPER__NATS_TOKEN_FILE": "/a"}, read_file=lambda _: "hunter3").problems


def test_what_services_read_alone_is_listed_for_processes_without_them() -> None:
    own = [each for cls in names.classes() if "servicekit" not in cls.__module__ for each in cls.own.values()]
    listed = {(each.name, each.family, each.secret) for each in known.elsewhere()}
    assert listed == {(each.name, each.family, each.secret) for each in own}
