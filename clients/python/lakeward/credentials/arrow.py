"""pyarrow: a filesystem that begins at the table's place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pyarrow import fs

from lakeward.credentials import AzureSas, Credentials, S3Keys

if TYPE_CHECKING:
    from lakeward.credentials.shapes import Shapes


def filesystem(source: Shapes) -> fs.FileSystem:
    """One that has fresh credentials whenever something is opened, listed or removed."""
    return fs.PyFileSystem(_Fresh(source))


def rooted(credentials: Credentials) -> fs.FileSystem:
    """One that holds until the credentials end."""
    place = f"{credentials.bucket}/{credentials.prefix}".rstrip("/")
    return fs.SubTreeFileSystem(place, _whole(credentials))


def _whole(credentials: Credentials) -> fs.FileSystem:
    store = credentials.store
    if isinstance(store, S3Keys):
        told: dict[str, Any] = {
            "access_key": store.access_key_id,
            "secret_key": store.secret_access_key,
            "session_token": store.session_token,
            "region": store.region,
            # What lies above the table may not be looked at, and a bucket not be made.
            "allow_bucket_creation": False,
            "allow_bucket_deletion": False,
            "check_directory_existence_before_creation": False,
        }
        if store.endpoint:
            parsed = urlsplit(store.endpoint)
            told |= {"endpoint_override": parsed.netloc, "scheme": parsed.scheme}
            # With an endpoint the bucket stands in the path unless that is said otherwise.
            told["force_virtual_addressing"] = not store.path_style and not _is_host_alone(parsed.hostname or "")
        return fs.S3FileSystem(**{name: value for name, value in told.items() if value is not None})
    if isinstance(store, AzureSas):
        told = {"sas_token": store.sas_token}
        if store.domain != "dfs.core.windows.net":
            blob = store.domain.replace("dfs.", "blob.", 1)
            told |= {"blob_storage_authority": f".{blob}", "dfs_storage_authority": f".{store.domain}"}
        return fs.AzureFileSystem(store.account, **told)
    return fs.GcsFileSystem(access_token=store.token, credential_token_expiration=credentials.expires_at)


def _is_host_alone(host: str) -> bool:
    # "localhost" and addresses have no room for a bucket before them
    return "." not in host or host.replace(".", "").isdigit() or ":" in host


class _Fresh(fs.FileSystemHandler):  # type: ignore[misc] # pyarrow has no types
    """Hands each call to a filesystem of the credentials of now; what is open keeps those that it was opened with.

    Args:
        source: of credentials.
    """

    def __init__(self, source: Shapes) -> None:
        self._source = source
        self._held: tuple[Credentials, fs.FileSystem] | None = None

    def _now(self) -> fs.FileSystem:
        found = self._source.get()
        held = self._held
        if held is None or held[0] is not found:
            held = self._held = (found, rooted(found))
        return held[1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Fresh) and other._source is self._source

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def get_type_name(self) -> str:
        return "lakeward"

    def normalize_path(self, path: str) -> str:
        return path.strip("/")

    def get_file_info(self, paths: list[str]) -> list[fs.FileInfo]:
        return list(self._now().get_file_info(paths))

    def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        return list(self._now().get_file_info(selector))

    def create_dir(self, path: str, recursive: bool) -> None:  # noqa: FBT001 - pyarrow's
        """Nothing: stores have no directories, and looking for the bucket first, as S3's would, is refused below it."""

    def delete_dir(self, path: str) -> None:
        self._now().delete_dir(path)

    def delete_dir_contents(self, path: str, missing_dir_ok: bool = False) -> None:  # noqa: FBT001, FBT002 - pyarrow's
        self._now().delete_dir_contents(path, missing_dir_ok=missing_dir_ok)

    def delete_root_dir_contents(self) -> None:
        self._now().delete_dir_contents("/", accept_root_dir=True)

    def delete_file(self, path: str) -> None:
        self._now().delete_file(path)

    def move(self, src: str, dest: str) -> None:
        self._now().move(src, dest)

    def copy_file(self, src: str, dest: str) -> None:
        self._now().copy_file(src, dest)

    def open_input_stream(self, path: str) -> Any:  # noqa: ANN401 - pyarrow has no types
        return self._now().open_input_stream(path, compression=None)

    def open_input_file(self, path: str) -> Any:  # noqa: ANN401 - as above
        return self._now().open_input_file(path)

    def open_output_stream(self, path: str, metadata: dict[str, str] | None) -> Any:  # noqa: ANN401 - as above
        return self._now().open_output_stream(path, compression=None, metadata=metadata)

    def open_append_stream(self, path: str, metadata: dict[str, str] | None) -> Any:  # noqa: ANN401 - as above
        return self._now().open_append_stream(path, compression=None, metadata=metadata)
