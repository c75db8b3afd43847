"""gRPC as a stranger speaks it: any method, any metadata, and nothing of ours in between."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import grpc
import grpc.aio
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from grpc_reflection.v1alpha import reflection_pb2

import lakeward_protocol
from lakeward_protocol.common.v1 import options_pb2
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.rpc.status import refusal_from

# Descriptors are known once their modules are loaded.
for _found in pkgutil.walk_packages(lakeward_protocol.__path__, "lakeward_protocol."):
    if ".v1." in _found.name and _found.name.endswith("_pb2"):
        importlib.import_module(_found.name)

WORKLOAD = "x-lakeward-workload"
_OURS = "lakeward."
_REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"


def method_of(path: str) -> MethodDescriptor:
    """The contract of a method, by its path."""
    _, service, name = path.split("/")
    return descriptor_pool.Default().FindServiceByName(service).methods_by_name[name]


def rule_of(path: str) -> options_pb2.MethodRule:
    return method_of(path).GetOptions().Extensions[options_pb2.rule]


def empty_request(path: str) -> Message:
    return message_factory.GetMessageClass(method_of(path).input_type)()


async def call(
    channel: grpc.aio.Channel,
    path: str,
    request: Message,
    *,
    metadata: Mapping[str, str] | Sequence[tuple[str, str]],
    seconds: float = 30,
) -> Message | Refusal:
    """The response, of a stream the first, or the refusal that came in its place. Metadata as pairs may hold a key twice."""
    pairs = tuple(metadata.items()) if isinstance(metadata, Mapping) else tuple(metadata)
    response = message_factory.GetMessageClass(method_of(path).output_type)
    if method_of(path).server_streaming:
        return await _first(channel, path, request, response, metadata=pairs, seconds=seconds)
    method: Any = channel.unary_unary(
        path, request_serializer=type(request).SerializeToString, response_deserializer=response.FromString
    )
    try:
        return await method(request, metadata=pairs, timeout=seconds)  # type: ignore[no-any-return]
    except grpc.aio.AioRpcError as error:
        return refusal_from(error, service="peer")


async def _first(
    channel: grpc.aio.Channel,
    path: str,
    request: Message,
    response: Any,
    *,
    metadata: tuple[tuple[str, str], ...],
    seconds: float,
) -> Message | Refusal:
    method: Any = channel.unary_stream(
        path, request_serializer=type(request).SerializeToString, response_deserializer=response.FromString
    )
    stream = method(request, metadata=metadata, timeout=seconds)
    try:
        async for answer in stream:
            return answer  # type: ignore[no-any-return]
    except grpc.aio.AioRpcError as error:
        return refusal_from(error, service="peer")
    finally:
        stream.cancel()
    raise AssertionError(f"{path} answered nothing")


async def served(channel: grpc.aio.Channel, service: str) -> frozenset[str]:
    """Paths of a service's methods, of all that its contracts name, that a server has."""
    named = [
        f"/{contract.full_name}/{method.name}"
        for contract in _contracts(f"{_OURS}{service}.v1")
        for method in contract.methods
    ]
    return frozenset([path for path in named if await answers(channel, path)])


def _contracts(package: str) -> list[ServiceDescriptor]:
    modules = [
        module for name, module in sys.modules.items() if name.endswith("_pb2") and hasattr(module, "DESCRIPTOR")
    ]
    files = [module.DESCRIPTOR for module in modules if module.DESCRIPTOR.package == package]
    return [contract for file in files for contract in file.services_by_name.values()]


async def answers(channel: grpc.aio.Channel, path: str) -> bool:
    """Whether a server has a method, by its path."""
    method: Any = channel.unary_unary(path)
    try:
        await method(b"", timeout=30)
    except grpc.aio.AioRpcError as error:
        return error.code() is not grpc.StatusCode.UNIMPLEMENTED or bool(error.trailing_metadata())
    return True


async def reflected(channel: grpc.aio.Channel) -> frozenset[str]:
    """Paths of our methods that a server says it has."""
    # Asked as one message: a stream's writer that is still writing when the server has refused the call sees a broken
    # stream and not the refusal.
    ask: Any = channel.unary_unary(
        _REFLECTION,
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    answer = await ask(reflection_pb2.ServerReflectionRequest(list_services=""), timeout=30)
    services = [entry.name for entry in answer.list_services_response.service if entry.name.startswith(_OURS)]
    pool = descriptor_pool.Default()
    return frozenset(
        f"/{service}/{method.name}" for service in services for method in pool.FindServiceByName(service).methods
    )
