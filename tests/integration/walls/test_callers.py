"""Every method of every service, as nobody, as a user, and as each service, over the wire.

`CALLERS` says who may call what. It is written by hand beside the contract's own rules, so that a rule that is loosened by
mistake fails here, as does a method that nobody thought of.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import grpc
import grpc.aio
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.message import Message

from lakeward_components.oidc import ALICE, OidcProvider
from lakeward_protocol.authz.v1 import principals_pb2
from lakeward_protocol.common.v1 import options_pb2
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc.methods import ActsFor
from lakeward_servicekit.workload import WorkloadIdentity
from tests.integration.walls.conftest import Walled
from tests.support.catalog.expectations import EXPECTED
from tests.support.dumps import dump
from tests.support.installations import LISTENING, SERVICES
from tests.support.tokens import client_token, expiring_token
from tests.support.wire import WORKLOAD, answers, call, empty_request, reflected, rule_of, served

pytestmark = pytest.mark.integration

USER = "user"
_PUBLIC = {USER, "gateway"}
_CATALOG = {"catalog"}


def _service(name: str, callers: set[str], *methods: str) -> dict[str, set[str]]:
    return {f"/lakeward.{name}/{method}": callers for method in methods}


CALLERS: Mapping[str, set[str]] = {
    **_service(
        "catalog.v1.ServerService",
        _PUBLIC,
        "GetServerInfo",
        "Bootstrap",
        "GetProject",
        "ListProjects",
        "CreateProject",
        "RenameProject",
        "DeleteProject",
    ),
    **_service(
        "catalog.v1.TaskService",
        _PUBLIC,
        "ListTasks",
        "GetTask",
        "ControlTasks",
        "GetQueueConfig",
        "SetQueueConfig",
    ),
    **_service(
        "catalog.v1.ProjectTaskService",
        _PUBLIC,
        "ListProjectTasks",
        "GetProjectTask",
        "ControlProjectTasks",
        "GetProjectQueueConfig",
        "SetProjectQueueConfig",
        "GetProjectSchedule",
        "SetProjectSchedule",
        "ScheduleProjectTask",
    ),
    **_service("catalog.v1.TabularService", _PUBLIC, "ListDeletedTabulars", "SearchTabulars", "UndropTabulars"),
    **_service(
        "catalog.v1.WarehouseService",
        _PUBLIC,
        "GetConfig",
        "CreateWarehouse",
        "ListWarehouses",
        "GetWarehouse",
        "RenameWarehouse",
        "ActivateWarehouse",
        "DeactivateWarehouse",
        "SetWarehouseProtection",
        "GetWarehouseStatistics",
        "SetDeleteProfile",
        "ValidateWarehouse",
        "ValidateWarehouseStorage",
        "SetFormatVersionPolicy",
        "SetManagedBy",
        "DeleteWarehouse",
        "UpdateStorage",
        "UpdateStorageCredential",
    ),
    **_service(
        "catalog.v1.TagService",
        _PUBLIC,
        "CreateTagDefinition",
        "ListTagDefinitions",
        "GetTagDefinition",
        "UpdateTagDefinition",
        "DeleteTagDefinition",
        "ListTagAttachments",
        "SetTag",
        "RemoveTag",
        "ListTags",
        "ListColumnTags",
    ),
    **_service(
        "catalog.v1.NamespaceService",
        _PUBLIC,
        "ListNamespaces",
        "CreateNamespace",
        "GetNamespace",
        "UpdateNamespaceProperties",
        "GetNamespaceProtection",
        "SetNamespaceProtection",
        "DropNamespace",
        "MoveNamespace",
    ),
    **_service(
        "catalog.v1.TableService",
        _PUBLIC,
        "ListTables",
        "CreateTable",
        "RegisterTable",
        "LoadTable",
        "TableExists",
        "LoadCredentials",
        "CommitTable",
        "CommitTransaction",
        "GetTableProtection",
        "SetTableProtection",
        "DropTable",
        "RenameTable",
        "ReportMetrics",
    ),
    **_service("catalog.v1.TableService", {"gateway"}, "BatchLoadTables"),
    **_service(
        "catalog.v1.ViewService",
        _PUBLIC,
        "ListViews",
        "CreateView",
        "LoadView",
        "ViewExists",
        "CommitView",
        "GetViewProtection",
        "SetViewProtection",
        "DropView",
        "RenameView",
    ),
    **_service(
        "catalog.v1.GenericTableService",
        _PUBLIC,
        "ListGenericTables",
        "CreateGenericTable",
        "LoadGenericTable",
        "GenericTableExists",
        "LoadGenericTableCredentials",
        "UpdateGenericTable",
        "GetGenericTableProtection",
        "SetGenericTableProtection",
        "DropGenericTable",
        "RenameGenericTable",
    ),
    **_service("catalog.v1.GenericTableService", {"gateway"}, "BatchLoadGenericTables"),
    **_service("catalog.v1.StatisticsService", {"gateway"}, "RecordCalls"),
    **_service("catalog.v1.StatisticsService", _PUBLIC, "GetCallStatistics"),
    **_service("catalog.v1.CascadeService", _PUBLIC, "DropTree"),
    **_service("catalog.v1.AuditService", _PUBLIC, "ListAuditRecords"),
    **_service("authz.v1.AuditService", _PUBLIC, "ListAuditRecords"),
    **_service("catalog.v1.ContractService", _PUBLIC, "GetContracts", "SetContracts"),
    **_service("vending.v1.AuditService", _PUBLIC, "ListAuditRecords"),
    **_service("catalog.v1.EventService", _PUBLIC, "ReadEvents", "Subscribe"),
    **_service("authz.v1.EventService", _PUBLIC, "ReadEvents", "Subscribe"),
    **_service("vending.v1.EventService", _PUBLIC, "ReadEvents", "Subscribe"),
    **_service(
        "catalog.v1.GenericTableVersionService",
        _PUBLIC,
        "ClaimVersion",
        "GetVersion",
        "ListVersions",
        "ForgetVersions",
    ),
    **_service("catalog.v1.NameService", {"gateway"}, "FindByName"),
    **_service("catalog.v1.SigningService", _PUBLIC, "SignS3Request"),
    **_service("vending.v1.VendingService", _CATALOG, "VendAccess", "SignRequest"),
    **_service("vending.v1.FileService", _CATALOG, "ReadFile", "WriteFile", "DeleteFiles", "CheckEmpty", "PurgePage"),
    **_service("vending.v1.FileService", _CATALOG, "ListFiles", "ReadPart"),
    **_service("vending.v1.StorageService", _PUBLIC, "StageCredential"),
    **_service(
        "vending.v1.StorageService",
        _CATALOG,
        "KeepSecret",
        "ForgetSecret",
        "NormaliseProfile",
        "ValidateStorage",
        "ClaimPlace",
        "ReleasePlace",
    ),
    **_service("authz.v1.DecisionService", {"catalog", "vending"}, "Decide", "BatchDecide"),
    **_service("authz.v1.DecisionService", _CATALOG, "Visible"),
    **_service("authz.v1.TreeService", _CATALOG, "ApplyTreeChanges", "ListTreePlaces", "ListTree"),
    **_service(
        "authz.v1.UserService",
        _PUBLIC,
        "CreateUser",
        "GetUser",
        "WhoAmI",
        "ListUsers",
        "SearchUsers",
        "UpdateUser",
        "DeleteUser",
        "GetUserActions",
    ),
    **_service(
        "authz.v1.RoleService",
        _PUBLIC,
        "CreateRole",
        "GetRole",
        "GetRoleMetadata",
        "ListRoles",
        "SearchRoles",
        "UpdateRole",
        "UpdateRoleSource",
        "DeleteRole",
        "AddRoleMembers",
        "RemoveRoleMember",
        "ListRoleMembers",
        "ListRolesOfRole",
        "ListRolesOfUser",
    ),
    **_service(
        "authz.v1.ProvisioningService",
        _PUBLIC,
        "CreateProvisionedUser",
        "GetProvisionedUser",
        "ListProvisionedUsers",
        "ReplaceProvisionedUser",
        "DeleteProvisionedUser",
        "CreateProvisionedGroup",
        "GetProvisionedGroup",
        "ListProvisionedGroups",
        "ChangeProvisionedGroup",
        "DeleteProvisionedGroup",
    ),
    **_service(
        "authz.v1.GrantService",
        _PUBLIC,
        "ListGrants",
        "ListGrantsOfPrincipal",
        "ChangeGrants",
        "ListPrivileges",
        "GetGrantablePrivileges",
        "GetAllowedActions",
        "CheckActions",
        "ExplainAccess",
        "GetManagedAccess",
        "SetManagedAccess",
    ),
    **_service("authz.v1.IdentityService", {"catalog", "vending"}, "Authenticate"),
    **_service("authz.v1.IdentityService", _CATALOG, "ProvisionUser", "BootstrapAdministrator"),
}

# The request of the test names nobody who is there.
_NAMED_NOBODY = {
    "GetUser",
    "WhoAmI",
    "GetUserActions",
    "GetProjectTask",
    "GetVersion",
    *(path.rpartition("/")[2] for path in CALLERS if "RoleService" in path or "ProvisioningService" in path),
}
_PROOFLESS = {Reason.REASON_TOKEN_MISSING, Reason.REASON_TOKEN_REFUSED}
_KEY = {"type": "s3", "credential-type": "access-key", "access-key-id": "id", "secret-access-key": "secret"}


def _request(walled: Walled, path: str) -> Message:
    """One that succeeds for who may do everything, where the method is for users."""
    if path in EXPECTED:
        made: Any = EXPECTED[path][0].request(walled.stand_in())
        if path.endswith("/SignS3Request"):
            made.uri = f"{walled.store.endpoint}/{walled.location.removeprefix('s3://')}/metadata/of-the-test"
            made.region = walled.store.region
        return made  # type: ignore[no-any-return]
    request: Any = empty_request(path)
    if ".EventService/" in path:
        request.server = True
    if path.endswith("/StageCredential"):
        request.credential = json.dumps(_KEY).encode()
    if "/lakeward.authz.v1.GrantService/" in path:
        _about_rights(walled, request)
    return request  # type: ignore[no-any-return]


def _about_rights(walled: Walled, request: Any) -> None:
    fields = request.DESCRIPTOR.fields_by_name
    if "object" in fields:
        request.object.kind = principals_pb2.OBJECT_KIND_SERVER
    if type(request).__name__ in {"GetManagedAccessRequest", "SetManagedAccessRequest"}:
        request.object.kind = principals_pb2.OBJECT_KIND_WAREHOUSE
        request.object.warehouse_id = walled.warehouse.id
    if "grantee" in fields:
        request.grantee.user_id = "oidc~somebody"
    if "writes" in fields:
        request.writes.add(privilege="admin").grantee.user_id = "oidc~somebody"
    if "check" in fields:
        request.check.action = "create_project"
        request.check.object.kind = principals_pb2.OBJECT_KIND_SERVER
    if "checks" in fields:
        request.checks.add(action="create_project").object.kind = principals_pb2.OBJECT_KIND_SERVER


def _peer(path: str) -> str:
    return path.split(".")[1]


async def test_every_method_that_is_served_has_an_expectation_and_the_other_way_round(walled: Walled) -> None:
    found: set[str] = set()
    for service in LISTENING:
        found |= await served(walled.channels[service], service)
        assert not await answers(walled.channels[service], f"/lakeward.{service}.v1.NoService/NoMethod")
    assert found == CALLERS.keys()


@pytest.mark.parametrize("service", LISTENING)
async def test_a_service_without_a_route_from_outside_tells_nobody_what_it_has(walled: Walled, service: str) -> None:
    if service == "vending":
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await reflected(walled.channels[service])
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
        return
    told = await reflected(walled.channels[service])
    assert told == {path for path in CALLERS if _peer(path) == service}


def test_the_contract_s_rules_allow_exactly_the_expected_callers() -> None:
    names = {
        options_pb2.CALLER_USER: USER,
        **{getattr(options_pb2, f"CALLER_{name.upper()}"): name for name in SERVICES},
    }
    rules = {path: {names[caller] for caller in rule_of(path).callers} for path in CALLERS}
    assert rules == CALLERS


@pytest.mark.parametrize("path", CALLERS)
async def test_a_method_is_closed_to_everyone_but_its_callers(walled: Walled, path: str) -> None:
    before = await dump(walled.database)
    for caller in (USER, *SERVICES):
        if caller in CALLERS[path]:
            continue
        proof = {} if caller == USER else {WORKLOAD: _proof(walled, caller, _peer(path))}
        for authorization in ({}, {"authorization": walled.token}):
            answer = await call(
                walled.channel_of(path), path, _request(walled, path), metadata={**proof, **authorization}
            )
            assert isinstance(answer, Refusal), f"{caller} was let into {path}"
            assert answer.reason == Reason.REASON_WORKLOAD_REFUSED, (caller, answer)
    assert await dump(walled.database) == before


@pytest.mark.parametrize(
    "path",
    [path for path, callers in CALLERS.items() if "gateway" in callers and rule_of(path).acts_for != ActsFor.NOBODY],
)
async def test_a_method_for_users_wants_a_user_s_token_whoever_calls_it(
    walled: Walled, refused_tokens: Mapping[str, str], path: str
) -> None:
    before = await dump(walled.database)
    for caller in sorted(CALLERS[path]):
        proof = {} if caller == USER else {WORKLOAD: _proof(walled, caller, _peer(path))}
        for kind, token in refused_tokens.items():
            metadata = {**proof, **({"authorization": token} if token else {})}
            answer = await call(walled.channel_of(path), path, _request(walled, path), metadata=metadata)
            assert _reason_of(answer) in _PROOFLESS, f"{path} as {caller} with {kind}: {answer}"
    assert await dump(walled.database) == before


def _reason_of(answer: Message | Refusal) -> Reason.ValueType | None:
    if isinstance(answer, Refusal):
        return answer.reason
    items = getattr(answer, "items", None)  # a batch's call succeeds, and its items do not
    return items[0].failure.reason if items else None


@pytest.fixture(scope="module")
async def refused_tokens(walled: Walled, oidc: OidcProvider) -> Mapping[str, str]:
    """What is sent in `authorization` by those who are nobody; empty: nothing is sent."""
    sound = walled.token.removeprefix("Bearer ")
    header, claims = jwt.get_unverified_header(sound), jwt.decode(sound, options={"verify_signature": False})
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    body = ".".join(sound.split(".")[:2])
    return {
        "nothing": "",
        "no scheme": sound,
        "another scheme": f"Basic {sound}",
        "no token": "Bearer ",
        "garbage": "Bearer TOKEN",
        "dev": "Bearer dev",
        "a forged signature": f"Bearer {jwt.encode(claims, key, algorithm='RS256', headers={'kid': header['kid']})}",
        "a cut signature": f"Bearer {body}.",
        "no algorithm": f"Bearer {_unsigned(claims)}",
        "a public key as a shared secret": f"Bearer {_hs256(claims, public, header['kid'])}",
        "an expired token": f"Bearer {await expiring_token(oidc, ALICE, seconds=-120)}",
        "another audience": f"Bearer {await client_token(oidc, resource='https://elsewhere.example.org')}",
        "a service's proof": f"Bearer {_proof(walled, 'catalog', 'catalog')}",
    }


def _text(document: str) -> str:
    return base64.urlsafe_b64encode(document.encode()).rstrip(b"=").decode()


def _unsigned(claims: Mapping[str, Any]) -> str:
    return ".".join([*(_text(json.dumps(part)) for part in ({"alg": "none", "typ": "JWT"}, claims)), ""])


def _hs256(claims: Mapping[str, Any], secret: bytes, kid: str) -> str:
    body = ".".join(_text(json.dumps(part)) for part in ({"alg": "HS256", "typ": "JWT", "kid": kid}, claims))
    signature = hmac.new(secret, body.encode(), hashlib.sha256).digest()
    return f"{body}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


async def test_a_user_with_a_token_gets_past_the_wall_of_every_method_that_is_for_users(walled: Walled) -> None:
    """The twin: with the proofs that the tests above take away, nobody is refused for want of one."""
    changing = [path for path in CALLERS if rule_of(path).mutation]
    reading = [path for path in CALLERS if not rule_of(path).mutation]
    for path in [*reading, *(path for path in changing if "Warehouse/" not in path and "Delete" not in path)]:
        for caller in CALLERS[path] & _PUBLIC:
            proof = {} if caller == USER else {WORKLOAD: _proof(walled, caller, _peer(path))}
            metadata = {**proof, "authorization": walled.token}
            if path in reading and path.rpartition("/")[2] not in _NAMED_NOBODY:
                answer = await call(walled.channel_of(path), path, _request(walled, path), metadata=metadata)
                assert not isinstance(answer, Refusal), f"{path} as {caller}: {answer}"
            else:
                answer = await call(walled.channel_of(path), path, empty_request(path), metadata=metadata)
                walls = {*_PROOFLESS, Reason.REASON_WORKLOAD_REFUSED}
                assert _reason_of(answer) not in walls, f"{path} as {caller}: {answer}"


_Forge = Callable[[Walled, str], str]


def _proof(walled: Walled, service: str, peer: str, **claims: object) -> str:
    identity = WorkloadIdentity(service, walled.installation.keys[service])
    if not claims:
        return identity.token_for(peer)
    now = int(time.time())
    sound = {"iss": service, "aud": peer, "iat": now, "exp": now + 200}
    return jwt.encode({**sound, **claims}, walled.installation.keys[service], algorithm="EdDSA")


def _public_pem(walled: Walled, service: str) -> bytes:
    return (
        walled.installation.keys[service]
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )


FORGED: Mapping[str, _Forge] = {
    "signed by somebody else": lambda w, peer: WorkloadIdentity("catalog", Ed25519PrivateKey.generate()).token_for(
        peer
    ),
    "signed by another service": lambda w, peer: WorkloadIdentity("catalog", w.installation.keys["gateway"]).token_for(
        peer
    ),
    "made for another service": lambda w, peer: _proof(w, "catalog", "authz" if peer != "authz" else "vending"),
    "expired": lambda w, peer: _proof(w, "catalog", peer, iat=int(time.time()) - 600, exp=int(time.time()) - 400),
    "from the future": lambda w, peer: _proof(
        w, "catalog", peer, iat=int(time.time()) + 90, exp=int(time.time()) + 190
    ),
    "good for longer than any is": lambda w, peer: _proof(w, "catalog", peer, exp=int(time.time()) + 4000),
    "without an end": lambda w, peer: _proof(w, "catalog", peer, exp=None),
    "of a service that does not exist": lambda w, peer: _proof(w, "catalog", peer, iss="root"),
    "unsigned": lambda w, peer: _unsigned(
        {"iss": "catalog", "aud": peer, "iat": int(time.time()), "exp": int(time.time()) + 60}
    ),
    "signed with the public key as a secret": lambda w, peer: _hs256(
        {"iss": "catalog", "aud": peer, "iat": int(time.time()), "exp": int(time.time()) + 60},
        _public_pem(w, "catalog"),
        "",
    ),
    "garbage": lambda w, peer: "catalog",
    "empty": lambda w, peer: "",
    "a user's token": lambda w, peer: w.token.removeprefix("Bearer "),
}


@pytest.mark.parametrize("forgery", FORGED)
async def test_a_service_s_proof_that_does_not_hold_opens_no_method(walled: Walled, forgery: str) -> None:
    before = await dump(walled.database)
    for path in CALLERS:
        metadata = {WORKLOAD: FORGED[forgery](walled, _peer(path)), "authorization": walled.token}
        answer = await call(walled.channel_of(path), path, empty_request(path), metadata=metadata)
        assert isinstance(answer, Refusal), f"{path} was opened"
        assert answer.reason == Reason.REASON_WORKLOAD_REFUSED, f"{path}: {answer}"
    assert await dump(walled.database) == before


async def test_the_catalog_is_let_into_every_method_that_is_for_it(walled: Walled) -> None:
    """The twin of the forgeries: a proof that holds."""
    for path, callers in CALLERS.items():
        if "catalog" not in callers:
            continue
        metadata = {WORKLOAD: _proof(walled, "catalog", _peer(path)), "authorization": walled.token}
        answer = await call(walled.channel_of(path), path, empty_request(path), metadata=metadata)
        assert not isinstance(answer, Refusal) or answer.reason != Reason.REASON_WORKLOAD_REFUSED, f"{path}: {answer}"
