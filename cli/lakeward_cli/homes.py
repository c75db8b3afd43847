"""What a home of the embedded mode keeps that its owner alone may read."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from lakeward_components.errors import ComponentUnavailable

SETTINGS: Final = "settings.json"
"""What the last start in a home chose, for commands beside it."""


def kept(path: Path, make: Callable[[], Mapping[str, str]]) -> Mapping[str, str]:
    """What the file holds; where it is not there, what `make` gives, which it holds from then on, for all who ask at once."""
    if not path.exists():
        scratch = _written(path, make())
        with contextlib.suppress(FileExistsError):
            os.link(scratch, path)
        scratch.unlink()
    return read(path)


def keep(path: Path, what: Mapping[str, str]) -> None:
    """Have the file hold this from now on, whatever it held."""
    _written(path, what).replace(path)


def read(path: Path) -> Mapping[str, str]:
    """What the file holds.

    Raises:
        FileNotFoundError: nothing was kept there.
    """
    found: dict[str, str] = json.loads(path.read_text())
    return found


def _written(path: Path, what: Mapping[str, str]) -> Path:
    """A file beside it, which holds this."""
    # as the components' folders: others may pass through, since a server may have to run as another user
    path.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
    scratch = path.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(dict(what), file)
        file.flush()
        os.fsync(file.fileno())
    return scratch


def settings_of(home: Path) -> Mapping[str, str]:
    """What the last start in a home chose.

    Raises:
        ComponentUnavailable: nothing was ever started there.
    """
    try:
        return read(home / SETTINGS)
    except FileNotFoundError:
        raise ComponentUnavailable(
            f"nothing was started in {home}; start it with `lakeward up`, or name another home"
        ) from None
