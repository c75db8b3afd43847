"""Spans on their way to a collector, by OpenTelemetry's SDK, an extra of which nothing is loaded unless traces are asked for.

What the standard says of `OTEL_` variables holds here, since the SDK reads them: endpoint and headers, sampler, resource, limits.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.telemetry import spans

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_EXPORTER: Final = "OTEL_TRACES_EXPORTER"
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_PROTOCOL: Final = "http/protobuf"
_LAST_SECONDS: Final = 5.0  # for what was not sent yet when the process ends


class TracingUnavailableError(Exception):
    """Traces are asked for, and can't be sent.

    Attributes:
        variable: that asks.
        why: what is wrong with it.
    """

    def __init__(self, variable: str, why: str) -> None:
        """Say so."""
        super().__init__(f"{variable} {why}")
        self.variable: Final = variable
        self.why: Final = why


def asked_for(environ: Mapping[str, str]) -> str | None:
    """The variable that asks for traces; None where none does, or another one says that there are to be none."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true" or environ.get(_EXPORTER) == "none":
        return None
    return next((name for name in (_EXPORTER, *_ENDPOINTS) if environ.get(name)), None)


@contextmanager
def exported(*, service: str, version: str, environ: Mapping[str, str] = os.environ) -> Iterator[bool]:
    """Record spans, and send them, until the block ends; whether that is so.

    Args:
        service: what this process hosts: "catalog", or "all".
        version: of what it runs.
        environ: says whether; the SDK reads the rest from the process's own.

    Raises:
        TracingUnavailableError: they are asked for, and can't be sent.
    """
    variable = asked_for(environ)
    if variable is None:
        spans.stop()
        yield False
        return
    provider = _provider(variable, service, version, environ)
    spans.configure(provider)
    try:
        yield True
    finally:
        spans.stop()
        # a collector that is away must not hold up the end; what it did not take by then is lost
        ending = threading.Thread(target=provider.shutdown, name="spans-shutdown", daemon=True)
        ending.start()
        ending.join(_LAST_SECONDS)


def _provider(variable: str, service: str, version: str, environ: Mapping[str, str]) -> TracerProvider:
    exporter = environ.get(_EXPORTER) or "otlp"
    if exporter != "otlp":
        raise TracingUnavailableError(_EXPORTER, f"is {exporter!r}; otlp is supported, and none for no traces")
    for name in _PROTOCOLS:
        protocol = environ.get(name) or _PROTOCOL
        if protocol != _PROTOCOL:
            raise TracingUnavailableError(name, f"is {protocol!r}; {_PROTOCOL} is supported, on port 4318 by default")
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - an extra
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - an extra
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - an extra
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - an extra
    except ImportError as missing:
        raise TracingUnavailableError(
            variable,
            "is set, and OpenTelemetry's SDK is not installed; `pip install 'lakeward-server[tracing]'`, or unset it",
        ) from missing
    attributes = {"service.version": version}
    if "OTEL_SERVICE_NAME" not in environ and "service.name=" not in environ.get("OTEL_RESOURCE_ATTRIBUTES", ""):
        attributes["service.name"] = "lakeward" if service == "all" else f"lakeward-{service}"
    provider = TracerProvider(resource=Resource.create(attributes), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
