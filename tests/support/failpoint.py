"""Lakeward with a fault between the metadata file's PUT and the compare-and-set of its pointer, or in telling authz of a change.

    python -m tests.support.failpoint lakeward|catalog

It is composed as `lakeward serve` composes it, except that the catalog is handed wrapped channels to vending and authz; the
product has no failpoint. `FAILPOINT` in the environment names the fault:

    die        kill this process once a file is written
    forget     answer as if the file were written: what the order of PUT and pointer guards against
    unlocked   read an unknown outcome back without waiting for the commit that may be under way
    untold     kill this process before authz is told of a change of its tree
    unheard    kill this process once authz has answered that it applied one
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from lakeward_catalog import __main__ as alone
from lakeward_catalog.adapters.postgres import tabular_changes
from lakeward_catalog.bootstrap import catalog
from lakeward_catalog.settings import CatalogSettings
from lakeward_cli import composing
from lakeward_cli.serving import serve_all
from lakeward_protocol.vending.v1 import vending_pb2
from lakeward_servicekit.rpc import Channel, Host

DIE: Final = "die"
FORGET: Final = "forget"
UNLOCKED: Final = "unlocked"
UNTOLD: Final = "untold"
UNHEARD: Final = "unheard"
_WRITE: Final = "/lakeward.vending.v1.FileService/WriteFile"
_TELL: Final = "/lakeward.authz.v1.TreeService/ApplyTreeChanges"


class Faulty:
    """A channel whose writes of files go as the environment says."""

    def __init__(self, channel: Channel, environ: Mapping[str, str]) -> None:
        self._channel = channel
        self._fault = environ["FAILPOINT"]

    def unary_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:
        call = self._channel.unary_unary(method, *args, **kwargs)
        if method == _TELL and self._fault in {UNTOLD, UNHEARD}:
            return self._telling(call)
        if method != _WRITE:
            return call

        async def write(request: Any, timeout: float | None = None) -> Any:  # noqa: ASYNC109 - a stub's own signature
            if self._fault == FORGET:
                return vending_pb2.WriteFileResponse()
            reply = await call(request, timeout=timeout)
            if self._fault == DIE:
                os.kill(os.getpid(), signal.SIGKILL)
            return reply

        return write

    def unary_stream(self, method: str, *args: Any, **kwargs: Any) -> Any:
        return self._channel.unary_stream(method, *args, **kwargs)

    def _telling(self, call: Any) -> Any:
        async def tell(request: Any, timeout: float | None = None) -> Any:  # noqa: ASYNC109 - a stub's own signature
            if self._fault == UNHEARD:
                await call(request, timeout=timeout)
            os.kill(os.getpid(), signal.SIGKILL)

        return tell


def _faulty(
    settings: CatalogSettings, *, vending: Channel, authz: Channel, **others: Any
) -> AbstractAsyncContextManager[Host]:
    return catalog(settings, vending=Faulty(vending, os.environ), authz=Faulty(authz, os.environ), **others)


if __name__ == "__main__":
    if os.environ["FAILPOINT"] == UNLOCKED:
        tabular_changes.CURRENT = tabular_changes.CURRENT.replace(" for share", "")  # type: ignore[misc]
    composing.catalog = alone.catalog = _faulty  # type: ignore[attr-defined, assignment]
    asyncio.run({"lakeward": serve_all, "catalog": alone.serve}[sys.argv[1]](os.environ))
