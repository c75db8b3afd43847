"""What a Delta log says, of its actions those that tell which files there are."""

from __future__ import annotations

from typing import Final

import msgspec

from lakeward_catalog.application.ports.measuring import Unreadable


class Vector(msgspec.Struct, rename="camel"):
    """Which rows of a file are gone."""

    storage_type: str = ""
    path_or_inline_dv: str = ""
    offset: int | None = None
    cardinality: int = 0


class File(msgspec.Struct, rename="camel"):
    """A file that is there, or no more."""

    path: str
    size: int | None = None
    stats: str | None = None
    deletion_vector: Vector | None = None

    @property
    def key(self) -> tuple[str, str]:
        """A file is there once with each of its deletion vectors."""
        vector = self.deletion_vector
        return self.path, "" if vector is None else f"{vector.storage_type}{vector.path_or_inline_dv}@{vector.offset}"

    @property
    def rows(self) -> int | None:
        """That its writer counted; None where it did not."""
        try:
            found = None if self.stats is None else _stats.decode(self.stats).num_records
        except msgspec.DecodeError:
            return None
        if found is None:
            return None
        return max(0, found - (0 if self.deletion_vector is None else self.deletion_vector.cardinality))


class Sidecar(msgspec.Struct):
    """A file beside a checkpoint, which has some of its actions."""

    path: str


class Action(msgspec.Struct):
    """One of those; of other actions nothing is known."""

    add: File | None = None
    remove: File | None = None
    sidecar: Sidecar | None = None


class Stats(msgspec.Struct, rename="camel"):
    """Of a file."""

    num_records: int | None = None


_action: Final = msgspec.json.Decoder(Action)
_stats: Final = msgspec.json.Decoder(Stats)


def decoded(content: bytes, path: str) -> list[Action]:
    """Actions of a file that has one on each line.

    Raises:
        Unreadable: it has others.
    """
    try:
        return [_action.decode(line) for line in content.splitlines() if line.strip()]
    except msgspec.DecodeError as error:
        raise Unreadable(f"{path} can't be read: {error}") from error
