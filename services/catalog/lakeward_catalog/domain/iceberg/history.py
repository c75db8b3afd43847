"""A long sequence that grows at its end, shared between versions of a document.

Snapshots and the snapshot log grow by one with each commit. A `History` keeps them in chunks; appending copies the
last chunk's pointers and the list of chunks, and every other chunk stays the same object. A chunk remembers its joined
JSON and its index by snapshot id, and a caller may keep what it derives (compressed bytes, say) by chunk identity.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final, Generic, Protocol, TypeVar

CHUNK_SIZE: Final = 64  # small enough that joining and compressing the last chunk is cheap, large enough that few exist


class Entry(Protocol):
    """What a history holds."""

    @property
    @abstractmethod
    def snapshot_id(self) -> int:
        """The snapshot the entry is or speaks of."""
        ...

    @property
    @abstractmethod
    def encoded(self) -> bytes:
        """The entry as JSON."""
        ...


E = TypeVar("E", bound=Entry)


class Chunk(Generic[E]):
    """Up to CHUNK_SIZE entries, never none. Immutable; full chunks keep their identity across commits."""

    __slots__ = ("__weakref__", "_by_id", "_encoded", "entries")

    def __init__(self, entries: tuple[E, ...]) -> None:
        """Hold `entries`, in order."""
        self.entries: Final = entries
        self._encoded: bytes | None = None
        self._by_id: dict[int, E] | None = None

    @property
    def encoded(self) -> bytes:
        """The entries as JSON, joined by commas, without brackets."""
        if self._encoded is None:
            self._encoded = b",".join([entry.encoded for entry in self.entries])
        return self._encoded

    @property
    def by_id(self) -> dict[int, E]:
        """The entries by snapshot id; the last of several wins. Not to be changed."""
        if self._by_id is None:
            self._by_id = {entry.snapshot_id: entry for entry in self.entries}
        return self._by_id

    @property
    def full(self) -> bool:
        """Whether nothing can be appended to it any more."""
        return len(self.entries) >= CHUNK_SIZE


class History(Generic[E]):
    """An immutable sequence of entries in chunks.

    Attributes:
        chunks: the entries, in order; no chunk is empty.
    """

    __slots__ = ("_length", "_seen", "chunks")

    def __init__(
        self, chunks: tuple[Chunk[E], ...] = (), *, length: int | None = None, seen: set[int] | None = None
    ) -> None:
        """Hold `chunks`, none of them empty; `length` and `seen` are given where they are known already."""
        self.chunks: Final = chunks
        self._length = sum(len(chunk.entries) for chunk in chunks) if length is None else length
        # Every id in this history and perhaps more: it is shared with the histories that grew out of this one, so a
        # miss is certain and a hit has to be looked up. A new snapshot's id is a miss almost always.
        self._seen = seen

    @classmethod
    def of(cls, entries: Iterable[E]) -> History[E]:
        """A history of `entries`, in full chunks."""
        items = tuple(entries)
        return cls(tuple(Chunk(items[start : start + CHUNK_SIZE]) for start in range(0, len(items), CHUNK_SIZE)))

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[E]:
        for chunk in self.chunks:
            yield from chunk.entries

    def __eq__(self, other: object) -> bool:
        return isinstance(other, History) and (self is other or list(self) == list(other))

    __hash__ = None  # type: ignore[assignment]  # long, and nothing keys by it

    @property
    def last(self) -> E | None:
        """The newest entry."""
        return self.chunks[-1].entries[-1] if self.chunks else None

    def find(self, snapshot_id: int) -> E | None:
        """The entry of a snapshot, looked for from the newest chunk back."""
        if self._seen is None:
            self._seen = self.ids()
        if snapshot_id not in self._seen:
            return None
        for chunk in reversed(self.chunks):
            found = chunk.by_id.get(snapshot_id)
            if found is not None:
                return found
        return None

    def ids(self) -> set[int]:
        """Every snapshot id in it."""
        found: set[int] = set()
        for chunk in self.chunks:
            found.update(chunk.by_id)
        return found

    def append(self, entry: E) -> History[E]:
        """A history with one more entry at its end."""
        if not self.chunks or self.chunks[-1].full:
            chunks = (*self.chunks, Chunk((entry,)))
        else:
            chunks = (*self.chunks[:-1], Chunk((*self.chunks[-1].entries, entry)))
        if self._seen is not None:
            self._seen.add(entry.snapshot_id)
        return History(chunks, length=self._length + 1, seen=self._seen)

    def without(self, snapshot_ids: Collection[int]) -> History[E]:
        """A history without the entries of some snapshots; chunks that hold none of them stay the same objects."""
        return self._filtered(lambda chunk: not chunk.by_id.keys().isdisjoint(snapshot_ids), snapshot_ids, keep=False)

    def only(self, snapshot_ids: Collection[int]) -> History[E]:
        """A history of the entries of some snapshots, in order."""
        return self._filtered(lambda _: True, snapshot_ids, keep=True)

    def after_last(self, snapshot_ids: Collection[int]) -> History[E]:
        """The entries after the last one of any of some snapshots; whole chunks stay the same objects."""
        kept: list[Chunk[E]] = []
        for chunk in reversed(self.chunks):
            if not chunk.by_id.keys().isdisjoint(snapshot_ids):
                place = max(i for i, entry in enumerate(chunk.entries) if entry.snapshot_id in snapshot_ids)
                if chunk.entries[place + 1 :]:
                    kept.append(Chunk(chunk.entries[place + 1 :]))
                break
            kept.append(chunk)
        return History(tuple(reversed(kept)))

    def _filtered(
        self, touched: Callable[[Chunk[E]], bool], snapshot_ids: Collection[int], *, keep: bool
    ) -> History[E]:
        chunks: list[Chunk[E]] = []
        for chunk in self.chunks:
            if keep and chunk.by_id.keys().isdisjoint(snapshot_ids):
                continue
            if not touched(chunk):
                chunks.append(chunk)
                continue
            kept = tuple(entry for entry in chunk.entries if (entry.snapshot_id in snapshot_ids) is keep)
            if kept:
                chunks.append(chunk if len(kept) == len(chunk.entries) else Chunk(kept))
        filtered = History(tuple(chunks))
        sparse = len(chunks) > 2 * (len(filtered) // CHUNK_SIZE + 2)
        return History.of(filtered) if sparse else filtered
