"""The rules that a request must pass to be signed."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.errors import Refusal
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.s3.signing import deletion, refusals, target
from lakeward_vending.domain.s3.signing.refusals import invalid, outside
from lakeward_vending.domain.s3.signing.request import Signable, values_by_name
from lakeward_vending.domain.s3.signing.target import LIST_PARAMETERS, Target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lakeward_locations import Location
    from lakeward_vending.domain.profiles.s3 import S3Profile
    from lakeward_vending.domain.signing import SigningRequest

METHODS: Final = frozenset({"GET", "HEAD", "PUT", "POST", "DELETE"})
UNSIGNED_PAYLOAD: Final = "UNSIGNED-PAYLOAD"

# What an object request may carry. Anything else (acl, policy, tagging, retention, select ...) means another operation.
_OBJECT_PARAMETERS: Final[Mapping[str, frozenset[str]]] = {
    "GET": frozenset({"versionId", "partNumber", "uploadId", "x-id"}),
    "HEAD": frozenset({"versionId", "partNumber", "x-id"}),
    "PUT": frozenset({"uploadId", "partNumber", "x-id"}),
    "POST": frozenset({"uploads", "uploadId", "x-id"}),
    "DELETE": frozenset({"versionId", "uploadId", "x-id"}),
}
# Headers that change who may see an object, where it leads, or what the request is.
_REFUSED_HEADERS: Final = re.compile(
    r"x-amz-acl|x-amz-grant-.*|x-amz-website-redirect-location|x-amz-bypass-governance-retention|x-amz-rename-source.*"
    r"|x-http-method(?:-override)?|x-method-override"
)
# Said by proxies, of where a request was before: a client has none of them to say, though it may repeat the signer's empty ones.
_FORWARDED: Final = re.compile(r"forwarded|x-forwarded-.*|x-original-url|x-rewrite-url")
# The store's own word on what the signature must cover: all x-amz-*. The rest are those that change what a request does. What
# clients and proxies rewrite on the way (range, user-agent, accept-encoding, amz-sdk-*) stays out.
_SIGNED_HEADERS: Final = re.compile(r"x-amz-.*|content-md5|content-type|if-match|if-none-match")
# The signer's to set: what a client sends under these names is dropped.
OWN_HEADERS: Final = frozenset({"host", "authorization", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"})
_PAYLOAD_HASH: Final = re.compile(r"[0-9a-f]{64}|UNSIGNED-PAYLOAD|STREAMING-UNSIGNED-PAYLOAD-TRAILER")


def examine(request: SigningRequest, *, profile: S3Profile, location: Location) -> Signable:
    """The request in the form that is signed, once nothing in it reaches outside `location`.

    Args:
        request: as the client sent it.
        profile: whose host, bucket and region the request must name.
        location: the directory that the permit opens.

    Raises:
        Refusal: SIGNING_METHOD; SIGNING_OUTSIDE with the place; SIGNING_INVALID with a cause: those of `target.read` and
            `deletion.keys`, and RegionMismatch, InvalidHeader, UnsupportedHeader, UnsupportedSubresource,
            UnsupportedListParameter, RepeatedListParameter, ListWithoutPrefix, InvalidListPrefix, UriNotBucket.
    """
    if request.method not in METHODS:
        raise refusals.method(request.method)
    where = target.read(request.uri, profile)
    if request.region != profile.region:
        raise invalid(
            "RegionMismatch", f"the request is for region {request.region[:50]!r}; it must be {profile.region!r}"
        )
    headers = values_by_name(request.headers)
    _check_headers(headers)
    if where.bucket != profile.bucket or location.bucket != profile.bucket:
        raise outside(where.location)
    access, keys = _classify(request, where)
    for key in (*keys, *_copied(headers, profile, location)):
        if not key.startswith(location.prefix):
            raise outside(f"s3://{where.bucket}/{key}")
    return Signable(
        method=request.method,
        authority=where.authority,
        path=where.path,
        query=where.query,
        headers={
            name: ",".join(" ".join(value.split()) for value in values)
            for name, values in headers.items()
            if name not in OWN_HEADERS and _SIGNED_HEADERS.fullmatch(name)
        },
        payload_hash=_payload_hash(request, headers),
        access=access,
        keys=keys,
    )


def _classify(request: SigningRequest, where: Target) -> tuple[Access, tuple[str, ...]]:
    """What the request does, and to which keys or key prefixes."""
    parameters = dict(where.query)
    if "delete" in parameters:
        return _multi_delete(request, where, parameters)
    if not where.key:
        return _listing(request, where, parameters)
    foreign = parameters.keys() - _OBJECT_PARAMETERS[request.method]
    if foreign:
        raise _subresource(foreign)
    if request.method == "POST" and not {"uploads", "uploadId"} & parameters.keys():
        raise invalid("UnsupportedSubresource", "a POST to an object starts or completes an upload; this does neither")
    if request.method in {"GET", "HEAD"}:
        return Access.READ, (where.key,)
    deletes = request.method == "DELETE" and "uploadId" not in parameters
    return Access.READ_WRITE_DELETE if deletes else Access.READ_WRITE, (where.key,)


def _multi_delete(
    request: SigningRequest, where: Target, parameters: Mapping[str, str]
) -> tuple[Access, tuple[str, ...]]:
    if request.method != "POST":
        raise invalid("UnsupportedSubresource", f"the query parameter delete goes with POST, not with {request.method}")
    if where.key:
        raise invalid("UriNotBucket", "a multi-object delete goes to the bucket; the URI names a key")
    foreign = parameters.keys() - {"delete", "x-id"}
    if foreign:
        raise _subresource(foreign)
    keys = deletion.keys(request.body)
    for key in keys:
        target.check_key(key, what="key to delete")
    return Access.READ_WRITE_DELETE, keys


def _listing(request: SigningRequest, where: Target, parameters: Mapping[str, str]) -> tuple[Access, tuple[str, ...]]:
    if request.method != "GET" or parameters.get("list-type") != "2":
        # a bucket's own operations reach beyond any table
        raise outside(where.location)
    foreign = parameters.keys() - LIST_PARAMETERS
    if foreign:
        raise invalid("UnsupportedListParameter", f"listings are signed without the parameter {_shown(foreign)}")
    prefix = parameters.get("prefix", "")
    if not prefix:
        raise invalid("ListWithoutPrefix", "a listing is signed with a prefix inside the table's directory")
    try:
        target.check_key(prefix, what="prefix")
    except Refusal as error:
        raise invalid("InvalidListPrefix", error.message) from error
    return Access.READ, (prefix,)


def _copied(headers: Mapping[str, Sequence[str]], profile: S3Profile, location: Location) -> tuple[str, ...]:
    """The key that a copy reads from, which must lie inside as well: else a writer could copy any table into its own."""
    sources = headers.get("x-amz-copy-source")
    if sources is None:
        return ()
    if len(sources) != 1 or "+" in sources[0]:
        raise invalid("UnsupportedHeader", "x-amz-copy-source stands once, and percent-encodes a '+'")
    path, _, query = sources[0].strip().partition("?")
    if any(name != "versionId" for name, _ in target.decode_query(query)):
        raise invalid("UnsupportedHeader", "x-amz-copy-source may end in ?versionId=..., and in nothing else")
    segments = target.decode_path(path, what="x-amz-copy-source")
    if segments[:1] != (profile.bucket,) or location.bucket != profile.bucket:
        raise outside("s3://" + "/".join(segments))
    return ("/".join(segments[1:]),)


def _check_headers(headers: Mapping[str, Sequence[str]]) -> None:
    for name, values in headers.items():
        if _REFUSED_HEADERS.fullmatch(name) or (any(values) and _FORWARDED.fullmatch(name)):
            raise invalid("UnsupportedHeader", f"requests with the header {name} are not signed")


def _payload_hash(request: SigningRequest, headers: Mapping[str, Sequence[str]]) -> str:
    if request.body is not None:
        # what was checked is what the store accepts: another body has another hash
        return hashlib.sha256(request.body).hexdigest()
    claimed = headers.get("x-amz-content-sha256", ())
    if len(claimed) == 1 and _PAYLOAD_HASH.fullmatch(claimed[0]):
        return claimed[0]
    return UNSIGNED_PAYLOAD


def _subresource(names: frozenset[str] | set[str]) -> Refusal:
    return invalid("UnsupportedSubresource", f"requests with the query parameter {_shown(names)} are not signed")


def _shown(names: frozenset[str] | set[str]) -> str:
    return ascii(min(names)[:50])
