"""The code of the guides, run as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_GUIDE = Path(__file__).resolve().parents[2] / "docs" / "customization-guide.md"


def customized(name: str) -> Any:
    """What a block of code of the customization guide defines."""
    (code,) = [
        block for block in re.findall(r"```python\n(.*?)```", _GUIDE.read_text(), re.DOTALL) if f" {name}" in block
    ]
    scope: dict[str, Any] = {"__name__": _GUIDE.stem}
    exec(compile(code, _GUIDE.name, "exec"), scope)
    return scope[name]
