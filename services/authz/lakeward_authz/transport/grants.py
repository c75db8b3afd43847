"""GrantService: what people give one another, and what each may do."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Final, Protocol
from uuid import UUID

from lakeward_authz.application.caller import Caller
from lakeward_authz.application.explaining import ExplainAccess, Question
from lakeward_authz.application.grants import (
    ChangeGrants,
    GrantablePrivileges,
    GrantChange,
    Holdings,
    Inspection,
    ListGrants,
    ListGrantsOfPrincipal,
    Listing,
    invalid,
    named_few,
)
from lakeward_authz.application.inspecting import (
    ActionChecks,
    AllowedActions,
    Check,
    CheckActions,
    GetManagedAccess,
    ManagedAccess,
    SetManagedAccess,
)
from lakeward_authz.application.permissions import Given, Grant, Named, Wanted
from lakeward_authz.domain.permissions.lakeward import granting
from lakeward_authz.domain.permissions.objects import Subject, role_subject, user_subject
from lakeward_authz.domain.permissions.privileges import VOCABULARY, Privilege
from lakeward_authz.domain.user_ids import parse_user_id
from lakeward_authz.transport import encode, pages
from lakeward_authz.transport.callers import project_id_of
from lakeward_protocol.authz.v1 import grants_pb2 as pb
from lakeward_protocol.authz.v1 import grants_pb2_grpc
from lakeward_protocol.common.v1.context_pb2 import Page
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.paging import PageSizes
from lakeward_servicekit.remembering import remembered

_KINDS: Final = {int(kind): kind for kind in ObjectKind}
_TABULARS: Final = frozenset({ObjectKind.TABLE, ObjectKind.VIEW, ObjectKind.GENERIC_TABLE})
_IN_WAREHOUSE: Final = frozenset({*_TABULARS, ObjectKind.NAMESPACE})
_WITH_ID: Final = frozenset({*_IN_WAREHOUSE, ObjectKind.ROLE, ObjectKind.TAG})
_LONGEST_NAME: Final = 2000
_WAREHOUSES: Final = 256
# Which parts of a place are UUIDs.
_OF_PRINCIPAL: Final = (True, False, True, False)
_OF_OBJECT: Final = (False, False)


class _Asked(Protocol):
    @property
    def object(self) -> pb.ObjectName: ...


@dataclasses.dataclass(frozen=True, slots=True)
class GrantServicer(grants_pb2_grpc.GrantServiceServicer):
    """Gives, takes and shows rights."""

    list_grants: ListGrants
    list_of_principal: ListGrantsOfPrincipal
    change: ChangeGrants
    grantable: GrantablePrivileges
    allowed: AllowedActions
    check: CheckActions
    explain: ExplainAccess
    managed: GetManagedAccess
    manage: SetManagedAccess
    sizes: PageSizes

    async def ListGrants(self, request: pb.ListGrantsRequest, caller: Caller) -> pb.ListGrantsResponse:
        """What was given on one object."""
        named = _named(request, caller)
        subject = grantee(request.grantee, "grantee") if request.HasField("grantee") else None
        relations = [*request.privileges] or None
        if not request.HasField("page"):
            wanted = Wanted(subject, relations)
            found = await self.list_grants(Listing(named, wanted), caller=caller.principal)
            return pb.ListGrantsResponse(grants=map(_grant, found), project_id=_project(named))
        listing = (named, subject, relations)
        size, after = self._page(request.page, listing, _OF_OBJECT)
        wanted = Wanted(subject, relations, after, size + 1)
        found = await self.list_grants(Listing(named, wanted), caller=caller.principal)
        response = pb.ListGrantsResponse(grants=map(_grant, found[:size]), project_id=_project(named))
        if len(found) > size:
            response.next_page_token = pages.token_of(found[size - 1].place, listing=listing)
        return response

    async def ListGrantsOfPrincipal(
        self, request: pb.ListGrantsOfPrincipalRequest, caller: Caller
    ) -> pb.ListGrantsOfPrincipalResponse:
        """What one principal was given in a project."""
        project_id = caller.chosen_project
        subject = grantee(request.grantee, "grantee")
        listing = (project_id, subject)
        size, after = self._page(request.page, listing, _OF_PRINCIPAL)
        command = Holdings(project_id, subject, Wanted(after=after, size=size + 1))
        found = await self.list_of_principal(command, caller=caller.principal)
        response = pb.ListGrantsOfPrincipalResponse(grants=map(_grant, found[:size]))
        if len(found) > size:
            response.next_page_token = pages.token_of(found[size - 1].place, listing=listing)
        return response

    def _page(self, page: Page, listing: Sequence[object], parts: Sequence[bool]) -> tuple[int, Sequence[str] | None]:
        return pages.size_of(page, self.sizes), pages.place_of(page, listing=listing, parts=parts)

    async def ChangeGrants(self, request: pb.ChangeGrantsRequest, caller: Caller) -> pb.ChangeGrantsResponse:
        """Give and take."""
        writes, deletes = _entries(request)
        change = GrantChange(_named(request, caller), writes, deletes, exact=request.exact)
        await self.change(change, caller=caller.principal)
        return pb.ChangeGrantsResponse()

    async def ListPrivileges(self, request: pb.ListPrivilegesRequest, caller: Caller) -> pb.ListPrivilegesResponse:
        """The vocabulary."""
        del request, caller
        every = [_privilege(privilege) for found in VOCABULARY.values() for privilege in found]
        return pb.ListPrivilegesResponse(privileges=every)

    async def GetGrantablePrivileges(
        self, request: pb.GetGrantablePrivilegesRequest, caller: Caller
    ) -> pb.GetGrantablePrivilegesResponse:
        """Which of it may be given."""
        found = await self.grantable(_inspection(request, caller), caller=caller.principal)
        return pb.GetGrantablePrivilegesResponse(
            privileges=[
                pb.GrantablePrivilege(privilege=_privilege(privilege), allowed=allowed) for privilege, allowed in found
            ]
        )

    async def GetAllowedActions(
        self, request: pb.GetAllowedActionsRequest, caller: Caller
    ) -> pb.GetAllowedActionsResponse:
        """What may be done to one object."""
        found = await self.allowed(
            _inspection(request, caller), caller=caller.principal, absent_is_nothing=request.absent_is_nothing
        )
        return pb.GetAllowedActionsResponse(actions=sorted(found))

    async def CheckActions(self, request: pb.CheckActionsRequest, caller: Caller) -> pb.CheckActionsResponse:
        """Whether each of many may be done."""
        checks = [
            Check(
                _checked(check, caller),
                check.action,
                grantee(check.grantee, f"checks[{place}].grantee") if check.HasField("grantee") else None,
            )
            for place, check in enumerate(request.checks)
        ]
        command = ActionChecks(checks, absent_is_refused=request.absent_is_refused)
        return pb.CheckActionsResponse(allowed=await self.check(command, caller=caller.principal))

    async def ExplainAccess(self, request: pb.ExplainAccessRequest, caller: Caller) -> pb.ExplainAccessResponse:
        """Why something may be done, or not."""
        check = request.check
        subject = grantee(check.grantee, "check.grantee") if check.HasField("grantee") else None
        question = Question(_checked(check, caller), check.action, subject)
        return encode.explanation(await self.explain(question, caller=caller.principal))

    async def GetManagedAccess(
        self, request: pb.GetManagedAccessRequest, caller: Caller
    ) -> pb.GetManagedAccessResponse:
        """Whether access is managed."""
        found = await self.managed(_named(request, caller), caller=caller.principal)
        return pb.GetManagedAccessResponse(managed=found.here, inherited=found.inherited)

    async def SetManagedAccess(
        self, request: pb.SetManagedAccessRequest, caller: Caller
    ) -> pb.SetManagedAccessResponse:
        """Let it be managed, or no longer."""
        await self.manage(ManagedAccess(_named(request, caller), managed=request.managed), caller=caller.principal)
        return pb.SetManagedAccessResponse()


def _inspection(request: pb.GetGrantablePrivilegesRequest | pb.GetAllowedActionsRequest, caller: Caller) -> Inspection:
    subject = grantee(request.grantee, "grantee") if request.HasField("grantee") else None
    return Inspection(_named(request, caller), subject)


def _named(request: _Asked, caller: Caller) -> Named:
    return _object(request.object, caller)


def _object(message: pb.ObjectName, caller: Caller) -> Named:
    kind = _KINDS.get(message.kind)
    if kind is None:
        raise invalid_field("object.kind", message.kind, "a kind of object")
    if kind is ObjectKind.SERVER:
        return Named(kind.word)
    if kind is ObjectKind.PROJECT:
        return Named(kind.word, project_id_of(message.project_id) if message.project_id else caller.chosen_project)
    project_id = caller.chosen_project if message.of_this_project else ""
    inside = kind is ObjectKind.WAREHOUSE or (kind in _IN_WAREHOUSE and message.warehouse_id)
    warehouse_id = _warehouse("object.warehouse_id", message.warehouse_id) if inside else None
    return Named(kind.word, project_id, warehouse_id, _uuid("object.id", message.id) if kind in _WITH_ID else None)


def grantee(message: pb.Grantee, path: str) -> Subject:
    """Whom a message means.

    Raises:
        Refusal: PERMISSIONS_INVALID for none or both of the two, INVALID_USER_ID, INVALID_FIELD for a role's id that is no UUID.
    """
    wrong = _cause(message)
    if wrong:
        raise invalid(wrong, f"{path} names {_WRONG[wrong]}")
    if message.HasField("user_id"):
        return user_subject(parse_user_id(message.user_id))
    return role_subject(_uuid(f"{path}.role", message.role_id))


_WRONG: Final = {
    "AmbiguousGrantPrincipal": "a user and a role; name one of them",
    "MissingGrantPrincipal": "nobody; name a user or a role",
}


def _cause(message: pb.Grantee) -> str:
    match message.HasField("user_id"), message.HasField("role_id"):
        case True, True:
            return "AmbiguousGrantPrincipal"
        case False, False:
            return "MissingGrantPrincipal"
        case _:
            return ""


def _entries(request: pb.ChangeGrantsRequest) -> tuple[tuple[Grant, ...], tuple[Grant, ...]]:
    every = [
        *((f"writes[{place}]", entry) for place, entry in enumerate(request.writes)),
        *((f"deletes[{place}]", entry) for place, entry in enumerate(request.deletes)),
    ]
    for cause, what in _WRONG.items():
        if paths := [path for path, entry in every if _cause(entry.grantee) == cause]:
            raise invalid(cause, f"{named_few(paths)}: each names {what}")
    return _grants("writes", request.writes), _grants("deletes", request.deletes)


def _grants(member: str, entries: Iterable[pb.GrantEntry]) -> tuple[Grant, ...]:
    return tuple(
        Grant(grantee(entry.grantee, f"{member}[{place}].principal"), entry.privilege)
        for place, entry in enumerate(entries)
    )


def _project(named: Named) -> str:
    return named.project_id if named.type == "project" else ""


def _grant(given: Given) -> pb.Grant:
    grant, named = given.grant, given.named
    message = pb.Grant(
        grantee=encode.grantee(grant.subject),
        privilege=grant.relation,
        recognized=granting(named.type, grant.relation) is not None,
        object=encode.object_name(named),
    )
    message.created_at.FromDatetime(given.at)
    return message


def _privilege(privilege: Privilege) -> pb.Privilege:
    return pb.Privilege(
        kind=encode.kind(privilege.type),
        name=privilege.name,
        display_name=privilege.display_name,
        description=privilege.description,
        category=privilege.category,
    )


def _checked(check: pb.ActionCheck, caller: Caller) -> Named:
    if not check.called:
        return _object(check.object, caller)
    kind = _KINDS.get(check.object.kind)
    if kind is None or kind not in _IN_WAREHOUSE:
        raise invalid_field("checks.object.kind", check.object.kind, "of what has a name in a warehouse")
    warehouse_id = _warehouse("checks.object.warehouse_id", check.object.warehouse_id)
    own = _uuid("checks.object.id", check.object.id) if check.object.id else None
    return Named(kind.word, "", warehouse_id, own, check.called[:_LONGEST_NAME])


@remembered(entries=_WAREHOUSES, longest=80)
def _warehouse(field: str, text: str) -> UUID:
    """As `_uuid`: of a thousand questions most are about one warehouse."""
    return _uuid(field, text)


def _uuid(field: str, text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise invalid_field(field, text, "a UUID") from error
