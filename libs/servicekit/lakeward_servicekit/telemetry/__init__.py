"""Logs and traces: what a service says of what it does, each line with the request that it belongs to."""

from lakeward_servicekit.telemetry.correlation import (
    Correlation,
    bind,
    bind_incoming,
    correlate,
    current,
    incoming,
    outgoing_headers,
    unbind_incoming,
)

__all__ = [
    "Correlation",
    "bind",
    "bind_incoming",
    "correlate",
    "current",
    "incoming",
    "outgoing_headers",
    "unbind_incoming",
]
