"""Calling a hosted method within the process, whichever way it answers."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from lakeward_servicekit.rpc import Caller, Host


async def answer_of(host: Host, path: str, request: object) -> Any:
    """What the gateway is answered; of a stream the first message, and then it is left."""
    channel: Any = host.channel(caller=Caller.CALLER_GATEWAY)
    if not host.methods[path].rule.streams:
        return await channel.unary_unary(path)(request)
    async with aclosing(channel.unary_stream(path)(request)) as answers:
        return await anext(answers)
