"""What the contract says of each method, read once from the descriptors."""

from __future__ import annotations

import dataclasses
import enum
from typing import Final

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import Descriptor, MethodDescriptor, ServiceDescriptor

from lakeward_protocol.common.v1 import context_pb2, options_pb2

# A frame on the wire, and a request inside it. Bodies of the public API are at most 32 MiB.
MAX_FRAME_BYTES: Final = 40 * 1024 * 1024
# Bytes that are copied once in a turn of the loop: 30 MB take 15 ms.
MUCH: Final = 2 * 1024 * 1024
# Seconds until it is copied once more. Whoever waits for the loop goes on first, timers too: those take two turns.
REST: Final = 0.001

# Seconds that a method may take where neither its caller nor its rule says how many.
DEFAULT_SECONDS: Final = 30.0


class ActsFor(enum.IntEnum):
    """On whose behalf a method acts; the numbers are the contract's."""

    USER = options_pb2.ACTS_FOR_USER
    USER_OF_EACH_ITEM = options_pb2.ACTS_FOR_USER_OF_EACH_ITEM
    NOBODY = options_pb2.ACTS_FOR_NOBODY


@dataclasses.dataclass(frozen=True, slots=True)
class MethodRule:
    """What a method promises.

    Attributes:
        path: "/package.Service/Method".
        callers: who may call.
        repeatable: whether a call whose reply was lost may be sent again as it is.
        mutation: whether a success changes what later calls see.
        permissions: the actions that are demanded.
        acts_for: on whose behalf it acts; whom it names is settled before its handler runs.
        has_context: whether its requests carry a RequestContext.
        seconds: how long it may take where the caller sets no deadline.
        stays_open: whether a call may carry one question after the other.
        streams: whether a call is answered by any number of messages.
    """

    path: str
    callers: frozenset[int]
    repeatable: bool
    mutation: bool
    permissions: tuple[str, ...]
    acts_for: ActsFor
    has_context: bool
    seconds: float
    stays_open: bool
    streams: bool = False


def rule_of_method(method: MethodDescriptor) -> MethodRule:
    """The rule of one method.

    Raises:
        ValueError: the contract states no rule for it, does not say whom it acts for, or names a user whom no context shows.
    """
    options = method.GetOptions()
    path = f"/{method.containing_service.full_name}/{method.name}"
    if not options.HasExtension(options_pb2.rule):
        raise ValueError(f"{path} has no rule in its contract")
    rule = options.Extensions[options_pb2.rule]
    if rule.acts_for == options_pb2.ACTS_FOR_UNSPECIFIED:
        raise ValueError(f"the rule of {path} does not say whom it acts for; set acts_for")
    acts_for, has_context = ActsFor(rule.acts_for), _has_context(method.input_type)
    if acts_for is ActsFor.USER and not has_context:
        raise ValueError(f"{path} acts for a user, but {method.input_type.name} has no RequestContext")
    if acts_for is ActsFor.USER_OF_EACH_ITEM and not _has_items_with_context(method.input_type):
        raise ValueError(f"{path} acts for the user of each item, but {method.input_type.name} has none with a context")
    if rule.stays_open and rule.repeat != options_pb2.REPEAT_SAFE:
        raise ValueError(
            f"the rule of {path} lets calls stay open, of which a lost question is asked again; set REPEAT_SAFE"
        )
    if method.server_streaming and (rule.repeat != options_pb2.REPEAT_SAFE or acts_for is not ActsFor.USER):
        raise ValueError(f"{path} streams, which is for what a user reads; set REPEAT_SAFE and ACTS_FOR_USER")
    return MethodRule(
        path=path,
        callers=frozenset(rule.callers),
        repeatable=rule.repeat in (options_pb2.REPEAT_SAFE, options_pb2.REPEAT_IDEMPOTENT),
        mutation=rule.mutation,
        permissions=tuple(rule.permissions),
        acts_for=acts_for,
        has_context=has_context,
        seconds=float(rule.seconds or DEFAULT_SECONDS),
        stays_open=rule.stays_open,
        streams=method.server_streaming,
    )


def _has_context(message: Descriptor) -> bool:
    context = message.fields_by_name.get("context")
    return context is not None and context.message_type is context_pb2.RequestContext.DESCRIPTOR


def _has_items_with_context(message: Descriptor) -> bool:
    items = message.fields_by_name.get("items")
    return items is not None and items.message_type is not None and _has_context(items.message_type)


def rules_of_service(name: str) -> dict[str, MethodRule]:
    """The rules of a service's methods, by path.

    Raises:
        KeyError: no such service was generated.
    """
    service: ServiceDescriptor = descriptor_pool.Default().FindServiceByName(name)
    rules = (rule_of_method(method) for method in service.methods)
    return {rule.path: rule for rule in rules}


def rule_at(path: str) -> MethodRule | None:
    """The rule of the method that is called by a path; None for one that our contracts do not have."""
    try:
        method = descriptor_pool.Default().FindMethodByName(path.removeprefix("/").replace("/", "."))
    except KeyError:
        return None
    return rule_of_method(method) if method.GetOptions().HasExtension(options_pb2.rule) else None
