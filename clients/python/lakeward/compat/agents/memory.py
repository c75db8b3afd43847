"""What an agent remembers: texts by their paths, and vectors by which they are found.

One store is one namespace with two tables, texts in a `dataset` and vectors in a Lance table. Who may read a table may read all
of it, so what two agents may not see of each other belongs into two stores.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lakeward.compat.agents.embedding import Embedder, EmbeddingMismatch, NoEmbedder
from lakeward.compat.agents.tables import VendedTable
from lakeward.compat.client import Client
from lakeward.compat.errors import NotFoundError
from lakeward.compat.formats import GenericTableFormat
from lakeward.compat.url import NamespaceLike

PROP_EMBEDDING_MODEL = "embedding-model"
PROP_EMBEDDING_DIM = "embedding-dim"


@dataclass(frozen=True)
class MemoryHit:
    """What was found.

    Attributes:
        path: of the text.
        text: itself.
        distance: of its vector; less is nearer.
        metadata: that it was put with.
        scope: the store's namespace.
    """

    path: str
    text: str
    distance: float
    metadata: dict[str, str] = field(default_factory=dict)
    scope: str | None = None


class MemoryStore:
    """One agent's memory, or what several share.

    Args:
        client: of whoever remembers.
        namespace: where its tables are.
        embed: makes the vectors; without one nothing is searched, and nothing is made to be found.
        entries_table: has the texts.
        recall_table: has the vectors.
    """

    def __init__(
        self,
        client: Client,
        namespace: NamespaceLike,
        *,
        embed: Embedder | None = None,
        entries_table: str = "entries",
        recall_table: str = "recall",
    ) -> None:
        self._namespace = namespace
        self._embed = embed
        self._entries = VendedTable(client, namespace, entries_table)
        self._recall = VendedTable(client, namespace, recall_table)

    @property
    def scope(self) -> str:
        """The namespace, with dots."""
        return self._namespace if isinstance(self._namespace, str) else ".".join(self._namespace)

    def ensure_tables(self, *, doc: str | None = None) -> None:
        """Make the tables where there are none; that of the vectors says by which model they are made."""
        self._entries.ensure(format=GenericTableFormat.DATASET, doc=doc or f"what {self.scope} remembers")
        if self._embed is not None:
            self._recall.ensure(
                format=GenericTableFormat.LANCE,
                doc=f"vectors of what {self.scope} remembers",
                properties={PROP_EMBEDDING_MODEL: self._embed.model},
            )

    def put(
        self,
        path: str,
        text: str,
        *,
        metadata: Mapping[str, str] | None = None,
        index: bool = True,
        index_text: str | None = None,
    ) -> None:
        """Remember a text, in place of what was at its path.

        Args:
            path: as "memories/preferences.md".
            text: to remember.
            metadata: comes with what is found.
            index: whether it can be found by `search`.
            index_text: what it is found by; None: the text.

        Raises:
            EmbeddingMismatch: the vectors that are there are another model's. Nothing was changed.
        """
        found = None if self._embed is None else self._checked(self._embed)
        self._entries.objects().put(path, text.encode())
        if found is None:
            return
        if index:
            self._write(found, path, text, dict(metadata or {}), index_text or text)
        else:
            self._forget(path)

    def get(self, path: str) -> str:
        """A text.

        Raises:
            NotFoundError: there is none.
        """
        return self._entries.read(path)

    def list(self, prefix: str = "") -> builtins.list[str]:
        """Paths that begin with a prefix."""
        return self._entries.objects().list(prefix)

    def delete(self, path: str) -> None:
        """Forget a text."""
        self._entries.objects().delete(path)
        if self._embed is not None:
            self._forget(path)

    def search(self, query: str, k: int = 5) -> builtins.list[MemoryHit]:
        """The nearest texts, at most `k`; none where the caller may not see the vectors, or there are none yet.

        Raises:
            NoEmbedder: the store has none.
            EmbeddingMismatch: the vectors are another model's.
        """
        return self.nearest(query, k)

    def nearest(self, query: str, k: int, *, below: str = "") -> builtins.list[MemoryHit]:
        """`search` among paths that begin with `below`."""
        embedder = self._embedder()
        try:
            dataset = self._opened(embedder)
        except NotFoundError:
            return []
        if dataset is None:
            return []
        rows = dataset.to_table(
            nearest={"column": "vector", "q": [float(each) for each in embedder.embed([query])[0]], "k": k},
            columns=["path", "text", "metadata", "_distance"],
            filter=f"starts_with(path, {_quoted(below)})" if below else None,
            prefilter=bool(below),
        ).to_pylist()
        return [
            MemoryHit(
                row["path"],
                row["text"],
                float(row["_distance"]),
                json.loads(row["metadata"]) if row["metadata"] else {},
                self.scope,
            )
            for row in rows
        ]

    @staticmethod
    def search_many(stores: Iterable[MemoryStore], query: str, k: int = 5) -> builtins.list[MemoryHit]:
        """The nearest texts of several stores, but those of stores that the caller may not read.

        Raises:
            NoEmbedder: a store has none.
            EmbeddingMismatch: they have different models, whose distances say nothing of each other.
        """
        asked = [*stores]
        models = {store._embedder().model for store in asked}  # noqa: SLF001 - its own
        if len(models) > 1:
            raise EmbeddingMismatch(f"the stores embed with {', '.join(sorted(models))}")
        found = [hit for store in asked for hit in store.search(query, k)]
        return sorted(found, key=lambda hit: hit.distance)[:k]

    def _embedder(self) -> Embedder:
        if self._embed is None:
            raise NoEmbedder(f"the memory of {self.scope} was made without embed=, so nothing in it can be searched")
        return self._embed

    def _checked(self, embedder: Embedder) -> Embedder:
        recorded = self._recall.loaded().table.properties.get(PROP_EMBEDDING_MODEL)
        if recorded not in {None, "", embedder.model}:
            raise EmbeddingMismatch(
                f"the vectors in {self._recall} are by {recorded!r}, and this store embeds with {embedder.model!r}: use the "
                "same model, or another table"
            )
        return embedder

    def _opened(self, embedder: Embedder) -> Any:  # noqa: ANN401 - Lance's, which not everybody has
        import lance  # noqa: PLC0415 - an engine that not everybody has

        self._checked(embedder)
        known = self._recall.loaded()
        try:
            return lance.dataset(known.location, storage_options=known.lance_storage_options)
        except ValueError:
            return None  # nothing has been written yet

    def _write(self, embedder: Embedder, path: str, text: str, metadata: dict[str, str], by: str) -> None:
        import lance  # noqa: PLC0415 - an engine that not everybody has
        import pyarrow as pa  # noqa: PLC0415 - the same

        vector = [float(each) for each in embedder.embed([by])[0]]
        kinds = {name: pa.string() for name in ("path", "text", "metadata")}
        schema = pa.schema({**kinds, "vector": pa.list_(pa.float32(), len(vector))})
        row = {"path": path, "text": text, "metadata": json.dumps(metadata, sort_keys=True), "vector": vector}
        rows = pa.Table.from_pylist([row], schema=schema)
        dataset = self._opened(embedder)
        if dataset is None:
            known = self._recall.loaded()
            try:
                lance.write_dataset(rows, known.location, storage_options=known.lance_storage_options, mode="create")
            except OSError:
                dataset = self._opened(embedder)
                if dataset is None:
                    raise
            else:
                return
        dataset.merge_insert("path").when_matched_update_all().when_not_matched_insert_all().execute(rows)

    def _forget(self, path: str) -> None:
        try:
            dataset = self._opened(self._embedder())
        except NotFoundError:
            return
        if dataset is not None:
            dataset.delete(f"path = {_quoted(path)}")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
