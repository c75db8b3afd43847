"""The public specifications, where this checkout has them beside it."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

_REPOSITORY = Path(__file__).resolve().parents[2]
_VERBS = ("get", "head", "post", "put", "patch", "delete")


def shared() -> Path:
    """The folder with the specifications; skips the test where there is none."""
    named = os.environ.get("LAKEWARD_SHARED")
    folder = Path(named) if named else _REPOSITORY.parent / "shared"
    if not (folder / "specs").is_dir():
        if named:
            raise FileNotFoundError(f"LAKEWARD_SHARED is {named!r}, and there are no specs in it")
        pytest.skip(f"the public specifications are not at {folder}; set LAKEWARD_SHARED")
    return folder


def specification(name: str) -> Mapping[str, Any]:
    """One specification's document."""
    return _read(shared() / "specs" / name)


@functools.cache
def _read(path: Path) -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = yaml.load(path.read_text(), yaml.CSafeLoader)
    return loaded


def operations(document: Mapping[str, Any], *, mount: str = "") -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Method, path and operation; a path's own parameters are the operation's too.

    Args:
        document: of OpenAPI.
        mount: what stands before every path.
    """
    for path, item in document["paths"].items():
        for verb in _VERBS:
            if verb in item:
                operation = item[verb]
                parameters = [*item.get("parameters", ()), *operation.get("parameters", ())]
                yield verb.upper(), mount + path, {**operation, "parameters": parameters}


def anonymous(path: str) -> str:
    """The path with its parameters' names taken out, which are nobody's contract."""
    return re.sub(r"\{[^}]+\}", "{}", path)


def resolved(document: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a node refers to, or the node."""
    while "$ref" in node:
        found: Any = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        node = found
    return node


def parameters(document: Mapping[str, Any], operation: Mapping[str, Any], place: str) -> set[str]:
    """Names of an operation's parameters in a place, as "query"; headers in lower case."""
    found = (resolved(document, parameter) for parameter in operation["parameters"])
    names = {parameter["name"] for parameter in found if parameter["in"] == place}
    return {name.lower() for name in names} if place == "header" else names
