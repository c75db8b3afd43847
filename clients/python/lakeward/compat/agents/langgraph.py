"""A memory as a store of LangGraph; it needs `langgraph`.

A LangGraph namespace is a folder within the one memory: it sorts, and keeps nobody out.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from lakeward.compat.agents.memory import MemoryStore
from lakeward.compat.errors import NotFoundError

_SUFFIX = ".json"
_Path = tuple[str, ...]


class LakekeeperStore(BaseStore):
    """See this module.

    Args:
        memory: with an embedder, where a search is to go by meaning; without one it lists.
    """

    def __init__(self, memory: MemoryStore) -> None:
        self.memory = memory

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do these, one after the other; their results in the same order."""
        return [self._done(each) for each in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, in a thread: stores' libraries wait."""
        return await asyncio.to_thread(self.batch, [*ops])

    def _done(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return self._get(op.namespace, op.key)
        if isinstance(op, PutOp):
            self._put(op)
            return None
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise NotImplementedError(f"a store of memories can't {type(op).__name__}")

    def _get(self, namespace: _Path, key: str) -> Item | None:
        try:
            body = self.memory.get(_path(namespace, key))
        except NotFoundError:
            return None
        return Item(key=key, namespace=namespace, **_read(body))

    def _put(self, op: PutOp) -> None:
        path = _path(op.namespace, op.key)
        if op.value is None:
            self.memory.delete(path)
            return
        now = datetime.now(timezone.utc)
        before = self._get(op.namespace, op.key)
        body = {
            "value": op.value,
            "created_at": (before.created_at if before else now).isoformat(),
            "updated_at": now.isoformat(),
        }
        fields = op.index if isinstance(op.index, list) else None
        self.memory.put(
            path,
            json.dumps(body, sort_keys=True),
            index=op.index is not False,
            index_text=_words(op.value, fields),
        )

    def _search(self, op: SearchOp) -> list[SearchItem]:
        below = "".join(f"{each}/" for each in op.namespace_prefix)
        found: Iterable[tuple[str, str, float | None]]
        if op.query:
            # What the filter leaves out is not known before, so more are asked for than are wanted.
            count = (op.limit + op.offset) * (4 if op.filter else 1)
            hits = self.memory.nearest(op.query, max(count, 1), below=below)
            found = ((hit.path, hit.text, 1 / (1 + hit.distance)) for hit in hits)
        else:
            found = ((path, self.memory.get(path), None) for path in self.memory.list(below) if _split(path))
        items = []
        for path, body, score in found:
            if (split := _split(path)) is None or (read := _readable(body)) is None:
                continue  # it is in the memory, and none of LangGraph's
            if all(read["value"].get(key) == wanted for key, wanted in (op.filter or {}).items()):
                items.append(SearchItem(namespace=split[0], key=split[1], score=score, **read))
        return items[op.offset : op.offset + op.limit]

    def _namespaces(self, op: ListNamespacesOp) -> list[_Path]:
        all_ = {split[0] for path in self.memory.list() if (split := _split(path))}
        matching = (each for each in all_ if all(_matches(each, condition) for condition in op.match_conditions or ()))
        found = sorted({each[: op.max_depth] for each in matching})
        return found[op.offset : op.offset + op.limit]


def _matches(namespace: _Path, condition: MatchCondition) -> bool:
    wanted = tuple(condition.path)
    part = namespace[: len(wanted)] if condition.match_type == "prefix" else namespace[len(namespace) - len(wanted) :]
    return len(wanted) <= len(namespace) and all(each in {"*", there} for each, there in zip(wanted, part, strict=True))


def _path(namespace: _Path, key: str) -> str:
    for part in (*namespace, key):
        if not part or "/" in part:
            raise ValueError(f"{part!r} can't be part of a path")
    return "/".join((*namespace, key)) + _SUFFIX


def _split(path: str) -> tuple[_Path, str] | None:
    *namespace, last = path.split("/")
    return (tuple(namespace), last.removesuffix(_SUFFIX)) if namespace and last.endswith(_SUFFIX) else None


def _read(body: str) -> dict[str, Any]:
    told = json.loads(body)
    now = datetime.now(timezone.utc)
    times = {
        name: datetime.fromisoformat(told[name]) if told.get(name) else now for name in ("created_at", "updated_at")
    }
    return {"value": told.get("value", {}), **times}


def _readable(body: str) -> dict[str, Any] | None:
    try:
        return _read(body)
    except (ValueError, AttributeError, TypeError):
        return None


def _words(value: Mapping[str, Any], fields: list[str] | None) -> str:
    if fields:
        told = [str(value[name]) for name in fields if name in value]
    else:
        told = [str(each) for each in value.values() if isinstance(each, (str, int, float))]
    return "\n".join(told) or json.dumps(value, sort_keys=True)
