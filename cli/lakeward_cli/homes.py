"""What a home of the embedded mode keeps that its owner alone may read."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path


def kept(path: Path, make: Callable[[], Mapping[str, str]]) -> Mapping[str, str]:
    """What the file holds; where it is not there, what `make` gives, which it holds from then on, for all who ask at once."""
    if not path.exists():
        # as the components' folders: others may pass through, since a server may have to run as another user
        path.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
        scratch = path.with_suffix(f".{os.getpid()}")
        with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(dict(make()), file)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(scratch, path)
        scratch.unlink()
    found: dict[str, str] = json.loads(path.read_text())
    return found
