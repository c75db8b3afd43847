"""What a public specification has and our document of the same API lacks."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from tests.conformance.specifications import anonymous, operations, parameters, resolved

Part = Literal["operation", "query", "header", "status", "request", "reply"]
# The names of a path's parameters are nobody's contract; how many there are is in the route.
_PLACES: Final[tuple[Literal["query", "header"], ...]] = ("query", "header")
_DEEPEST: Final = 24


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Lack:
    """One thing.

    Attributes:
        operation: its id in the specification.
        part: of what.
        name: of the parameter, the status, or the member with those that it lies in: "grants.[].resource.type"; "" for a whole
            operation.
    """

    operation: str
    part: Part
    name: str = ""


Operations = Mapping[tuple[str, str], Mapping[str, Any]]


def by_route(document: Mapping[str, Any], *, mount: str = "") -> Operations:
    """Operations by method and path, whatever the path's parameters are called."""
    return {(method, anonymous(path)): each for method, path, each in operations(document, mount=mount)}


def lacks(public: Mapping[str, Any], own: Mapping[str, Any], *, mount: str = "") -> Iterator[Lack]:
    """Everything that our document lacks.

    Args:
        public: the specification.
        own: our document.
        mount: what stands before each of the specification's paths here.
    """
    ours = by_route(own)
    for route, operation in by_route(public, mount=mount).items():
        name = operation["operationId"]
        if route not in ours:
            yield Lack(name, "operation")
            continue
        mine = ours[route]
        for place in _PLACES:
            for parameter in parameters(public, operation, place) - parameters(own, mine, place):
                yield Lack(name, place, parameter)
        for status in map(str, operation["responses"]):
            if not _has_status(mine, status):
                yield Lack(name, "status", status)
        for part, member in _members(public, operation) - _members(own, mine):
            yield Lack(name, part, member)


def _has_status(operation: Mapping[str, Any], status: str) -> bool:
    """A class of statuses ("4XX") is there where one of it is: ours are written out."""
    statuses = {str(each) for each in operation["responses"]}
    return status in statuses or (status[1:] == "XX" and any(each[0] == status[0] for each in statuses))


def _members(document: Mapping[str, Any], operation: Mapping[str, Any]) -> set[tuple[Part, str]]:
    found: set[tuple[Part, str]] = set()
    if "requestBody" in operation:
        found |= {("request", name) for name in _of_content(document, operation["requestBody"])}
    for status, reply in operation["responses"].items():
        if str(status)[0] == "2":
            found |= {("reply", name) for name in _of_content(document, reply)}
    return found


def _of_content(document: Mapping[str, Any], holder: Mapping[str, Any]) -> set[str]:
    found: set[str] = set()
    for content in resolved(document, holder).get("content", {}).values():
        if "schema" in content:
            found |= set(_below(document, content["schema"], "", ()))
    return found


def _below(document: Mapping[str, Any], node: Mapping[str, Any], place: str, seen: tuple[str, ...]) -> Iterator[str]:
    """Every member that a schema describes, with those that it lies in; where one holds its own kind again, once."""
    while "$ref" in node:
        if node["$ref"] in seen:
            return
        seen, node = (*seen, node["$ref"]), _step(document, node["$ref"])
    assert len(seen) < _DEEPEST, place
    for name, inner in node.get("properties", {}).items():
        yield place + name
        yield from _below(document, inner, f"{place}{name}.", seen)
    for combination in ("allOf", "oneOf", "anyOf"):
        for part in node.get(combination, ()):
            yield from _below(document, part, place, seen)
    if isinstance(node.get("items"), Mapping):
        yield from _below(document, node["items"], f"{place}[].", seen)
    if isinstance(node.get("additionalProperties"), Mapping):
        yield from _below(document, node["additionalProperties"], f"{place}{{}}.", seen)


def _step(document: Mapping[str, Any], reference: str) -> Mapping[str, Any]:
    found: Any = document
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    assert isinstance(found, Mapping)
    return found
