"""Where secrets lie in a KV v2 engine."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from uuid import UUID

_FOLDER: Final = "secret"  # as upstream has it


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A folder of an engine.

    Attributes:
        mount: of the engine, percent-encoded: "kv".
        folder: in it, percent-encoded, with a slash at its end where it is not empty: "iceberg/".
    """

    mount: str
    folder: str

    @classmethod
    def parse(cls, text: str) -> Place:
        """From a mount (`kv`), or from a path as policies have it (`kv/data/iceberg`).

        Raises:
            ValueError: there is no mount in it, or a part that leads elsewhere.
        """
        parts = [part for part in text.strip().split("/") if part]
        if not parts or any(part in {".", ".."} or not part.isprintable() for part in parts):
            raise ValueError(text)
        # what stands before the first `data` is the mount, which may have several parts
        cut = parts.index("data", 1) if "data" in parts[1:] else len(parts)
        mount, below = (list(map(_quoted, each)) for each in (parts[:cut], parts[cut + 1 :]))
        return cls("/".join(mount), "".join(f"{part}/" for part in below))

    def data(self, secret_id: UUID) -> str:
        """The path that a secret is read and written at."""
        return f"{self.mount}/data/{self.folder}{_FOLDER}/{secret_id}"

    def metadata(self, secret_id: UUID) -> str:
        """The path that a secret is deleted at, with all of its versions."""
        return f"{self.mount}/metadata/{self.folder}{_FOLDER}/{secret_id}"


def _quoted(part: str) -> str:
    return quote(part, safe="")
