"""Lance: a namespace of one table, which Lance asks for fresh credentials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lance_namespace import (
    DeclareTableRequest,
    DeclareTableResponse,
    DescribeTableRequest,
    DescribeTableResponse,
    LanceNamespace,
    TableNotFoundError,
)

from lakeward.credentials.object_stores import storage_options

if TYPE_CHECKING:
    import lancedb.table

    from lakeward.credentials.shapes import Shapes


class OneTable(LanceNamespace):
    """What Lance asks where a table is and with what it is opened, and asks again before that ends.

    Args:
        source: of the table's credentials.
    """

    def __init__(self, source: Shapes) -> None:
        self._source = source
        self._name = source.get().uri

    def namespace_id(self) -> str:
        """Of this object alone: Lance shares stores between namespaces of one id, so one caller's with another."""
        return f"lakeward {self._name} {id(self)}"

    def describe_table(self, request: DescribeTableRequest) -> DescribeTableResponse:
        """Where the table is, and credentials for it."""
        self._check(request)
        return DescribeTableResponse(location=self._name, storage_options=self._options())

    def declare_table(self, request: DeclareTableRequest) -> DeclareTableResponse:
        """The same: the catalog has the table already, and Lance writes its first version."""
        self._check(request)
        return DeclareTableResponse(location=self._name, storage_options=self._options())

    def _check(self, request: DescribeTableRequest | DeclareTableRequest) -> None:
        # Lance's own calls bring a mapping that can be dumped as a model can, and has no attributes.
        asked = request.model_dump().get("id")
        if asked != [self._name]:
            raise TableNotFoundError(f"{asked} is not {self._name}, which is the table that is here")

    def _options(self) -> dict[str, str]:
        found = self._source.get()
        ends = {} if found.expires_at is None else {"expires_at_millis": str(int(found.expires_at.timestamp() * 1000))}
        return {**storage_options(found), **ends}


def arguments(source: Shapes) -> Mapping[str, Any]:
    """Of `lance.dataset` and `lance.write_dataset`."""
    return {"namespace_client": OneTable(source), "table_id": [source.get().uri]}


def opened(source: Shapes) -> lancedb.table.Table:
    """A table of LanceDB."""
    from lancedb.namespace import LanceNamespaceDBConnection  # noqa: PLC0415 - not everybody who has Lance has it

    return LanceNamespaceDBConnection(OneTable(source)).open_table(source.get().uri)
