"""Logs and traces: what a service says of what it does, each line with the request that it belongs to."""

from lakeward_servicekit.telemetry.correlation import Correlation, bind, correlate, current, incoming, outgoing_headers

__all__ = ["Correlation", "bind", "correlate", "current", "incoming", "outgoing_headers"]
