"""`python -m lakeward_vending`: vending in a process of its own, which meets the others over gRPC."""

from __future__ import annotations

import os
from collections.abc import Mapping

from lakeward_servicekit.joining import Joined, serve_grpc
from lakeward_servicekit.permits import PermitVerifier
from lakeward_servicekit.process import loaded, run
from lakeward_vending.bootstrap import vending
from lakeward_vending.settings import Alone


async def serve(environ: Mapping[str, str]) -> None:
    """Serve until told to stop."""
    settings = loaded(Alone, environ)
    joined = Joined("vending", settings.joints)
    verifier = PermitVerifier([joined.public_key_of("catalog")])
    async with (
        joined.observed(),
        joined.channel("authz") as authz,
        vending(settings.service, authz=authz, verifier=verifier, remote=True) as host,
    ):
        await serve_grpc(host, settings.endpoint.listen, joined)


if __name__ == "__main__":
    run(serve(os.environ))
