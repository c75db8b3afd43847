"""Properties of tables and views: which may be set, and the few that the catalog obeys."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from lakeward_servicekit.errors import Reason, Refusal

FORMAT_VERSION: Final = "format-version"
# Iceberg's own: they are derived from the metadata and never stored in it.
RESERVED: Final = frozenset(
    {
        FORMAT_VERSION,
        "uuid",
        "snapshot-count",
        "current-snapshot-id",
        "current-snapshot-summary",
        "current-snapshot-timestamp-ms",
        "current-schema",
        "default-partition-spec",
        "default-sort-order",
    }
)
# Each of these would put files where the catalog does not look for them, or does not vend credentials for.
FORBIDDEN_PREFIXES: Final = (
    "write.metadata",
    "write.data.path",
    "write.object-storage.path",
    "write.folder-storage.path",
)
PREVIOUS_VERSIONS_MAX: Final = "write.metadata.previous-versions-max"
DELETE_AFTER_COMMIT: Final = "write.metadata.delete-after-commit.enabled"
COMPRESSION_CODEC: Final = "write.metadata.compression-codec"
ALLOWED_ALTHOUGH_FORBIDDEN: Final = (PREVIOUS_VERSIONS_MAX, DELETE_AFTER_COMMIT, COMPRESSION_CODEC)
ALLOWED_METRICS: Final = "write.metadata.metrics."
IMMUTABLE: Final = "encryption.key-id"
CODECS: Final = ("gzip", "none")
DEFAULT_PREVIOUS_VERSIONS: Final = 100
KNOWN_VERSIONS: Final = (1, 2, 3)
DEFAULT_FORMAT_VERSION: Final = 2


def check_keys(keys: Iterable[str]) -> None:
    """Refuse keys that may be neither set nor removed.

    Raises:
        Refusal: PROPERTY_FORBIDDEN.
    """
    for key in keys:
        if (
            key.startswith(FORBIDDEN_PREFIXES)
            and key not in ALLOWED_ALTHOUGH_FORBIDDEN
            and not key.startswith(ALLOWED_METRICS)
        ):
            raise Refusal(
                Reason.REASON_PROPERTY_FORBIDDEN,
                f"property {key!r} can't be set or removed: the catalog decides where files are",
                key=key,
            )


def check_codec(properties: Mapping[str, str]) -> None:
    """Refuse a metadata compression that is not served.

    Raises:
        Refusal: UNSUPPORTED_COMPRESSION.
    """
    codec = properties.get(COMPRESSION_CODEC)
    if codec is not None and codec not in CODECS:
        raise Refusal(
            Reason.REASON_UNSUPPORTED_COMPRESSION,
            f"{COMPRESSION_CODEC} is {codec!r}; it must be gzip or none",
            codec=codec,
        )


def check_immutable(old: Mapping[str, str], new: Mapping[str, str]) -> None:
    """Refuse a change of a property that is fixed once it is set.

    Raises:
        Refusal: IMMUTABLE_PROPERTY.
    """
    before = old.get(IMMUTABLE)
    if before is None or new.get(IMMUTABLE) == before:
        return
    change = "modify" if IMMUTABLE in new else "remove"
    raise Refusal(
        Reason.REASON_IMMUTABLE_PROPERTY,
        f"Cannot {change} immutable property {IMMUTABLE!r}: it is fixed once set; create another table for another key",
        key=IMMUTABLE,
        change=change,
    )


def previous_versions_max(properties: Mapping[str, str]) -> int:
    """How many earlier metadata files the log keeps: at least 1; 100 where unset or not a number."""
    try:
        return max(1, int(properties.get(PREVIOUS_VERSIONS_MAX, DEFAULT_PREVIOUS_VERSIONS)))
    except ValueError:
        return DEFAULT_PREVIOUS_VERSIONS


def choose_format_version(
    properties: Mapping[str, str], *, allowed: Collection[int], default: int | None = None
) -> int:
    """The format version of a new table.

    Args:
        properties: of the create request; `format-version` may be "2" or "v2".
        allowed: what the warehouse allows; not empty.
        default: the warehouse's own; without it 2 where that is allowed, else the highest allowed.

    Raises:
        Refusal: INVALID_FORMAT_VERSION, FORMAT_VERSION_NOT_ALLOWED.
    """
    text = properties.get(FORMAT_VERSION)
    if text is None:
        if default is not None:
            return default
        return DEFAULT_FORMAT_VERSION if DEFAULT_FORMAT_VERSION in allowed else max(allowed)
    digits = text.removeprefix("v")
    if digits not in {str(version) for version in KNOWN_VERSIONS}:
        raise invalid_version(text)
    check_version(int(digits), allowed=allowed)
    return int(digits)


def check_version(version: int, *, allowed: Collection[int]) -> None:
    """Refuse a format version that is unknown or that the warehouse does not allow.

    Raises:
        Refusal: INVALID_FORMAT_VERSION, FORMAT_VERSION_NOT_ALLOWED.
    """
    if version not in KNOWN_VERSIONS:
        raise invalid_version(str(version))
    if version not in allowed:
        shown = ",".join(str(known) for known in sorted(allowed))
        raise Refusal(
            Reason.REASON_FORMAT_VERSION_NOT_ALLOWED,
            f"format version {version} is not allowed in this warehouse; it allows {shown}",
            version=str(version),
            allowed=shown,
        )


def invalid_version(text: str) -> Refusal:
    """The refusal of a version that does not exist."""
    return Refusal(
        Reason.REASON_INVALID_FORMAT_VERSION,
        f"format version {text[:50]!r} is unknown; it must be 1, 2 or 3",
        version=text,
    )
