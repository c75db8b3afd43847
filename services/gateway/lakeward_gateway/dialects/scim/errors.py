"""How SCIM's clients see each reason: its own document, and a word (`scimType`) where the RFC has one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from lakeward_gateway.dialects.management.errors import RENDERED as MANAGEMENT
from lakeward_gateway.errors import ErrorStyle, Renderer, Rendering, Renderings
from lakeward_gateway.http import Header, Response, encode
from lakeward_servicekit.errors import Reason

SCIM_TYPE: Final[Header] = (b"content-type", b"application/scim+json")
PREFIX: Final = b"/scim/v2/"
_SCHEMA: Final = "urn:ietf:params:scim:api:messages:2.0:Error"
# What a field that is wrong is called by the RFC; of any other it is a value that does not fit.
_OF_FIELD: Final[Mapping[str, str]] = {
    **{
        word: word
        for word in (
            "invalidFilter",
            "invalidPath",
            "invalidSyntax",
            "invalidVers",
            "mutability",
            "noTarget",
            "tooMany",
        )
    },
    "filter": "invalidFilter",
    "groups": "tooMany",
    "members": "tooMany",
}


def _wordless(entry: Rendering | Renderer) -> Rendering | Renderer:
    if isinstance(entry, Rendering):
        return dataclasses.replace(entry, type="")
    return lambda metadata: dataclasses.replace(entry(metadata), type="")


def _field(metadata: Mapping[str, str]) -> Rendering:
    return Rendering(400, _OF_FIELD.get(metadata["field"], "invalidValue"))


_VALUE: Final = Rendering(400, "invalidValue")
_UNIQUE: Final = Rendering(409, "uniqueness")
RENDERED: Final[Renderings] = MappingProxyType(
    {
        **{reason: _wordless(entry) for reason, entry in MANAGEMENT.items()},
        Reason.REASON_INVALID_FIELD: _field,
        Reason.REASON_MALFORMED_DOCUMENT: Rendering(400, "invalidSyntax"),
        Reason.REASON_USER_INCOMPLETE: _VALUE,
        Reason.REASON_INVALID_USER_ID: _VALUE,
        Reason.REASON_INVALID_ROLE_NAME: _VALUE,
        Reason.REASON_INVALID_ROLE_IDENT: _VALUE,
        Reason.REASON_PROVISIONED_MEMBER_UNKNOWN: _VALUE,
        Reason.REASON_ROLE_MEMBERSHIP_CYCLE: _VALUE,
        Reason.REASON_ROLE_NESTED_TOO_DEEP: _VALUE,
        Reason.REASON_PROVISIONED_ALREADY: _UNIQUE,
        Reason.REASON_ROLE_EXISTS: _UNIQUE,
        Reason.REASON_ROLE_IDENT_TAKEN: _UNIQUE,
        Reason.REASON_PROVISIONED_CONCURRENTLY: Rendering(412, ""),
        Reason.REASON_PROVISIONED_ID_FIXED: Rendering(400, "mutability"),
    }
)


def _document(message: str, rendering: Rendering, stack: Sequence[str], headers: Sequence[Header]) -> Response:
    detail = f"{message} ({'; '.join(stack)})" if stack else message
    document = {"schemas": [_SCHEMA], "status": str(rendering.status), "detail": detail}
    if rendering.type:
        document["scimType"] = rendering.type
    return Response(rendering.status, headers=(SCIM_TYPE, *headers), body=encode(document))


STYLE: Final = ErrorStyle(RENDERED, _document)
