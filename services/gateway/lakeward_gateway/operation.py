"""What is served: each operation says its path, parameters, body and replies beside the function that answers it.

The router, the configuration endpoint's list and the OpenAPI documents are all made from these.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec

from lakeward_gateway.errors import Renderings
from lakeward_gateway.http import Handler
from lakeward_gateway.query import Parameter

# A class that bodies are parsed into, or a JSON schema for those that pass through unread.
Schema: TypeAlias = type[msgspec.Struct] | Mapping[str, Any]
Method: TypeAlias = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]


@dataclasses.dataclass(frozen=True, slots=True)
class HeaderParameter:
    """A request header that the operation heeds, beside those that every operation does.

    Attributes:
        name: as the documentation writes it.
        description: for the API's documentation.
        schema: of the value.
    """

    name: str
    description: str
    schema: Mapping[str, Any] = dataclasses.field(default_factory=lambda: {"type": "string"})


@dataclasses.dataclass(frozen=True, slots=True)
class Body:
    """A JSON body of a request.

    Attributes:
        name: of its schema in the documentation.
        schema: what it holds.
        required: whether an empty body is malformed.
    """

    name: str
    schema: Schema
    required: bool = True


@dataclasses.dataclass(frozen=True, slots=True)
class Link:
    """What a client can ask next, with what it has now.

    Attributes:
        operation_id: of the next operation.
        parameters: where its path's parameters are found, as runtime expressions of OpenAPI.
    """

    operation_id: str
    parameters: Mapping[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """A reply other than a refusal.

    Attributes:
        description: for the API's documentation.
        name: of its schema; None for a reply without a body.
        schema: what it holds; None for a reply without a body.
        headers: what its headers say, by name.
        links: what can be asked next.
    """

    description: str
    name: str | None = None
    schema: Schema | None = None
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    links: Sequence[Link] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation.

    Attributes:
        id: as the public specification calls it.
        method: of HTTP.
        path: template, as "/catalog/v1/{prefix}/namespaces".
        summary: one line for the documentation.
        handler: answers it.
        answers: replies by status.
        renderings: how its refusals are shown.
        tag: its group in the documentation.
        query: the query parameters that it heeds.
        headers: the headers that it heeds.
        body: what it takes; None: nothing, and what is sent is not read.
        deprecated: whether the documentation advises against it.
        documented: whether it is in the OpenAPI document at all.
        bare: whether its replies go without the API's own headers, as health checks do.
    """

    id: str
    method: Method
    path: str
    summary: str
    handler: Handler
    answers: Mapping[int, Answer]
    renderings: Renderings
    tag: str
    query: Sequence[Parameter] = ()
    headers: Sequence[HeaderParameter] = ()
    body: Body | None = None
    deprecated: bool = False
    documented: bool = True
    bare: bool = False


IDEMPOTENCY_KEY: Final = HeaderParameter(
    "Idempotency-Key",
    "A UUID. The change is made once, however often the request is sent with it.",
    {"type": "string", "format": "uuid"},
)
PROJECT_ID: Final = HeaderParameter(
    "x-project-id",
    "The project that is meant, where the path names none and what it names is in none; else the default one.",
    {"type": "string", "pattern": "^[A-Za-z0-9_-]+$", "maxLength": 128},
)
