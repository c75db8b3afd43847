"""The sinks that settings name."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.events.kafka import KafkaAddress, KafkaSettingsError, KafkaSink
from lakeward_servicekit.events.log_sink import LogSink
from lakeward_servicekit.events.nats.connection import NatsAddress
from lakeward_servicekit.events.nats.core import NatsCoreSink
from lakeward_servicekit.events.nats.sink import NatsSink
from lakeward_servicekit.events.relay import Sink
from lakeward_servicekit.settings.events import EventSettings
from lakeward_servicekit.settings.problems import Problem, SettingsError

if TYPE_CHECKING:
    from lakeward_servicekit.events.webhook import WebhookSink

_LOG: Final = logging.getLogger(__name__)


async def open_sinks(settings: EventSettings, stack: AsyncExitStack) -> Sequence[Sink]:
    """The sinks that settings name, until the stack is closed. None of them is connected before it is handed events.

    Raises:
        SettingsError: Kafka's client does not take what it is told.
    """
    sinks: list[Sink] = []
    for each in _closing(settings):
        stack.push_async_callback(each.close)
        sinks.append(each)
    if settings.log_cloudevents:
        sinks.append(LogSink())
    if not sinks:
        _LOG.info("no sink is configured: events are kept in the log, and go nowhere")
    return sinks


def _closing(settings: EventSettings) -> Iterator[NatsSink | NatsCoreSink | KafkaSink | WebhookSink]:
    if settings.nats_address is not None and settings.nats_topic is not None:
        address = NatsAddress(
            url=settings.nats_address,
            topic=settings.nats_topic,
            user=settings.nats_user,
            password=settings.nats_password,
            token=settings.nats_token,
            creds_file=settings.nats_creds_file,
            nkey_file=settings.nats_nkey_file,
            ca_file=settings.nats_ca_file,
            cert_file=settings.nats_cert_file,
            key_file=settings.nats_key_file,
            timeout=settings.nats_timeout,
        )
        yield NatsSink(address) if settings.nats_jetstream else NatsCoreSink(address)
    if settings.kafka_topic is not None and settings.kafka_config is not None:
        yield _kafka(KafkaAddress(settings.kafka_topic, settings.kafka_config, settings.kafka_every_topic))
    if settings.webhook_url is not None:
        from lakeward_servicekit.events.webhook import (  # noqa: PLC0415 - the HTTP library, where it is needed
            WebhookAddress,
            WebhookSink,
        )

        yield WebhookSink(WebhookAddress(settings.webhook_url, settings.webhook_secret, settings.webhook_timeout))


def _kafka(address: KafkaAddress) -> KafkaSink:
    variable = "LAKEKEEPER__KAFKA_CONFIG"
    if not address.names_servers:
        raise SettingsError([Problem(variable, 'names no server; say it, as {"bootstrap.servers"="broker:9092"}')])
    try:
        return KafkaSink(address)
    except KafkaSettingsError as wrong:
        raise SettingsError([Problem(variable, f"is not taken by Kafka's client: {wrong}")]) from wrong
