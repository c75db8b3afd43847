"""The variables that say where components are: the one list of their names.

Two prefixes exist: `LAKEWARD_TEST_` for tests and benchmarks, `LAKEWARD_UP_` for the embedded mode. Neither begins with
`LAKEWARD__`, so they are no settings of a service. With the prefix left out:

| variable | says |
|---|---|
| `COMPONENT_SOURCES` | which sources are asked, in which order; default `url,container,binary` |
| `POSTGRES_URL` | `postgresql://user:password@host:port/database`; the user may create databases |
| `POSTGRES_BIN` | folder with `initdb` and `postgres`, such as Debian's `/usr/lib/postgresql/15/bin` |
| `NATS_URL` | `nats://user:password@host:port`; JetStream is on |
| `NATS_BIN` | folder with `nats-server` |
| `S3_URL` | endpoint of S3 and STS, path style, such as `http://127.0.0.1:8333` |
| `S3_ACCESS_KEY`, `S3_SECRET_KEY` | a key that may do everything in the buckets |
| `S3_STS_ACCESS_KEY`, `S3_STS_SECRET_KEY` | a key that may do nothing but assume the role |
| `S3_ROLE_ARN` | the role to assume; its policy covers the bucket and not the outside one |
| `S3_BUCKET`, `S3_OUTSIDE_BUCKET` | names of buckets that exist; default `warehouse`, `outside` |
| `S3_REGION` | default `us-east-1` |
| `S3_BIN` | folder with `weed` |
| `OIDC_URL` | issuer of a nanoidp that has this package's clients and users |
| `OIDC_BIN` | folder with `nanoidp` |
| `OPENFGA_URL`, `OPENFGA_API_KEY` | an OpenFGA's HTTP API, and a key that may make stores |
| `OPENFGA_BIN` | folder with `openfga` |
| `OPENBAO_URL`, `OPENBAO_TOKEN` | an OpenBao or Vault, and a token that may do everything there |
| `OPENBAO_BIN` | folder with `bao` |
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lakeward_components.errors import ComponentMisconfigured


class Component(enum.Enum):
    """What can be had; the value is its part of a variable's name."""

    POSTGRES = "POSTGRES"
    NATS = "NATS"
    S3 = "S3"
    OIDC = "OIDC"
    OPENFGA = "OPENFGA"
    OPENBAO = "OPENBAO"


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the variables under one prefix."""

    prefix: str

    @property
    def sources(self) -> str:
        """Which sources are asked."""
        return f"{self.prefix}COMPONENT_SOURCES"

    def url(self, component: Component) -> str:
        """Where the component is."""
        return self.of(component, "URL")

    def binaries(self, component: Component) -> str:
        """Where its programs are."""
        return self.of(component, "BIN")

    def of(self, component: Component, what: str) -> str:
        """Any other variable of the component."""
        return f"{self.prefix}{component.value}_{what}"


TEST: Final = Names("LAKEWARD_TEST_")
UP: Final = Names("LAKEWARD_UP_")


def required(environment: Mapping[str, str], name: str, *, because: str) -> str:
    """The variable's value.

    Raises:
        ComponentMisconfigured: it is missing or empty.
    """
    if value := environment.get(name):
        return value
    raise ComponentMisconfigured(f"{name} is not set, and {because} is; set both or neither")
