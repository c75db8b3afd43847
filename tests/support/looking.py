"""`python -m tests.support.looking`: `lakeward serve`, which looks several times a second how far its events are.

The product looks every fifteen seconds; the name that says so is replaced in this process alone, so that no test waits for that.
"""

from __future__ import annotations

import asyncio
import os
from datetime import timedelta
from functools import partial
from typing import Final

from lakeward_cli.serving import serve_all
from lakeward_servicekit.events import serving
from lakeward_servicekit.telemetry.looking import keep_looking

_EVERY: Final = timedelta(milliseconds=300)

if __name__ == "__main__":
    serving.keep_looking = partial(keep_looking, every=_EVERY)  # type: ignore[attr-defined]
    asyncio.run(serve_all(os.environ))
