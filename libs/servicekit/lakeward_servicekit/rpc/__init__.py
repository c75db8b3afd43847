"""How services meet: one pipeline around every method, whether a call comes over the wire or from the same process.

    Host      ── hosts a service's methods; `channel()` reaches them in this process, `serve()` over gRPC
    connect   ── a channel to a service in another process
    Settle    ── what a host is given to say who users are; a method that acts for one is handed what it says
    Call      ── what a method that acts for nobody knows of its call

Generated stubs work over either channel, and failures arrive as `Refusal` over both.
"""

from lakeward_servicekit.rpc.call import Call, Caller, Settle
from lakeward_servicekit.rpc.client import Channel, ChannelSecurity, RemoteChannel, connect, is_serving, stub
from lakeward_servicekit.rpc.host import Host, ServerSecurity, Workloads
from lakeward_servicekit.rpc.methods import ActsFor, MethodRule, rule_of_method
from lakeward_servicekit.rpc.status import failure_of, refusal_of

__all__ = [
    "ActsFor",
    "Call",
    "Caller",
    "Channel",
    "ChannelSecurity",
    "Host",
    "MethodRule",
    "RemoteChannel",
    "ServerSecurity",
    "Settle",
    "Workloads",
    "connect",
    "failure_of",
    "is_serving",
    "refusal_of",
    "rule_of_method",
    "stub",
]
