"""A component, wherever this machine has it: what `choice` decides, done."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from lakeward_components import (
    binaries,
    choice,
    containers,
    engine,
    nats,
    oidc,
    openbao,
    openfga,
    openfga_build,
    postgres,
    seaweedfs,
)
from lakeward_components.choice import Choice, FromBinary, FromContainer, FromUrl, Source
from lakeward_components.environment import Component, Names, required
from lakeward_components.errors import ComponentUnavailable
from lakeward_components.nats import NatsServer
from lakeward_components.oidc import OidcProvider
from lakeward_components.openbao import OpenBaoServer
from lakeward_components.openfga import OpenFgaServer
from lakeward_components.postgres import PostgresServer
from lakeward_components.seaweedfs import S3Store
from lakeward_components.sigv4 import Key

CONTAINED: Final = frozenset({Component.POSTGRES, Component.NATS, Component.S3})
"""The components for which there is a container."""


async def postgres_server(
    folder: Path,
    *,
    names: Names,
    environment: Mapping[str, str] = os.environ,
    settings: Mapping[str, str] | None = None,
) -> PostgresServer:
    """A Postgres from the first source that has one; `settings` reach only a server that is started for it.

    Raises:
        ComponentError: none has, or it does not start.
    """
    match chosen(Component.POSTGRES, names=names, environment=environment):
        case FromUrl(url):
            return postgres.at(url)
        case FromContainer():
            return await containers.postgres_server(folder, settings=settings)
        case FromBinary(programs):
            return await postgres.start(folder, settings=settings, programs=programs)


async def nats_server(folder: Path, *, names: Names, environment: Mapping[str, str] = os.environ) -> NatsServer:
    """A NATS with JetStream from the first source that has one.

    Raises:
        ComponentError: none has, or it does not start.
    """
    match chosen(Component.NATS, names=names, environment=environment):
        case FromUrl(url):
            return nats.at(url)
        case FromContainer():
            return await containers.nats_server(folder)
        case FromBinary(programs):
            return await nats.start(folder, programs=programs)


async def s3_store(folder: Path, *, names: Names, environment: Mapping[str, str] = os.environ) -> S3Store:
    """An S3 store with STS from the first source that has one.

    Raises:
        ComponentError: none has, or it does not start.
    """
    match chosen(Component.S3, names=names, environment=environment):
        case FromUrl(url):
            return _given_store(url, names=names, environment=environment)
        case FromContainer():
            return await containers.s3_store(folder)
        case FromBinary(programs):
            return await seaweedfs.start(folder, programs=programs)


async def oidc_provider(
    folder: Path, *, names: Names, environment: Mapping[str, str] = os.environ, redirect_uris: Sequence[str] = ()
) -> OidcProvider:
    """An OIDC provider; a Python package, so no container is asked for. `redirect_uris` reach only one that is started.

    Raises:
        ComponentError: there is none, or it does not start.
    """
    match chosen(Component.OIDC, names=names, environment=environment):
        case FromUrl(url):
            return OidcProvider(url.rstrip("/"))
        case FromBinary(programs):
            return await oidc.start(folder, redirect_uris=redirect_uris, programs=programs)
        case FromContainer():
            raise AssertionError("an identity provider is never offered as a container")


async def openfga_server(
    folder: Path, *, names: Names, environment: Mapping[str, str] = os.environ, database: str | None = None
) -> OpenFgaServer:
    """An OpenFGA from the first source that has one; where none has, it is built, which takes minutes once.

    One that is started keeps what it is told in a Postgres `database`, where it is given one, and else in memory.

    Raises:
        ComponentError: there is none and it can't be built, or it does not start.
    """
    try:
        choice_made = chosen(Component.OPENFGA, names=names, environment=environment)
    except ComponentUnavailable:
        if Source.BINARY not in choice.sources(environment, names=names):
            raise
        choice_made = FromBinary(await asyncio.to_thread(openfga_build.build, environment))
    match choice_made:
        case FromUrl(url):
            key = environment.get(names.of(Component.OPENFGA, "API_KEY"), "")
            return OpenFgaServer(url.rstrip("/"), key)
        case FromBinary(programs):
            return await openfga.start(folder, programs=programs, database=database)
        case FromContainer():
            raise AssertionError("an OpenFGA is never offered as a container")


async def openbao_server(folder: Path, *, names: Names, environment: Mapping[str, str] = os.environ) -> OpenBaoServer:
    """An OpenBao from the first source that has one.

    Raises:
        ComponentError: none has, or it does not start.
    """
    match chosen(Component.OPENBAO, names=names, environment=environment):
        case FromUrl(url):
            because = names.url(Component.OPENBAO)
            token = required(environment, names.of(Component.OPENBAO, "TOKEN"), because=because)
            return OpenBaoServer(url.rstrip("/"), token)
        case FromBinary(programs):
            return await openbao.start(folder, programs=programs)
        case FromContainer():
            raise AssertionError("an OpenBao is never offered as a container")


def chosen(component: Component, *, names: Names, environment: Mapping[str, str]) -> Choice:
    """What `choice` says about this machine; what isn't asked for isn't looked for."""
    asked = choice.sources(environment, names=names)
    url = environment.get(names.url(component)) if Source.URL in asked else None
    return choice.choose(
        component,
        environment=environment,
        names=names,
        containers=not url and Source.CONTAINER in asked and component in CONTAINED and engine.answers(environment),
        programs=binaries.find(component, environment=environment, names=names),
    )


def _given_store(url: str, *, names: Names, environment: Mapping[str, str]) -> S3Store:
    def given(what: str) -> str:
        return required(environment, names.of(Component.S3, what), because=names.url(Component.S3))

    def default(what: str, value: str) -> str:
        return environment.get(names.of(Component.S3, what)) or value

    return S3Store(
        endpoint=url.rstrip("/"),
        admin=Key(given("ACCESS_KEY"), given("SECRET_KEY")),
        sts_only=Key(given("STS_ACCESS_KEY"), given("STS_SECRET_KEY")),
        role_arn=given("ROLE_ARN"),
        bucket=default("BUCKET", seaweedfs.BUCKET),
        outside_bucket=default("OUTSIDE_BUCKET", seaweedfs.OUTSIDE_BUCKET),
        region=default("REGION", seaweedfs.REGION),
    )
