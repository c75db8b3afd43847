"""What the contract says of each method, read once from the descriptors."""

from __future__ import annotations

import dataclasses
from typing import Final

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor

from lakeward_protocol.common.v1 import context_pb2, options_pb2

# A frame on the wire, and a request inside it. Bodies of the public API are at most 32 MiB.
MAX_FRAME_BYTES: Final = 40 * 1024 * 1024

# Seconds that a method may take where its caller sets no deadline of its own.
DEFAULT_SECONDS: Final = 30.0

# Methods that are given another time than the default, and why.
SECONDS: Final = {
    "/lakeward.catalog.v1.WarehouseService/CreateWarehouse": 120.0,  # validates a store with a dozen calls to it
    "/lakeward.catalog.v1.WarehouseService/UpdateStorage": 120.0,  # the same
    "/lakeward.catalog.v1.WarehouseService/UpdateStorageCredential": 120.0,  # the same
    "/lakeward.vending.v1.StorageService/ValidateStorage": 110.0,  # the same, seen from inside
    "/lakeward.vending.v1.StorageService/ReleasePlace": 10.0,  # what was to be done is done; nobody waits long for this
    "/lakeward.vending.v1.FileService/PurgePage": 120.0,  # lists and deletes a thousand files
}


@dataclasses.dataclass(frozen=True, slots=True)
class MethodRule:
    """What a method promises.

    Attributes:
        path: "/package.Service/Method".
        callers: who may call.
        repeatable: whether a call whose reply was lost may be sent again as it is.
        mutation: whether a success changes what later calls see.
        permissions: the actions that are demanded.
        has_context: whether its requests carry a RequestContext.
        seconds: how long it may take where the caller sets no deadline.
    """

    path: str
    callers: frozenset[int]
    repeatable: bool
    mutation: bool
    permissions: tuple[str, ...]
    has_context: bool
    seconds: float


def rule_of_method(method: MethodDescriptor) -> MethodRule:
    """The rule of one method.

    Raises:
        ValueError: the contract states no rule for it.
    """
    options = method.GetOptions()
    path = f"/{method.containing_service.full_name}/{method.name}"
    if not options.HasExtension(options_pb2.rule):
        raise ValueError(f"{path} has no rule in its contract")
    rule = options.Extensions[options_pb2.rule]
    context = method.input_type.fields_by_name.get("context")
    return MethodRule(
        path=path,
        callers=frozenset(rule.callers),
        repeatable=rule.repeat in (options_pb2.REPEAT_SAFE, options_pb2.REPEAT_IDEMPOTENT),
        mutation=rule.mutation,
        permissions=tuple(rule.permissions),
        has_context=context is not None and context.message_type is context_pb2.RequestContext.DESCRIPTOR,
        seconds=SECONDS.get(path, DEFAULT_SECONDS),
    )


def rules_of_service(name: str) -> dict[str, MethodRule]:
    """The rules of a service's methods, by path.

    Raises:
        KeyError: no such service was generated.
    """
    service: ServiceDescriptor = descriptor_pool.Default().FindServiceByName(name)
    rules = (rule_of_method(method) for method in service.methods)
    return {rule.path: rule for rule in rules}


def is_repeatable(path: str) -> bool:
    """Whether a call that may have been lost may be sent again as it is; False for what our contracts do not have."""
    try:
        method = descriptor_pool.Default().FindMethodByName(path.removeprefix("/").replace("/", "."))
    except KeyError:
        return False
    return method.GetOptions().HasExtension(options_pb2.rule) and rule_of_method(method).repeatable
