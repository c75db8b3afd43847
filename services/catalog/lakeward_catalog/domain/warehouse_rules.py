"""What a warehouse may be called, which table formats it may allow, and how long it may keep what was dropped."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from datetime import timedelta
from typing import Final

from lakeward_servicekit.errors import Reason, Refusal, invalid_field

MAX_NAME_BYTES: Final = 128
FORMAT_VERSIONS: Final = (1, 2, 3)
PREFERRED_FORMAT_VERSION: Final = 2
LONGEST_RESTORABLE: Final = timedelta(days=3650)


def check_warehouse_name(name: str) -> None:
    """Whether a warehouse may be called this. A slash would make it unreachable as "project/name".

    Raises:
        Refusal: INVALID_WAREHOUSE_NAME.
    """
    fault = None
    if not name.strip():
        fault = "it is empty"
    elif len(name.encode(errors="surrogatepass")) > MAX_NAME_BYTES:
        fault = f"it is longer than {MAX_NAME_BYTES} bytes"
    elif "/" in name:
        fault = "it holds '/', which divides a project from a warehouse"
    elif any(unicodedata.category(character) in ("Cc", "Cn", "Cs") for character in name):
        fault = "it holds a control or unassigned character"
    if fault is not None:
        shown = name[:MAX_NAME_BYTES].encode(errors="backslashreplace").decode()
        raise Refusal(Reason.REASON_INVALID_WAREHOUSE_NAME, f"{shown!r} can't name a warehouse: {fault}", name=shown)


def format_version_policy(allowed: Collection[int], default: int | None) -> tuple[tuple[int, ...], int]:
    """The versions that tables may have, ascending, and the one of tables that name none.

    Args:
        allowed: empty: all that are known.
        default: None: 2 where it is allowed, else the highest allowed.

    Raises:
        Refusal: INVALID_FORMAT_VERSION_POLICY.
    """
    versions = tuple(sorted(set(allowed))) or FORMAT_VERSIONS
    if not set(versions) <= set(FORMAT_VERSIONS):
        raise _policy(versions, "they must be among 1, 2 and 3")
    if default is None:
        return versions, PREFERRED_FORMAT_VERSION if PREFERRED_FORMAT_VERSION in versions else versions[-1]
    if default not in versions:
        raise _policy(versions, f"they must hold the default, {default}")
    return versions, default


def check_some_allowed(allowed: Collection[int]) -> None:
    """Whether a policy that was to be set allows any version at all.

    Raises:
        Refusal: INVALID_FORMAT_VERSION_POLICY.
    """
    if not allowed:
        raise _policy((), "name at least one of 1, 2 and 3")


def check_restorable_for(span: timedelta | None) -> None:
    """Whether dropped tabulars may be kept this long; None: drops are final.

    Raises:
        Refusal: INVALID_FIELD.
    """
    if span is not None and not timedelta(0) <= span <= LONGEST_RESTORABLE:
        raise invalid_field("delete_profile.restorable_for", span, f"0 to {LONGEST_RESTORABLE.days} days")


def _policy(versions: tuple[int, ...], right: str) -> Refusal:
    shown = ",".join(str(version) for version in versions)
    return Refusal(
        Reason.REASON_INVALID_FORMAT_VERSION_POLICY,
        f"the allowed format versions are {shown}; {right}",
        versions=shown,
    )
