"""IdentityService: says who a token belongs to, and records users."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from lakeward_authz.application.identifying import Authenticator, Identification, authenticate
from lakeward_authz.application.users import UserStore, bootstrap_administrator, provision_user
from lakeward_protocol.authz.v1 import identity_pb2 as pb
from lakeward_protocol.authz.v1 import identity_pb2_grpc
from lakeward_protocol.common.v1.context_pb2 import RequestContext
from lakeward_servicekit.authorization.wire import principal_message
from lakeward_servicekit.rpc.call import Call


class IdentityServicer(identity_pb2_grpc.IdentityServiceServicer):
    """Identifies callers.

    Args:
        authenticator: verifies tokens.
        users: keeps who is known.
        now: the time, in UTC.
    """

    def __init__(
        self,
        *,
        authenticator: Authenticator,
        users: UserStore,
        now: Callable[[], datetime],
    ) -> None:
        """Identify by `authenticator`."""
        self._authenticator = authenticator
        self._users = users
        self._now = now

    async def Authenticate(self, request: pb.AuthenticateRequest, context: Call) -> pb.AuthenticateResponse:
        """Who calls."""
        del context
        caller = await self._caller(request.context, assumed_role=request.context.assumed_role)
        response = pb.AuthenticateResponse(principal=principal_message(caller.principal), revision=caller.revision)
        if caller.expires_at is not None:
            response.expires_at.FromDatetime(caller.expires_at)
        if caller.profile is not None and caller.profile.name is not None:
            response.display_name = caller.profile.name
        return response

    async def ProvisionUser(self, request: pb.ProvisionUserRequest, context: Call) -> pb.ProvisionUserResponse:
        """Record the caller where it never was; always the user, whatever role it assumes."""
        del context
        user_id, created = await provision_user(
            await self._caller(request.context),
            updated_with="config-call-creation",
            users=self._users,
            now=self._now,
        )
        return pb.ProvisionUserResponse(user_id=user_id or "", created=created)

    async def BootstrapAdministrator(
        self, request: pb.BootstrapAdministratorRequest, context: Call
    ) -> pb.BootstrapAdministratorResponse:
        """Record the caller as the first administrator."""
        del context
        await bootstrap_administrator(
            await self._caller(request.context),
            is_operator=request.is_operator,
            users=self._users,
            now=self._now,
        )
        return pb.BootstrapAdministratorResponse()

    async def _caller(self, context: RequestContext, *, assumed_role: str = "") -> Identification:
        return await authenticate(context.authorization, assumed_role, authenticator=self._authenticator)
