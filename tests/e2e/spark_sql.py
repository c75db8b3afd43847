"""SQL against one warehouse of the shared Spark."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class SparkSql:
    """A Spark catalog that is the current one.

    Attributes:
        session: shared with every other test.
        catalog: the catalog's name in it.
        namespace: exists, and is ours alone.
    """

    session: SparkSession
    catalog: str
    namespace: str

    def __call__(self, text: str, **names: str) -> list[tuple[Any, ...]]:
        """The rows, in the order that they came. `{ns}`, `{catalog}` and each of `names` are filled in."""
        filled = text.format(catalog=self.catalog, ns=f"{self.catalog}.{self.namespace}", **names)
        return [tuple(row) for row in self.session.sql(filled).collect()]

    def new_name(self) -> str:
        """Of a table or view that isn't there yet, in full."""
        return f"{self.catalog}.{self.namespace}.t_{secrets.token_hex(4)}"

    def snapshots(self, table: str) -> list[int]:
        """Ids, oldest first."""
        return [row[0] for row in self("select snapshot_id from {t}.snapshots order by committed_at", t=table)]
