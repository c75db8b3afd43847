"""What is made of callers' text is kept only where the text is short."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard
from uuid import UUID

import pytest

from lakeward_servicekit.remembering import remembered

ROOT = Path(__file__).parents[3]
SOURCES = sorted(
    path
    for folder in ("libs", "services", "cli", "pipelines")
    for path in (ROOT / folder).rglob("lakeward_*/**/*.py")
    if "libs/protocol" not in path.as_posix()
)
MECHANISM = "libs/servicekit/lakeward_servicekit/remembering.py"
# Parameters of these types have a size of their own, whoever gives the value.
BOUNDED = frozenset({"int", "bool", "UUID", "ReasonValue"})
# Caches whose keys are not from callers, and whose are.
OF_OUR_OWN = {
    "lakeward_servicekit/events/nats/messages.py:_subject": "ids, bounded when they were made; kinds and verbs are ours",
    "lakeward_servicekit/tls.py:_shared": "names of files, from the environment",
    "lakeward_servicekit/authorization/objects.py:_text": "UUIDs",
    "lakeward_servicekit/audit/recording.py:_said_by": "messages of the contract",
    "lakeward_servicekit/deflated.py:_joined_before": "numbers",
    "lakeward_catalog/domain/iceberg/documents.py:_decoder": "classes",
    "lakeward_locations/location.py:_parts": "1,024 places of 4 KiB at most; a longer one is refused, which is not kept",
    "lakeward_pipelines/generic/place.py:_reached": "the tables that one Spark job names",
    "lakeward_authz/adapters/postgres/rights.py:rights_of_each": "whether each of a few callers has roles; the newest 64",
}


@pytest.fixture
def asked() -> list[object]:
    return []


def test_a_short_text_is_worked_out_once(asked: list[object]) -> None:
    @remembered(entries=10, longest=3)
    def size(text: str) -> int:
        asked.append(text)
        return len(text)

    assert [size("abc"), size("abc")] == [3, 3]
    assert asked == ["abc"]


@pytest.mark.parametrize("text", ["abcd", b"abcd", ("a", "b"), ("abcd",), (("a",), "b")])
def test_a_longer_one_is_worked_out_each_time(asked: list[object], text: object) -> None:
    @remembered(entries=10, longest=3)
    def itself(given: object) -> object:
        asked.append(given)
        return given

    assert [itself(text), itself(text)] == [text, text]
    assert asked == [text, text]


def test_arguments_count_together(asked: list[object]) -> None:
    @remembered(entries=10, longest=20)
    def joined(first: str, second: str | None) -> str:
        asked.append(first)
        return first + (second or "")

    for _ in range(2):
        joined("aaaa", None)
        joined("b" * 10, "b" * 10)
        joined("c" * 10, "c" * 11)
    assert asked == ["aaaa", "b" * 10, "c" * 10, "c" * 10]


def test_the_oldest_answer_goes_when_there_are_too_many(asked: list[object]) -> None:
    @remembered(entries=2, longest=10)
    def itself(given: str) -> str:
        asked.append(given)
        return given

    for text in ("a", "b", "c", "a"):
        itself(text)
    assert asked == ["a", "b", "c", "a"]


def test_what_a_function_raises_is_not_kept(asked: list[object]) -> None:
    @remembered(entries=2, longest=10)
    def refuse(given: str) -> None:
        asked.append(given)
        raise ValueError(given)

    for _ in range(2):
        with pytest.raises(ValueError, match="a"):
            refuse("a")
    assert asked == ["a", "a"]


def test_what_has_no_known_size_is_not_taken() -> None:
    @remembered(entries=2, longest=10)
    def itself(given: object) -> object:
        return given

    assert itself(None) is None
    assert itself(UUID(int=1)) == UUID(int=1)
    with pytest.raises(TypeError, match="frozenset has no size"):
        itself(frozenset({"a"}))


def test_no_cache_is_keyed_by_text_of_any_length() -> None:
    found = {place for path in SOURCES for place in unbounded_caches(path.read_text(), _module(path))}
    assert found == OF_OUR_OWN.keys()


@pytest.mark.parametrize(
    "source",
    [
        "import functools\n@functools.cache\ndef f(text: str): ...",
        "import functools\n@functools.cache\ndef f(text): ...",
        "import functools\n@functools.cache\ndef f(*, text: bytes): ...",
        "import functools\n@functools.cache\ndef f(*texts: str): ...",
        "import functools\n@functools.lru_cache(maxsize=4)\ndef f(number: int, text: str): ...",
        "from functools import lru_cache as kept\n@kept\ndef f(text: str | None): ...",
        "from functools import cache\nf = cache(str)",
        "import functools as tools\nf = tools.lru_cache(maxsize=4)(str.upper)",
        "import functools\nclass A:\n    def g(self):\n        self.f: Final = functools.lru_cache(4)(self.g)",
        "import functools\nclass A:\n    @functools.cache\n    def f(self, number: int): ...",
    ],
)
def test_the_walk_finds_a_cache_however_it_is_made(source: str) -> None:
    assert list(unbounded_caches(source, "a.py")) == ["a.py:f"]


def test_the_walk_finds_a_cache_that_has_no_name() -> None:
    source = "import functools\nuse(functools.cache(str))"
    assert list(unbounded_caches(source, "a.py")) == ["a.py:line 2"]


@pytest.mark.parametrize(
    "source",
    [
        "import functools\n@functools.cache\ndef f(): ...",
        "import functools\n@functools.cache\ndef f(number: int, flag: bool): ...",
        "import functools\nclass A:\n    @functools.cached_property\n    def f(self): ...",
    ],
)
def test_the_walk_passes_over_caches_with_small_keys(source: str) -> None:
    assert list(unbounded_caches(source, "a.py")) == []


def unbounded_caches(source: str, module: str) -> Iterator[str]:
    """Where `functools` keeps answers by keys that may be of any length, as "module:name"."""
    if MECHANISM.endswith(module):
        return
    tree = ast.parse(source)
    names = set(_names_of_caches(tree))
    seen: set[ast.AST] = set()

    def caches(node: ast.expr) -> bool:
        references = {inner for inner in ast.walk(node) if _is_reference(inner, names)} - seen
        seen.update(references)
        return bool(references)

    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            cached = [decorator for decorator in node.decorator_list if caches(decorator)]
            if cached and not _bounded(node.args):
                yield f"{module}:{node.name}"
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and caches(node.value):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            yield f"{module}:{ast.unparse(target).removeprefix('self.')}"
    for node in ast.walk(tree):
        if _is_reference(node, names) and node not in seen:
            yield f"{module}:line {node.lineno}"


def _names_of_caches(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "functools":
                    yield f"{alias.asname or alias.name}.lru_cache"
                    yield f"{alias.asname or alias.name}.cache"
        elif isinstance(node, ast.ImportFrom) and node.module == "functools":
            yield from (alias.asname or alias.name for alias in node.names if alias.name in ("lru_cache", "cache"))


def _is_reference(node: ast.AST, names: set[str]) -> TypeGuard[ast.expr]:
    return isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) in names


def _bounded(arguments: ast.arguments) -> bool:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return (
        arguments.vararg is None
        and arguments.kwarg is None
        and all(one.annotation is not None and ast.unparse(one.annotation) in BOUNDED for one in every)
    )


def _module(path: Path) -> str:
    package = next(folder for folder in path.parents if folder.parent.joinpath("pyproject.toml").is_file())
    return path.relative_to(package.parent).as_posix()
