"""What makes vectors of texts, and what goes wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from lakeward.compat.errors import LakekeeperError


class AgentsError(LakekeeperError):
    """Whatever these names raise of their own."""


class EmbeddingMismatch(AgentsError):  # noqa: N818 - as it was called there
    """Vectors of one model were to be compared with those of another."""


class NoEmbedder(AgentsError):  # noqa: N818 - as it was called there
    """A store that was made without an embedder was to search."""


@runtime_checkable
class Embedder(Protocol):
    """Makes vectors, and says by which model.

    Attributes:
        model: is recorded with a table of its vectors, which takes no others.
    """

    model: str

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One vector of each text, in their order."""
        ...
