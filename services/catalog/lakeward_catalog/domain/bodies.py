"""How a metadata document is kept: as compressed parts that can stand side by side.

A document with many snapshots shares the parts of the old ones with the documents before it: a commit compresses and stores the
head and the newest snapshots alone.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import msgspec

from lakeward_servicekit import deflated
from lakeward_servicekit.deflated import Deflated
from lakeward_servicekit.errors import Reason, Refusal

MAX_TEXT: Final = 64 * 1024 * 1024


class BodyPart(msgspec.Struct, frozen=True):
    """A part of a metadata body.

    Attributes:
        chunk_id: the shared part that holds it; None where it belongs to this body alone.
        part: the compressed text.
    """

    chunk_id: UUID | None
    part: Deflated


@dataclasses.dataclass(frozen=True)
class Body:
    """A metadata document as it is stored, whole and with the snapshots of references alone.

    Attributes:
        everything: the whole document, part by part, in order.
        references: the document for `snapshots=refs`; equal to `everything` for views and small tables.
    """

    everything: tuple[BodyPart, ...]
    references: tuple[BodyPart, ...]

    @functools.cached_property
    def whole(self) -> Deflated:
        """The whole document as one text: it is written to a file, and kept in memory for the next who ask."""
        return joined(self.everything)


def joined(parts: Sequence[BodyPart]) -> Deflated:
    """The parts of a body as one text."""
    runs = itertools.groupby(parts, key=lambda part: part.chunk_id is None)
    return deflated.join(*[[part.part for part in run] for _, run in runs])


def check_size(part: Deflated) -> None:
    """Whether a text is within the limit.

    Raises:
        Refusal: TOO_LARGE.
    """
    if part.size > MAX_TEXT:
        raise Refusal(
            Reason.REASON_TOO_LARGE,
            f"the metadata is {part.size} bytes; at most {MAX_TEXT} are served",
            what="metadata",
            limit=str(MAX_TEXT),
        )


def text_of(part: Deflated) -> bytes:
    """The text of a part.

    Raises:
        Refusal: TOO_LARGE; the part says it is beyond the limit.
        ValueError: the part is not what it says.
    """
    check_size(part)
    return deflated.inflate(part)
