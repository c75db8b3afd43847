"""IdentityService: says who a token belongs to, and records users."""

from __future__ import annotations

import dataclasses

from lakeward_authz.application.identifying import Authenticate
from lakeward_authz.application.users import BootstrapAdministrator, ProvisionUser
from lakeward_protocol.authz.v1 import identity_pb2 as pb
from lakeward_protocol.authz.v1 import identity_pb2_grpc
from lakeward_servicekit.authorization.wire import principal_message
from lakeward_servicekit.events.acting import act_for
from lakeward_servicekit.rpc.call import Call


@dataclasses.dataclass(frozen=True, slots=True)
class IdentityServicer(identity_pb2_grpc.IdentityServiceServicer):
    """Identifies callers."""

    authenticate: Authenticate
    provision_user: ProvisionUser
    bootstrap_administrator: BootstrapAdministrator

    async def Authenticate(self, request: pb.AuthenticateRequest, context: Call) -> pb.AuthenticateResponse:
        """Who calls."""
        del context
        asked = request.context
        caller = await self.authenticate(asked.authorization, assumed_role=asked.assumed_role)
        response = pb.AuthenticateResponse(principal=principal_message(caller.principal), revision=caller.revision)
        if caller.expires_at is not None:
            response.expires_at.FromDatetime(caller.expires_at)
        if caller.profile is not None and caller.profile.name is not None:
            response.display_name = caller.profile.name
        return response

    async def ProvisionUser(self, request: pb.ProvisionUserRequest, context: Call) -> pb.ProvisionUserResponse:
        """Record the caller where it never was; always the user, whatever role it assumes."""
        del context
        caller = await self.authenticate(request.context.authorization)
        act_for(caller.principal)
        done = await self.provision_user(caller=caller, updated_with="config-call-creation")
        return pb.ProvisionUserResponse(user_id=done.user_id or "", created=done.created)

    async def BootstrapAdministrator(
        self, request: pb.BootstrapAdministratorRequest, context: Call
    ) -> pb.BootstrapAdministratorResponse:
        """Record the caller as the first administrator."""
        del context
        caller = await self.authenticate(request.context.authorization)
        act_for(caller.principal)
        await self.bootstrap_administrator(caller=caller, is_operator=request.is_operator)
        return pb.BootstrapAdministratorResponse()
