"""What authz answers about rights, as messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from lakeward_authz.application.explaining import Explanation, Ground, Remedy, Source
from lakeward_authz.application.permissions import Named
from lakeward_authz.domain.permissions.objects import Subject, role_id_of
from lakeward_protocol.authz.v1 import grants_pb2 as pb
from lakeward_protocol.authz.v1 import principals_pb2
from lakeward_servicekit.authorization.objects import ObjectKind

_KINDS: Final = {each.word: each for each in ObjectKind}
_GROUNDS: Final = {
    Ground.GRANTS: pb.GROUND_GRANTS,
    Ground.OPEN: pb.GROUND_OPEN,
    Ground.INSTANCE: pb.GROUND_INSTANCE,
}


def kind(type_name: str) -> principals_pb2.ObjectKind.ValueType:
    """A type of the model."""
    return cast("principals_pb2.ObjectKind.ValueType", _KINDS[type_name])


def grantee(subject: Subject) -> pb.Grantee:
    """A user, or who holds a role."""
    role_id = role_id_of(subject)
    return pb.Grantee(user_id=subject.partition(":")[2]) if role_id is None else pb.Grantee(role_id=str(role_id))


def object_name(named: Named) -> pb.ObjectName:
    """An object, as people name it."""
    return pb.ObjectName(
        kind=kind(named.type),
        project_id=named.project_id,
        warehouse_id="" if named.warehouse_id is None else str(named.warehouse_id),
        id="" if named.id is None else str(named.id),
    )


def explanation(found: Explanation) -> pb.ExplainAccessResponse:
    """Why, or why not."""
    return pb.ExplainAccessResponse(
        allowed=found.allowed,
        ground=_GROUNDS[found.ground],
        because=[pb.GrantSources(sources=map(_source, group)) for group in found.because],
        inside=map(_source, found.inside),
        managed_by=map(object_name, found.managed_by),
        remedies=map(_remedy, found.remedies),
    )


def _source(source: Source) -> pb.GrantSource:
    message = pb.GrantSource(object=object_name(source.named), roles=_ids(source.roles))
    if source.grant is not None:
        message.grant.grantee.CopyFrom(grantee(source.grant.subject))
        message.grant.privilege = source.grant.relation
    return message


def _ids(roles: Sequence[Subject]) -> Sequence[str]:
    return [str(role_id_of(role)) for role in roles]


def _remedy(remedy: Remedy) -> pb.GrantRemedy:
    return pb.GrantRemedy(
        object=object_name(remedy.named),
        privilege=remedy.privilege,
        giving=remedy.giving,
        givers=map(grantee, remedy.givers),
    )
