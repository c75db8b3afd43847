"""The checkers that the settings name."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

from lakeward_catalog.application.contracts.gate import Checker
from lakeward_catalog.application.ports.gates import ContractChecker
from lakeward_catalog.settings import CheckerSettings


async def open_checkers(named: Mapping[str, CheckerSettings], stack: AsyncExitStack) -> Mapping[str, Checker]:
    """Each by its name, connected when it is first asked, until the stack is closed.

    Raises:
        TlsSetupError: a file with authorities can't be used.
    """
    return {
        name: Checker(await _opened(settings, stack), fails_open=settings.on_failure == "allow")
        for name, settings in named.items()
    }


async def _opened(settings: CheckerSettings, stack: AsyncExitStack) -> ContractChecker:
    assert settings.url is not None, "settings demand it"
    parts = urlsplit(settings.url)
    longest, token, ca_file = settings.timeout, settings.token, settings.ca_file
    if parts.scheme in {"http", "https"}:
        from lakeward_catalog.adapters.contracts.http import http_checker  # noqa: PLC0415 - few have one

        return await stack.enter_async_context(
            http_checker(settings.url, longest=longest, token=token, ca_file=ca_file)
        )
    from lakeward_catalog.adapters.contracts.grpc import grpc_checker  # noqa: PLC0415 - the same

    secure = parts.scheme == "grpcs"
    return await stack.enter_async_context(
        grpc_checker(parts.netloc, secure=secure, longest=longest, token=token, ca_file=ca_file)
    )
