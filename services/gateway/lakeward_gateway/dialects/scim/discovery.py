"""What SCIM's clients ask first: what is served here, and what the resources look like. Made once, and open to everybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from scim2_models import (
    AuthenticationScheme,
    Bulk,
    ChangePassword,
    Context,
    EnterpriseUser,
    ETag,
    External,
    Filter,
    Group,
    Patch,
    Reference,
    Resource,
    ResourceType,
    ServiceProviderConfig,
    Sort,
    User,
)

from lakeward_gateway.dialects.scim.resources import Document, Person, listed, replied
from lakeward_gateway.dialects.scim.searching import LARGEST_PAGE, base_of
from lakeward_gateway.http import Request, Response
from lakeward_servicekit.errors import Reason, Refusal

_TOKENS: Final = "https://datatracker.ietf.org/doc/html/rfc6750"


async def provider_config(request: Request) -> Response:
    """What is served here."""
    return replied(_placed(_config(), request, "/ServiceProviderConfig", "ServiceProviderConfig"))


async def resource_types(request: Request) -> Response:
    """Which resources there are."""
    found = [_placed(each, request, f"/ResourceTypes/{name}", "ResourceType") for name, each in _types().items()]
    return listed(found, total=len(found), start=1)


async def resource_type(request: Request) -> Response:
    """One kind of resource."""
    (name,) = request.arguments
    return replied(_placed(_one(_types(), name), request, f"/ResourceTypes/{name}", "ResourceType"))


async def schemas(request: Request) -> Response:
    """What resources look like."""
    found = [_placed(each, request, f"/Schemas/{urn}", "Schema") for urn, each in _schemas().items()]
    return listed(found, total=len(found), start=1)


async def schema(request: Request) -> Response:
    """What one part of a resource looks like."""
    (urn,) = request.arguments
    return replied(_placed(_one(_schemas(), urn), request, f"/Schemas/{urn}", "Schema"))


async def search(request: Request) -> Response:
    """People and groups at once, which nobody's client asks for.

    Raises:
        Refusal: UNSUPPORTED.
    """
    del request
    message = "people and groups are not searched at once; POST to /scim/v2/Users/.search or /scim/v2/Groups/.search"
    raise Refusal(Reason.REASON_UNSUPPORTED, message, operation="search of several kinds")


def _one(found: Mapping[str, Document], name: str) -> Document:
    document = found.get(name)
    if document is None:
        shown = name[:128]
        message = f"there is no {shown!r} here; there is {', '.join(found)}"
        raise Refusal(Reason.REASON_NO_SUCH_ROUTE, message, path=shown)
    return document


def _placed(document: Document, request: Request, path: str, word: str) -> Document:
    return {**document, "meta": {"resourceType": word, "location": f"{base_of(request)}{path}"}}


def _dumped(resource: Resource[Any]) -> Document:
    return resource.model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE, mode="json")


@cache
def _config() -> Document:
    return _dumped(
        ServiceProviderConfig(
            patch=Patch(supported=True),
            bulk=Bulk(supported=False, max_operations=0, max_payload_size=0),
            filter=Filter(supported=True, max_results=LARGEST_PAGE),
            change_password=ChangePassword(supported=False),
            sort=Sort(supported=False),
            etag=ETag(supported=True),
            authentication_schemes=[
                AuthenticationScheme(
                    type=AuthenticationScheme.Type.oauthbearertoken,
                    name="OAuth Bearer Token",
                    description="A token of an identity provider that this server trusts.",
                    spec_uri=Reference[External](_TOKENS),
                    primary=True,
                )
            ],
        )
    )


@cache
def _types() -> Mapping[str, Document]:
    models: Sequence[type[Resource[Any]]] = (Person, Group)
    made = [ResourceType.from_resource(model) for model in models]
    return {str(each.name): _dumped(each) for each in made}


@cache
def _schemas() -> Mapping[str, Document]:
    made = [model.to_schema() for model in (User, EnterpriseUser, Group)]
    return {str(each.id): _dumped(each) for each in made}
