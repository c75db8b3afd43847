"""SCIM's resources and what is sent about them: between documents of the RFC and messages of authz.

Parsing, patching and filtering by the RFC's grammar is `scim2_models`'; here is what of it goes where.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import msgspec
from pydantic import ValidationError
from scim2_models import (
    Context,
    EnterpriseUser,
    Error,
    Group,
    PatchOp,
    Resource,
    ResponseParameters,
    SCIMException,
    ScimPolicy,
    SearchRequest,
    User,
)

from lakeward_gateway.documents import parsed
from lakeward_gateway.http import Header, Request, Response, encode
from lakeward_protocol.authz.v1 import provisioning_pb2 as pb
from lakeward_servicekit.errors import Reason, Refusal

Person: TypeAlias = User[EnterpriseUser]
Document: TypeAlias = dict[str, Any]

# What Entra and Okta send beyond the RFC: attributes that nobody declares, a remove that says in its value what is to go, and a
# path whose filter describes the entry that is to be.
POLICY: Final = ScimPolicy(
    unknown=ScimPolicy.Unknown.ignore,
    remove_value_as_filter=ScimPolicy.RemoveValue.apply,
    unmatched_path_filter=ScimPolicy.UnmatchedPathFilter.create,
)
# Ours, or nobody's to keep: a password is taken and forgotten at once.
_NOT_KEPT: Final = ("id", "meta", "groups", "password")
_MANAGER: Final = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:user:manager"
_LONGEST_FILTER: Final = 4096
_AND_GROUPS: Final = "-"
_SCIM_JSON: Final[Header] = (b"content-type", b"application/scim+json")
_decoder: Final = msgspec.json.Decoder(dict[str, Any])
_LIST: Final = "urn:ietf:params:scim:api:messages:2.0:ListResponse"


@contextmanager
def translated() -> Iterator[None]:
    """What the RFC's models refuse, as a refusal.

    Raises:
        Refusal: INVALID_FIELD.
    """
    try:
        yield
    except SCIMException as error:
        raise _refused(error.to_error()) from error
    except ValidationError as error:
        raise _refused(Error.from_validation_errors(error)[0]) from error


def _refused(error: Error) -> Refusal:
    detail = error.detail or "the request can't be used"
    return Refusal(Reason.REASON_INVALID_FIELD, detail, field=error.scim_type or "invalidValue", value="")


async def body_of(request: Request) -> Document:
    """A request's body, a JSON object.

    Raises:
        Refusal: MALFORMED_DOCUMENT.
    """
    return await parsed(_decoder, request.body)


def person_of(document: Document, *, replaces: bool = False) -> User[EnterpriseUser]:
    """A person that is sent whole.

    Raises:
        Refusal: INVALID_FIELD.
    """
    context = Context.RESOURCE_REPLACEMENT_REQUEST if replaces else Context.RESOURCE_CREATION_REQUEST
    with translated():
        return Person.model_validate(document, scim_ctx=context, scim_policy=POLICY)


def group_of(document: Document, *, replaces: bool = False) -> Group:
    """A group that is sent whole.

    Raises:
        Refusal: INVALID_FIELD.
    """
    context = Context.RESOURCE_REPLACEMENT_REQUEST if replaces else Context.RESOURCE_CREATION_REQUEST
    with translated():
        return Group.model_validate(document, scim_ctx=context, scim_policy=POLICY)


def profile_of(person: User[EnterpriseUser]) -> pb.ProvisionedProfile:
    """What is kept of a person."""
    document = person.model_dump(scim_ctx=Context.DEFAULT, mode="json")
    for name in _NOT_KEPT:
        document.pop(name, None)
    profile = pb.ProvisionedProfile(
        user_name=person.user_name or "",
        display_name=_display_name(person),
        email=_email(person),
        active=person.active is not False,
        document=encode(document),
    )
    if person.external_id:
        profile.external_id = person.external_id
    return profile


def _display_name(person: User[EnterpriseUser]) -> str | None:
    name = person.name
    full = None if name is None else name.formatted or " ".join(filter(None, (name.given_name, name.family_name)))
    return person.display_name or full or None


def _email(person: User[EnterpriseUser]) -> str | None:
    emails = [email for email in person.emails or () if email.value]
    first = next((email for email in emails if email.primary), emails[0] if emails else None)
    return None if first is None else str(first.value)


def kept_person(user: pb.ProvisionedUser) -> User[EnterpriseUser]:
    """A person as it was sent last, and whether it is active."""
    document: Document = msgspec.json.decode(user.profile.document) if user.profile.document else {}
    document = {**document, "userName": user.profile.user_name, "active": user.profile.active}
    return Person.model_validate(document, scim_ctx=Context.DEFAULT, scim_policy=POLICY)


def patched(person: User[EnterpriseUser], document: Document) -> User[EnterpriseUser]:
    """A person after a patch.

    Raises:
        Refusal: INVALID_FIELD.
    """
    for operation in document.get("Operations") or ():
        _complete_manager(operation)
    with translated():
        patch = PatchOp[Person].model_validate(document, scim_ctx=Context.RESOURCE_PATCH_REQUEST, scim_policy=POLICY)
        patch.patch(person, POLICY)
    return person


def _complete_manager(operation: object) -> None:
    """Entra sends a manager's id alone, where the RFC has an object."""
    if isinstance(operation, dict) and str(operation.get("path")).lower() == _MANAGER:
        value = operation.get("value")
        if isinstance(value, str):
            operation["value"] = {"value": value}


