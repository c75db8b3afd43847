"""Endpoints that a user names, in one spelling."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

from lakeward_vending.domain.documents import invalid

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_HOST: Final = re.compile(r"(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\])\Z")
_PATH: Final = re.compile(r"[A-Za-z0-9._~/-]*\Z")


def endpoint(text: str, *, field: str, with_path: bool) -> str:
    """An http(s) URL with a lower-case host, without a default port and without a trailing slash.

    Args:
        text: as given.
        field: the rule's name for refusals.
        with_path: whether a path may follow the host.

    Raises:
        Refusal: INVALID_STORAGE_PROFILE: another scheme, no host, user information, a query, a fragment, or a path
            where none may stand.
    """
    right = "an http or https URL of a host" + (" and a path" if with_path else "")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise invalid(field, text, right) from error
    if (
        not text.isprintable()  # what the parser would drop in silence
        or parts.scheme not in _DEFAULT_PORTS
        or "@" in parts.netloc
        or any(mark in text for mark in "?#\\")
        or not _HOST.match(_host(parts))
        or ".." in _host(parts)
        or not _PATH.match(parts.path)
        or ".." in parts.path.split("/")
        or (not with_path and parts.path.strip("/"))
    ):
        raise invalid(field, text, right)
    authority = _host(parts).lower()
    if port is not None and port != _DEFAULT_PORTS[parts.scheme]:
        authority = f"{authority}:{port}"
    return f"{parts.scheme}://{authority}{parts.path.rstrip('/')}"


def authority(url: str) -> str:
    """Host and port of a URL in its one spelling; the port only where it is not the scheme's."""
    return urlsplit(url).netloc


def host(url: str) -> str:
    """The host alone, without brackets."""
    return urlsplit(url).hostname or ""


def _host(parts: SplitResult) -> str:
    bare = parts.netloc.rpartition("@")[2]
    if bare.startswith("["):
        return bare.partition("]")[0] + "]"
    return bare.partition(":")[0]
