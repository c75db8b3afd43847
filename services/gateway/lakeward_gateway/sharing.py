"""One answer for requests that are alike and arrive together.

Many workers of one job load one table at one moment. What they are told is the same, so it is asked for once: a request joins one
that is alike and has not been asked yet, so that its answer is never older than the request itself. Alike means that nothing
differs but what names the request: the caller's token, its rights, the link base and the form of the answer are the same.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Hashable
from typing import Final

from lakeward_gateway.http import Handler, Request, Response
from lakeward_servicekit.errors import Refusal


class Shared:
    """A handler of reads, asked once for all requests that are alike and were read in the same turn of the loop.

    Args:
        handler: answers by nothing but what `likeness` sees of a request; its responses are not changed afterwards.
    """

    def __init__(self, handler: Handler) -> None:
        """See the class."""
        self._handler: Final = handler
        self._joining: Final[dict[Hashable, list[asyncio.Future[Response]]]] = {}

    async def __call__(self, request: Request, /) -> Response:
        """The answer.

        Raises:
            Refusal: the handler's.
        """
        key = likeness(request)
        while True:
            followers = self._joining.get(key)
            if followers is None:
                return await self._lead(key, request)
            answer: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
            followers.append(answer)
            try:
                return await answer
            except _LeaderGone:
                continue  # its client went, or its time was up; ours is not

    async def _lead(self, key: Hashable, request: Request) -> Response:
        followers = self._joining[key] = []
        try:
            try:
                await asyncio.sleep(0)  # whoever was read in this turn joins
            finally:
                del self._joining[key]
            response = await self._handler(request)
        except asyncio.CancelledError:
            _fail(followers, _LeaderGone())
            raise
        except Exception as error:
            _fail(followers, error)
            raise
        for follower in followers:
            if not follower.done():
                follower.set_result(response)
        return response


class _LeaderGone(Exception):  # noqa: N818 - nobody but the followers sees it
    """The request that was joined ended without an answer."""


def likeness(request: Request) -> Hashable:
    """Equal for requests that differ in nothing but their own names: request id, trace, and how their client was reached."""
    context = request.context
    return (
        request.raw_path,
        request.query_string,
        request.headers.get(b"if-none-match"),
        request.takes_gzip,
        context.authorization,
        context.base_uri,
        context.project_id,
        context.assumed_role,
        context.user_agent,
        tuple(context.delegation),
    )


def _fail(followers: list[asyncio.Future[Response]], error: Exception) -> None:
    for follower in followers:
        if not follower.done():
            # A refusal that is raised in many places would gather all their tracebacks.
            follower.set_exception(copy.copy(error) if isinstance(error, Refusal) else error)
