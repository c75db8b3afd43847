"""Why somebody may take an action, or may not. Upstream has nothing like it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

import msgspec

from lakeward_gateway.dialects.management import levels
from lakeward_gateway.dialects.management.checked import LEVELS, asked_of, check_word, checks_of
from lakeward_gateway.dialects.management.checks import CheckRequest, one_check
from lakeward_gateway.dialects.management.errors import INSPECTED
from lakeward_gateway.dialects.management.principals import UserOrRole, shown
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import Request, Response, json_response
from lakeward_gateway.operation import Answer, Body, Operation
from lakeward_gateway.peers import Stubs
from lakeward_protocol.authz.v1 import grants_pb2

_Ground: TypeAlias = Literal["grants", "everything-is-allowed", "instance-admin"]
_GROUNDS: Final[Mapping[int, _Ground]] = MappingProxyType(
    {
        grants_pb2.GROUND_GRANTS: "grants",
        grants_pb2.GROUND_OPEN: "everything-is-allowed",
        grants_pb2.GROUND_INSTANCE: "instance-admin",
    }
)
# Whatever word the API has anywhere for something that is done to an object.
_WORDS: Final[Mapping[levels.Level, Sequence[str]]] = {
    level: tuple(dict.fromkeys((*level.catalog, *level.access, *level.authorizer))) for level in LEVELS.values()
}


class GrantSource(msgspec.Struct, frozen=True, rename="kebab"):
    """A grant that the answer follows from; without principal and privilege where the caller may not read grants there."""

    resource: dict[str, str]
    principal: UserOrRole | None
    privilege: str | None
    through_roles: list[str]


class GrantRemedy(msgspec.Struct, frozen=True, rename="kebab"):
    """A grant that would do, the right that giving it takes, and some of those who have that right."""

    resource: dict[str, str]
    privilege: str
    right_to_give: str
    givers: list[UserOrRole]


class ExplainAccessResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """Why: each group of grants is enough by itself; or what keeps them from it, and what would do."""

    allowed: bool
    ground: _Ground
    because: list[list[GrantSource]]
    shown_by: list[GrantSource]
    managed_by: list[dict[str, str]]
    remedies: list[GrantRemedy]


_decoder: Final = msgspec.json.Decoder(CheckRequest)


async def explain_access(request: Request, *, stubs: Stubs) -> Response:
    """Why a principal may take an action, or may not."""
    document = await parsed(_decoder, request.body)
    asked = asked_of(document.operation, "operation")
    check_word(asked, _WORDS[asked.level], "operation")
    (check,) = await checks_of(request, [(asked, document.identity)], stubs)
    found = await stubs.grants.ExplainAccess(grants_pb2.ExplainAccessRequest(context=request.context, check=check))
    return json_response(
        ExplainAccessResponse(
            allowed=found.allowed,
            ground=_GROUNDS[found.ground],
            because=[_sources(group.sources) for group in found.because],
            shown_by=_sources(found.inside),
            managed_by=[levels.resource_of(named) for named in found.managed_by],
            remedies=[
                GrantRemedy(
                    levels.resource_of(each.object), each.privilege, each.giving, [shown(one) for one in each.givers]
                )
                for each in found.remedies
            ],
        )
    )


def _sources(sources: Iterable[grants_pb2.GrantSource]) -> list[GrantSource]:
    return [
        GrantSource(
            levels.resource_of(each.object),
            shown(each.grant.grantee) if each.HasField("grant") else None,
            each.grant.privilege or None,
            [*each.roles],
        )
        for each in sources
    ]


def operations(stubs: Stubs) -> Sequence[Operation]:
    """The one operation."""
    return (
        Operation(
            id="explain_access",
            method="POST",
            path="/management/v1/permissions/explain",
            summary="Why a user or a role may take an action, or may not and what they would have to be given.",
            handler=partial(explain_access, stubs=stubs),
            body=Body("ExplainAccessRequest", one_check(_WORDS)),
            answers={200: Answer("Why.", "ExplainAccessResponse", ExplainAccessResponse)},
            renderings=INSPECTED,
            tag="permissions",
        ),
    )
