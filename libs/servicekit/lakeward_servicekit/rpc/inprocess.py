"""A channel into this process: messages pass by reference, through the same pipeline as over the wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any

from lakeward_servicekit.rpc.call import CallerValue
from lakeward_servicekit.rpc.pipeline import Method
from lakeward_servicekit.rpc.streams import StreamMethod


class InProcessChannel:
    """What generated stubs need of a channel, over a host's own methods.

    A message belongs to its receiver once it is sent: neither side changes it afterwards.
    """

    def __init__(self, methods: Mapping[str, Method | StreamMethod], *, caller: CallerValue) -> None:
        """Reach `methods` as `caller`."""
        self._methods = methods
        self._caller = caller

    def unary_unary(self, method: str, *_args: object, **_kwargs: object) -> _UnaryCall:
        """What a stub calls for each of its methods, when it is made.

        Raises:
            KeyError: the host serves no such method.
        """
        found = self._methods[method]
        assert isinstance(found, Method), f"{method} answers by a stream"
        return _UnaryCall(found, self._caller)

    def unary_stream(
        self, method: str, *_args: object, **_kwargs: object
    ) -> Callable[[Any], AsyncGenerator[Any, None]]:
        """The same for a method that answers by a stream; whoever leaves it early closes it.

        Raises:
            KeyError: the host serves no such method.
        """
        found = self._methods[method]
        assert isinstance(found, StreamMethod), f"{method} has one answer"
        return lambda request: found(request, self._caller)


class _UnaryCall:
    __slots__ = ("_caller", "_method")

    def __init__(self, method: Method, caller: CallerValue) -> None:
        self._method = method
        self._caller = caller

    def __call__(self, request: Any, timeout: float | None = None) -> Awaitable[Any]:  # noqa: ANN401 - a stub's own signature
        # the method's own coroutine, where nothing has to be added: one around it costs as much as a look into a cache
        return self._method(request, self._caller) if timeout is None else self._in_time(request, timeout)

    async def asked(self, request: Any, timeout: float | None = None) -> tuple[Any, None]:  # noqa: ANN401, ASYNC109 - as above
        """The answer, which no lane carries in one process."""
        return await self(request, timeout), None

    async def _in_time(self, request: Any, timeout: float) -> Any:  # noqa: ANN401, ASYNC109 - as above
        async with asyncio.timeout(timeout):
            return await self._method(request, self._caller)
