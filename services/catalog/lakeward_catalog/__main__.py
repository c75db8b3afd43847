"""`python -m lakeward_catalog`: the catalog in a process of its own, which meets the others over gRPC."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial

from lakeward_catalog.bootstrap import catalog
from lakeward_catalog.settings import Alone
from lakeward_servicekit.joining import Joined, ask, serve_grpc
from lakeward_servicekit.permits import PermitSigner
from lakeward_servicekit.process import loaded, run


async def serve(environ: Mapping[str, str]) -> None:
    """Serve until told to stop."""
    settings = loaded(Alone, environ)
    joined = Joined("catalog", settings.joints)
    signer = PermitSigner(joined.private_key())
    async with (
        joined.observed(),
        joined.channel("authz") as authz,
        joined.channel("vending") as vending,
        catalog(settings.service, authz=authz, vending=vending, signer=signer, remote=True) as host,
    ):
        host.add_probe("authz", partial(ask, "authz", authz))  # vending is the gateway's own to ask
        await serve_grpc(host, settings.endpoint.listen, joined)


if __name__ == "__main__":
    run(serve(os.environ))
