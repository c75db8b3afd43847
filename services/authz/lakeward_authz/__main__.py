"""`python -m lakeward_authz`: authz in a process of its own, which meets the others over gRPC."""

from __future__ import annotations

import os
from collections.abc import Mapping

from lakeward_authz.bootstrap import authz
from lakeward_authz.settings import Alone
from lakeward_servicekit.joining import Joined, serve_grpc
from lakeward_servicekit.process import loaded, run


async def serve(environ: Mapping[str, str]) -> None:
    """Serve until told to stop."""
    settings = loaded(Alone, environ)
    joined = Joined("authz", settings.joints)
    async with joined.observed(), authz(settings.service) as host:
        await serve_grpc(host, settings.endpoint.listen, joined)


if __name__ == "__main__":
    run(serve(os.environ))
