"""A parent of the embedded components that can be killed: `python component_parent.py HOME`.

Prints one line of JSON once all answer, then waits for a line on standard input and ends in order.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from lakeward_components import embedded


async def main(home: Path) -> None:
    began = time.monotonic()
    async with embedded.components(home) as servers:
        report = {
            "seconds": time.monotonic() - began,
            "pids": [servers.postgres.pid, servers.nats.pid, servers.s3.pid],
            "postgres": servers.postgres.url,
            "nats": servers.nats.url,
            "s3": [servers.s3.endpoint, servers.s3.admin.access_key, servers.s3.admin.secret_key],
        }
        sys.stdout.write(json.dumps(report) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.readline)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
