"""What is answered of people and of groups alike: one of them, and a part of a listing."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from scim2_models import Context, Resource

from lakeward_gateway.dialects.scim.filters import filter_of
from lakeward_gateway.dialects.scim.resources import Shape, listed, replied, search_of
from lakeward_gateway.dialects.scim.searching import Window, base_of
from lakeward_gateway.http import Request, Response
from lakeward_protocol.authz.v1 import provisioning_pb2 as pb

M = TypeVar("M")


@dataclasses.dataclass(frozen=True, slots=True)
class Listing(Generic[M]):
    """A kind of resource, and how a part of all of them is found.

    Attributes:
        model: the RFC's of one.
        attributes: what can be asked about, by its name in lower case.
        described: one as clients see it, below the address of SCIM.
        page: those in a window that a filter chooses, if one is given, and how many it chooses.
    """

    model: type[Resource[Any]]
    attributes: Mapping[str, pb.ProvisionedAttribute.ValueType]
    described: Callable[[M, str], Resource[Any]]
    page: Callable[[Shape, Window, pb.ProvisionedFilter | None], Awaitable[tuple[Sequence[M], int]]]

    async def answer(self, request: Request, parameters: Mapping[str, Any]) -> Response:
        """The part that a request asks for.

        Args:
            request: from a client.
            parameters: what it says, in its query or its body.

        Raises:
            Refusal: INVALID_FIELD; what `page` raises.
        """
        shape, search = Shape(self.model, parameters), search_of(self.model, parameters)
        window = Window.of(search)
        wanted = None if search.filter is None else filter_of(search.filter, self.attributes)
        found, total = await self.page(shape, window, wanted)
        base = base_of(request)
        shown = [shape.of(self.described(each, base), Context.RESOURCE_QUERY_RESPONSE) for each in found]
        return listed(shown, total=total, start=window.start)


def one(shape: Shape, resource: Resource[Any], context: Context, *, status: int = 200) -> Response:
    """A reply of one resource: with its version, and where it is, if it was made."""
    meta = resource.meta
    assert meta is not None, "each is described with it"
    headers = [(b"etag", str(meta.version).encode())]
    if status == 201:  # noqa: PLR2004 - Created, as HTTP has it
        headers.append((b"location", str(meta.location).encode()))
    return replied(shape.of(resource, context), status=status, headers=headers)
