"""Lance tables whose versions are claimed in the catalog, so that of two writers one is first on any store.

Lance makes a version by making its manifest only where none is. On a store that can't do that, of two writers of one version the
later one overwrites what the earlier one had committed. Lance has a way around: it puts the manifest under a name that nobody
else has and asks its namespace to make that the version. The namespace here claims the version (`Versions`), and then copies the
manifest to where readers look for it. Who was claimed but not copied, because its writer ended between the two, is copied by
whoever asks for the version next: a version has one claim, so whoever copies copies the same bytes.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

import lance
from lance_namespace import (
    ConcurrentModificationError,
    CreateTableVersionRequest,
    CreateTableVersionResponse,
    DeclareTableRequest,
    DeclareTableResponse,
    DescribeTableRequest,
    DescribeTableResponse,
    DescribeTableVersionRequest,
    DescribeTableVersionResponse,
    ListTableVersionsRequest,
    ListTableVersionsResponse,
    TableVersion,
    TableVersionNotFoundError,
)
from obstore.exceptions import NotFoundError as NoSuchObjectError

from lakeward._sync.access import Access
from lakeward._sync.generic import GenericTable, Versions
from lakeward.credentials.lance import OneTable
from lakeward.errors import ConfigurationError, ConflictError, NotFoundError
from lakeward.generic import TableVersion as Claimed

_FINAL = re.compile(r"(?P<final>_versions/[0-9]+\.manifest)-[^/]+")
_LAST = (1 << 64) - 1  # from which the newer of Lance's two ways of naming manifests counts down
_MANAGED = "namespace_client_managed_versioning"


def lance_arguments(table: GenericTable) -> Mapping[str, Any]:
    """What `lance.dataset` and `lance.write_dataset` take beside the data, as `access().lance()`, for coordinated writers.

    All writers of a table must write so: a writer that claims nothing is not held back by claims. It needs obstore beside Lance.

    Args:
        table: of the synchronous client, for Lance asks in the middle of its own work.

    Raises:
        ConfigurationError: this Lance knows no versions that a namespace keeps, and would not ask.
    """
    if _MANAGED not in inspect.signature(lance.LanceDataset.commit).parameters:
        raise ConfigurationError(
            f"Lance {lance.__version__} does not ask its namespace for versions, so writers would not be coordinated; "
            "install a newer pylance"
        )
    access = table.access()
    return {"namespace_client": CoordinatedTable(access, table.versions()), "table_id": [access.get().uri]}


class CoordinatedTable(OneTable):
    """What Lance asks for credentials, and to make manifests versions.

    Args:
        access: to the table's files.
        versions: of the table.
    """

    def __init__(self, access: Access, versions: Versions) -> None:
        super().__init__(access)
        self._root = access.get().prefix
        self._files = access.obstore()
        self._versions = versions

    def describe_table(self, request: DescribeTableRequest) -> DescribeTableResponse:
        """Where the table is, credentials for it, and that versions are made here."""
        told = super().describe_table(request)
        told.managed_versioning = True
        return told

    def declare_table(self, request: DeclareTableRequest) -> DeclareTableResponse:
        """The same of a table whose first version Lance is about to write."""
        told = super().declare_table(request)
        told.managed_versioning = True
        return told

    def create_table_version(self, request: CreateTableVersionRequest) -> CreateTableVersionResponse:
        """Make a manifest that lies under a name of its writer's own a version, if nobody else has the version.

        Raises:
            ConcurrentModificationError: somebody has; Lance tries again on top of it.
        """
        asked = self._read(request)
        version, size = int(asked["version"]), asked.get("manifest_size")
        staged = str(asked["manifest_path"]).removeprefix(f"{self._root}/")
        try:
            claimed = self._versions.claim(version, staged, size=None if size is None else int(size))
        except ConflictError as error:
            raise ConcurrentModificationError(str(error)) from error
        return CreateTableVersionResponse(version=self._found(claimed))

    def describe_table_version(self, request: DescribeTableVersionRequest) -> DescribeTableVersionResponse:
        """Where a version's manifest is; one from before versions were claimed is looked for among the files.

        Raises:
            TableVersionNotFoundError: there is none of this number.
        """
        number = self._read(request).get("version")
        version = None if number is None else int(number)
        try:
            return DescribeTableVersionResponse(version=self._found(self._versions.get(version)))
        except NotFoundError as error:
            earlier = None if version is None else self._unclaimed(version)
            if earlier is None:
                raise TableVersionNotFoundError(f"there is no version {version}") from error
            return DescribeTableVersionResponse(version=earlier)

    def list_table_versions(self, request: ListTableVersionsRequest) -> ListTableVersionsResponse:
        """Versions that were claimed, the latest first or last; none tells Lance to look among the files."""
        asked = self._read(request)
        limit, latest_first = asked.get("limit"), bool(asked.get("descending"))
        found: list[TableVersion] = []
        for claimed in self._versions.list():
            if latest_first and limit is not None and len(found) >= int(limit):
                break
            found.append(self._found(claimed))
        if not latest_first:
            found = found[::-1][: None if limit is None else int(limit)]
        return ListTableVersionsResponse(versions=found)

    def _read(self, request: Any) -> Mapping[str, Any]:  # noqa: ANN401 - a model, or a mapping that is dumped as one
        self._check(request)
        asked: Mapping[str, Any] = request.model_dump()
        return asked

    def _found(self, claimed: Claimed) -> TableVersion:
        """A claimed version, its manifest being where readers look for it."""
        named = _FINAL.fullmatch(claimed.path)
        path = claimed.path if named is None else self._final(claimed.path, named["final"])
        return TableVersion(version=claimed.version, manifest_path=f"{self._root}/{path}", manifest_size=claimed.size)

    def _final(self, staged: str, final: str) -> str:
        if self._size(final) is None:
            try:
                self._files.copy(staged, final)
            except (NoSuchObjectError, FileNotFoundError):
                if self._size(final) is None:  # else somebody else has just copied it, and taken the other one away
                    raise
            else:
                self._files.delete(staged)
        return final

    def _unclaimed(self, version: int) -> TableVersion | None:
        for name in (f"{_LAST - version:020}", str(version)):
            path = f"_versions/{name}.manifest"
            size = self._size(path)
            if size is not None:
                return TableVersion(version=version, manifest_path=f"{self._root}/{path}", manifest_size=size)
        return None

    def _size(self, path: str) -> int | None:
        try:
            return int(self._files.head(path)["size"])
        except (NoSuchObjectError, FileNotFoundError):
            return None
