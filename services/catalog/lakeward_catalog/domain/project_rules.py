"""What a project may be called."""

from __future__ import annotations

import unicodedata
from typing import Final

from lakeward_servicekit.errors import Reason, Refusal

MAX_NAME_BYTES: Final = 128


def check_project_name(name: str) -> None:
    """Whether a project may be called this. Names need not be unique: projects are told apart by their ids.

    Raises:
        Refusal: INVALID_PROJECT_NAME.
    """
    fault = None
    if not name.strip():
        fault = "it is empty"
    elif len(name.encode(errors="surrogatepass")) > MAX_NAME_BYTES:
        fault = f"it is longer than {MAX_NAME_BYTES} bytes"
    elif any(unicodedata.category(character) in ("Cc", "Cn", "Cs") for character in name):
        fault = "it holds a control or unassigned character"
    if fault is not None:
        shown = name[:MAX_NAME_BYTES].encode(errors="backslashreplace").decode()
        raise Refusal(Reason.REASON_INVALID_PROJECT_NAME, f"{shown!r} can't name a project: {fault}", name=shown)
