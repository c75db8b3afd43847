"""/health: 200 when, and only when, this server can serve."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from lakeward_gateway.errors import Renderings
from lakeward_gateway.http import Request, Response, json_response
from lakeward_gateway.operation import Answer, Method, Operation
from lakeward_servicekit.errors import Refusal

_PATIENCE: Final = timedelta(seconds=2)
_NO_STORE: Final = ((b"cache-control", b"no-store"),)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclasses.dataclass(frozen=True, slots=True)
class Probe:
    """One thing that serving needs, and whether it was there when it was last looked at.

    Attributes:
        service: which service needs it, as "catalog".
        name: what it is, as "database".
        healthy: None where it was not looked at yet.
        checked_at: when it was last looked at.
    """

    service: str
    name: str
    healthy: bool | None
    checked_at: datetime


# Answers what every service needs. Raises Refusal where a service can't be asked.
Readiness: TypeAlias = Callable[[], Awaitable[Sequence[Probe]]]


async def ready(_request: Request, *, readiness: Readiness, maintenance: str) -> Response:
    """What the services say of themselves; 503 unless all of it is well."""
    try:
        async with asyncio.timeout(_PATIENCE.total_seconds()):
            probes = await readiness()
    except (TimeoutError, Refusal):
        probes = ()
    states = [_state(probe) for probe in probes]
    health = next((state for state in ("error", "unknown") if state in states), "ok") if states else "error"
    services: dict[str, list[dict[str, Any]]] = {}
    for probe, state in zip(probes, states, strict=True):
        checked = (probe.checked_at - _EPOCH) // timedelta(milliseconds=1)
        services.setdefault(probe.service, []).append({"name": probe.name, "lastCheck": checked, "status": state})
    document = {"health": health, "services": services, "maintenance_mode": maintenance}
    return json_response(document, status=200 if health == "ok" else 503, headers=_NO_STORE)


async def live(_request: Request) -> Response:
    """This process runs."""
    return json_response({"health": "ok"}, headers=_NO_STORE)


def _state(probe: Probe) -> Literal["ok", "error", "unknown"]:
    if probe.healthy is None:
        return "unknown"
    return "ok" if probe.healthy else "error"


def operations(readiness: Readiness, *, maintenance: str, renderings: Renderings) -> Sequence[Operation]:
    """Health checks, for GET and HEAD.

    Args:
        readiness: asks the services.
        maintenance: the mode, as "off".
        renderings: how refusals of bad requests are shown.
    """
    well = partial(ready, readiness=readiness, maintenance=maintenance)
    methods: Sequence[Method] = ("GET", "HEAD")
    return tuple(
        Operation(
            id=f"health{path.title().replace('/', '')}{method.title()}",
            method=method,
            path=f"/health{path}",
            summary="Whether the server can serve." if handler is well else "Whether the process runs.",
            handler=handler,
            answers={200: Answer("It does.")},
            renderings=renderings,
            tag="Health",
            documented=False,
            bare=True,
        )
        for path, handler in (("", well), ("/ready", well), ("/live", live))
        for method in methods
    )