class Shape:
    """Which attributes a client wants.

    Args:
        model: of the resource.
        parameters: `attributes` and `excludedAttributes`, by these names.

    Raises:
        Refusal: INVALID_FIELD.
    """

    def __init__(self, model: type[Resource[Any]], parameters: Mapping[str, Any]) -> None:
        """See the class."""
        chosen = {name: parameters[name] for name in ("attributes", "excludedAttributes") if parameters.get(name)}
        with translated():
            self._parameters: Final[Any] = ResponseParameters[model].model_validate(chosen)  # type: ignore[valid-type]

    def wants(self, attribute: str) -> bool:
        """Whether an attribute that is shown unless it is not wanted is to be shown."""
        included = [str(path).lower() for path in self._parameters.attributes or ()]
        excluded = [str(path).lower() for path in self._parameters.excluded_attributes or ()]
        name = attribute.lower()
        if included:
            return any(each == name or each.rpartition(":")[2].partition(".")[0] == name for each in included)
        return not any(each.rpartition(":")[2] == name for each in excluded)

    def of(self, resource: Resource[Any], context: Context) -> Document:
        """A resource's document."""
        return resource.model_dump(scim_ctx=context, response_parameters=self._parameters, mode="json")


def described(user: pb.ProvisionedUser, base: str) -> User[EnterpriseUser]:
    """A person as clients see it."""
    return Person.model_validate(
        {
            **kept_person(user).model_dump(scim_ctx=Context.DEFAULT, mode="json"),
            "id": user.id,
            "groups": [_membership(each, base) for each in user.groups],
            "meta": _meta("User", f"{base}/Users/{user.id}", user, shown_version(user)),
        },
        scim_ctx=Context.DEFAULT,
        scim_policy=POLICY,
    )


def described_group(group: pb.ProvisionedGroup, base: str) -> Group:
    """A group as clients see it."""
    document: Document = {
        "schemas": [str(Group.__schema__)],
        "id": group.id,
        "displayName": group.display_name,
        "members": [_member(member, base) for member in group.members],
        "meta": _meta("Group", f"{base}/Groups/{group.id}", group, group.version),
    }
    if group.HasField("external_id"):
        document["externalId"] = group.external_id
    return Group.model_validate(document, scim_ctx=Context.DEFAULT, scim_policy=POLICY)


def _member(member: pb.ProvisionedMember, base: str) -> Document:
    word = "User" if member.kind == pb.PROVISIONED_MEMBER_KIND_USER else "Group"
    return {"value": member.id, "$ref": f"{base}/{word}s/{member.id}", "type": word, "display": member.display}


def _membership(membership: pb.ProvisionedMembership, base: str) -> Document:
    return {
        "value": membership.group_id,
        "$ref": f"{base}/Groups/{membership.group_id}",
        "display": membership.display,
        "type": "direct" if membership.direct else "indirect",
    }


def shown_version(user: pb.ProvisionedUser) -> str:
    """The version of a person and of the groups that are shown with it, which change without it."""
    if not user.groups:
        return user.version
    digest = hashlib.blake2b(digest_size=8)
    for each in user.groups:
        digest.update(each.SerializeToString(deterministic=True))
    return f"{user.version}{_AND_GROUPS}{digest.hexdigest()}"


def _meta(word: str, location: str, of: pb.ProvisionedUser | pb.ProvisionedGroup, version: str) -> Document:
    return {
        "resourceType": word,
        "created": of.created_at.ToJsonString(),
        "lastModified": of.updated_at.ToJsonString(),
        "location": location,
        "version": etag(version),
    }


def search_of(model: type[Resource[Any]], parameters: Mapping[str, Any]) -> SearchRequest[Any]:
    """What is looked for.

    Raises:
        Refusal: INVALID_FIELD.
    """
    written = parameters.get("filter")
    if isinstance(written, str) and len(written) > _LONGEST_FILTER:
        message = f"the filter has {len(written)} characters; at most {_LONGEST_FILTER} are read"
        raise Refusal(Reason.REASON_INVALID_FIELD, message, field="invalidFilter", value="")
    with translated():
        return SearchRequest[model].model_validate(parameters, scim_ctx=Context.DEFAULT, scim_policy=POLICY)  # type: ignore[valid-type]


def listed(resources: Sequence[Document], *, total: int, start: int) -> Response:
    """A part of a listing.

    Args:
        resources: that it has.
        total: how many there are.
        start: place of the first of them, from 1.
    """
    document = {
        "schemas": [_LIST],
        "totalResults": total,
        "itemsPerPage": len(resources),
        "startIndex": start,
        "Resources": resources,
    }
    return replied(document)


def replied(document: Document, *, status: int = 200, headers: Sequence[Header] = ()) -> Response:
    """A reply with a document of SCIM."""
    return Response(status, headers=(_SCIM_JSON, *headers), body=encode(document))


def etag(version: str) -> str:
    """A version as an entity tag: weak, since what is shown of one depends on what is asked for."""
    return f'W/"{version}"'


def expected_version(request: Request) -> str:
    """The version that `If-Match` names; "" for whichever is there.

    Raises:
        Refusal: INVALID_FIELD.
    """
    value = request.headers.get(b"if-match", b"").decode("latin-1").strip()
    if value in {"", "*"}:
        return ""
    # what is changed is the person: groups that were shown with it are no part of it
    version = value.removeprefix("W/").strip('"').partition(_AND_GROUPS)[0]
    if "," in value or not version:
        why = "If-Match names one version, as meta.version has it"
        raise Refusal(
            Reason.REASON_INVALID_FIELD, f"{value[:64]!r} can't be used: {why}", field="invalidVers", value=""
        )
    return version


def unchanged(request: Request, version: str) -> bool:
    """Whether `If-None-Match` names this version."""
    value = request.headers.get(b"if-none-match", b"").decode("latin-1")
    return value.strip() == "*" or etag(version) in value
