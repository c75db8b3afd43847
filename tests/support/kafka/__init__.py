"""A real broker of Kafka, one node that is its own controller."""

from __future__ import annotations

import asyncio
import base64
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lakeward_components import child, folder, ports
from lakeward_components.child import Started
from lakeward_components.ports import LOOPBACK
from tests.support import maven

_READY_SECONDS: Final = 90.0
# It lives for a minute or two: what makes a long life fast makes the start slow.
_JVM: Final = (
    "-Xmx256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)


@dataclass(frozen=True, slots=True)
class Broker(Started):
    """A broker that answers.

    Attributes:
        address: `host:port` of clients.
    """

    address: str


async def start(home: Path) -> Broker:
    """Start a broker with nothing in it."""
    held = await folder.hold(home)
    jars = maven.classpath(Path(__file__).parent, held.path)
    clients, controller = (ports.take(given=None, last=None) for _ in range(2))
    file = held.write("server.properties", _settings(held.path, clients=clients, controller=controller))
    java = [shutil.which("java") or "java", *_JVM, "-cp", jars]
    cluster = base64.urlsafe_b64encode(secrets.token_bytes(16)).rstrip(b"=").decode().replace("-", "A")
    maven.done([*java, "kafka.tools.StorageTool", "format", "--standalone", "-t", cluster, "-c", str(file)])
    server = child.spawn("kafka", [*java, "kafka.Kafka", str(file)], folder=held)
    try:
        await server.until(lambda: _ready(clients), seconds=_READY_SECONDS)
    except BaseException:
        await server.stop(seconds=Started.STOP_SECONDS)
        raise
    return Broker(f"{LOOPBACK}:{clients}", _server=server)


def _settings(home: Path, *, clients: int, controller: int) -> str:
    settings = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.bootstrap.servers": f"{LOOPBACK}:{controller}",
        "listeners": f"PLAINTEXT://{LOOPBACK}:{clients},CONTROLLER://{LOOPBACK}:{controller}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": home / "log",
        # what a test stops for a while stays the broker that it was
        "broker.session.timeout.ms": 60_000,
        "num.partitions": 1,
        "offsets.topic.num.partitions": 1,
        "offsets.topic.replication.factor": 1,
        "transaction.state.log.num.partitions": 1,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "group.initial.rebalance.delay.ms": 0,
    }
    return "".join(f"{name}={value}\n" for name, value in settings.items())


async def _ready(port: int) -> bool:
    """Whether it takes connections, which it does once it has registered with its controller."""
    try:
        _, writer = await asyncio.open_connection(LOOPBACK, port)
    except OSError:
        return False
    writer.close()
    return True
