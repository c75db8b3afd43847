"""Finds what is served at a path: a trie over the segments of `raw_path`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Generic, TypeVar

from lakeward_gateway.percent import decode

Target = TypeVar("Target")


class _Node(Generic[Target]):
    __slots__ = ("children", "targets", "wild")

    def __init__(self) -> None:
        self.children: Final[dict[bytes, _Node[Target]]] = {}
        self.wild: _Node[Target] | None = None
        self.targets: Final[dict[str, Target]] = {}


class Router(Generic[Target]):
    """Targets by path template and method.

    A literal segment wins over a parameter at the same place, and there is no going back: a path that follows a literal and
    then ends nowhere is served nowhere. A parameter never matches an empty segment.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._root: Final[_Node[Target]] = _Node()
        # the ends of templates without parameters, by the whole path: literal segments win, so one look finds them
        self._literal: Final[dict[bytes, Mapping[str, Target]]] = {}

    def add(self, method: str, template: str, target: Target) -> None:
        """Serve `target` at a template such as "/v1/{prefix}/namespaces"; the names of parameters are for people.

        Raises:
            ValueError: something is served there already.
        """
        node = self._root
        for segment in template.encode().split(b"/")[1:]:
            if segment.startswith(b"{"):
                if node.wild is None:
                    node.wild = _Node()
                node = node.wild
            else:
                node = node.children.setdefault(segment, _Node())
        if method in node.targets:
            raise ValueError(f"{method} {template} is served already")
        node.targets[method] = target
        if "{" not in template:
            self._literal[template.encode()] = node.targets

    def find(self, raw_path: bytes) -> tuple[Mapping[str, Target], Sequence[str]]:
        """What is served at a path.

        Args:
            raw_path: as it came, percent-encoded.

        Returns:
            Targets by method, empty where the path is served nowhere; and what stands at the template's parameters, decoded,
            in its order.

        Raises:
            Refusal: INVALID_FIELD, for a segment that can't be decoded.
        """
        literal = self._literal.get(raw_path)
        if literal is not None:
            return literal, []
        node = self._root
        arguments: list[str] = []
        segments = raw_path.split(b"/")
        del segments[0]
        for segment in segments:
            child = node.children.get(segment)
            if child is None:
                child = node.wild
                if child is None or not segment:
                    return {}, ()
                arguments.append(decode(segment, "path") if b"%" in segment else segment.decode("latin-1"))
            node = child
        return node.targets, arguments
