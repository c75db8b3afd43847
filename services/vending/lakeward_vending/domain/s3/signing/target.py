"""The URI of a request to sign: which bucket and key it means, beyond doubt.

A signature covers the path as the store decodes it. So the path is taken apart the way a store does it, once; a path that
some store, proxy or client library could take apart in another way is refused.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote_to_bytes

from lakeward_vending.domain.profiles import urls
from lakeward_vending.domain.profiles.s3 import UrlStyle
from lakeward_vending.domain.s3.signing.refusals import invalid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lakeward_vending.domain.profiles.s3 import S3Profile

MAX_CHARACTERS: Final = 8192
UNRESERVED: Final = "-_.~"

_URI: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)(?:\?([^#]*))?\Z")
_AUTHORITY: Final = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?\Z")
_PATH_CHARACTERS: Final = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*\Z")
_QUERY_CHARACTERS: Final = re.compile(r"(?:[A-Za-z0-9._~!$'()*,:@/?&=-]|%[0-9A-Fa-f]{2})*\Z")
_ESCAPE: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_DOTS: Final = frozenset({".", ".."})
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_MAX_DECODINGS: Final = 8
_PORTS: Final = {"http": "80", "https": "443"}


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """What a URI means.

    Attributes:
        authority: lower case, without the scheme's own port.
        segments: the path's, each decoded once; the bucket is among them where the URI has it there.
        bucket: as it stands in the URI; the profile's, once `read` has returned.
        key: the object's key; "" for the bucket itself.
        query: decoded parameters, in their order.
    """

    authority: str
    segments: Sequence[str]
    bucket: str
    key: str
    query: Sequence[tuple[str, str]]

    @property
    def path(self) -> str:
        """The canonical path, with a trailing slash exactly where the URI has one."""
        return "/" + quote("/".join(self.segments), safe=f"{UNRESERVED}/")

    @property
    def location(self) -> str:
        """The object as a location."""
        return f"s3://{self.bucket}/{self.key}"


def read(uri: str, profile: S3Profile) -> Target:
    """Take a URI apart for a profile whose host it must name.

    Raises:
        Refusal: SIGNING_INVALID with one of the causes UriSchemeNotSupported, UriNoHost, UriNoPath, UriNotS3,
            InvalidHostStyleURL, FailedToDecodeURISegment, RepeatedParameter.
    """
    if len(uri) > MAX_CHARACTERS or not uri.isascii() or not uri.isprintable():
        raise invalid("UriNotS3", f"the URI is over {MAX_CHARACTERS} characters, or holds one that must be escaped")
    parts = _URI.match(uri)
    if parts is None:
        raise invalid("UriNotS3", "the URI is not absolute, or has a fragment")
    scheme, authority, path, query = parts[1].lower(), parts[2], parts[3], parts[4] or ""
    if scheme not in _PORTS:
        raise invalid("UriSchemeNotSupported", f"the URI's scheme is {scheme[:20]}; http and https are signed")
    if not authority:
        raise invalid("UriNoHost", "the URI has no host")
    host = _canonical_authority(scheme, authority)
    in_path = _bucket_in_path(host, profile)
    segments = decode_path(path, what="URI")
    if in_path and not segments:
        raise invalid("UriNoPath", "the URI has no path; its first segment is the bucket")
    bucket, key = (segments[0], segments[1:]) if in_path else (profile.bucket, segments)
    return Target(host, segments, bucket, "/".join(key), decode_query(query))


def decode_path(path: str, *, what: str) -> tuple[str, ...]:
    """The segments of a raw path, each decoded once; a trailing slash leaves an empty last one.

    Args:
        path: "", "/" or "/a/b"; a path without a leading slash is taken as if it had one.
        what: the path's owner, for messages.

    Raises:
        Refusal: SIGNING_INVALID (FailedToDecodeURISegment).
    """
    if not _PATH_CHARACTERS.match(path):
        raise invalid(
            "FailedToDecodeURISegment", f"the path of the {what} holds a character that must be percent-encoded"
        )
    raw = path.removeprefix("/")
    if not raw:
        return ()
    segments = raw.split("/")
    decoded = tuple(_decode_segment(segment, what=what) for segment in segments)
    if not all(decoded[:-1]):
        raise invalid("FailedToDecodeURISegment", f"the path of the {what} has an empty segment")
    return decoded


def check_key(key: str, *, what: str) -> None:
    """Refuse a literal key that could be taken for a path to elsewhere.

    Raises:
        Refusal: SIGNING_INVALID (FailedToDecodeURISegment).
    """
    segments = key.split("/")
    for segment in segments:
        _check_segment(segment, what=what)
    if not all(segments[:-1]):
        raise invalid("FailedToDecodeURISegment", f"the {what} has an empty segment")


def decode_query(query: str) -> tuple[tuple[str, str], ...]:
    """The parameters of a raw query, decoded once.

    Raises:
        Refusal: SIGNING_INVALID: FailedToDecodeURISegment, also for "+" and ";", which some servers read as a space and a
            separator; RepeatedParameter for two of one name.
    """
    if not _QUERY_CHARACTERS.match(query):
        raise invalid("FailedToDecodeURISegment", "the query holds a character that must be percent-encoded")
    parameters: dict[str, str] = {}
    for part in query.split("&") if query else ():
        name, _, value = (_decode(text, what="query") for text in part.partition("="))
        if name in parameters:
            cause = "RepeatedListParameter" if name in LIST_PARAMETERS else "RepeatedParameter"
            raise invalid(cause, f"the query parameter {name[:50]!a} stands twice")
        parameters[name] = value
    return tuple(parameters.items())


LIST_PARAMETERS: Final = frozenset(
    {
        "list-type",
        "prefix",
        "continuation-token",
        "delimiter",
        "encoding-type",
        "fetch-owner",
        "max-keys",
        "start-after",
        "x-id",
    }
)


def _canonical_authority(scheme: str, authority: str) -> str:
    parts = _AUTHORITY.match(authority)
    if parts is None:
        raise invalid("UriNoHost", "the URI's authority is not a host and a port")
    host, port = parts[1].lower(), parts[2]
    return host if port is None or port == _PORTS[scheme] else f"{host}:{port}"


def _bucket_in_path(authority: str, profile: S3Profile) -> bool:
    bases = _authorities(profile)
    style = profile.remote_signing_url_style
    virtual = {f"{profile.bucket}.{base}" for base in bases | _accelerated(profile)}
    if style is not UrlStyle.PATH and authority in virtual:
        return False
    if style is UrlStyle.VIRTUAL_HOST:
        raise invalid("InvalidHostStyleURL", f"the host {authority} is not the warehouse's bucket at its endpoint")
    if authority in bases:
        return True
    raise invalid("UriNotS3", f"the host {authority} is not the warehouse's")


def _authorities(profile: S3Profile) -> frozenset[str]:
    if profile.endpoint is not None:
        return frozenset({urls.authority(profile.endpoint)})
    region = profile.region.lower()
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    named = {
        f"s3.{region}.{suffix}",
        f"s3-{region}.{suffix}",
        f"s3.dualstack.{region}.{suffix}",
        f"s3-fips.{region}.{suffix}",
        f"s3-fips.dualstack.{region}.{suffix}",
    }
    return frozenset(named | {f"s3.{suffix}"})


def _accelerated(profile: S3Profile) -> frozenset[str]:
    if profile.endpoint is not None:
        return frozenset()
    return frozenset({"s3-accelerate.amazonaws.com", "s3-accelerate.dualstack.amazonaws.com"})


def _decode_segment(segment: str, *, what: str) -> str:
    decoded = _decode(segment, what=what)
    _check_segment(decoded, what=what)
    return decoded


def _decode(text: str, *, what: str) -> str:
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError as error:
        raise invalid("FailedToDecodeURISegment", f"the {what} is not UTF-8 once decoded") from error


def _check_segment(segment: str, *, what: str) -> None:
    if "/" in segment or _CONTROL.search(segment):
        raise invalid("FailedToDecodeURISegment", f"the {what} has an encoded slash or control character")
    # A key may hold percent-escapes of its own (Iceberg writes partition values so), as long as no number of decodings
    # turns it into a step up.
    seen = segment
    for _ in range(_MAX_DECODINGS):
        if _DOTS & set(seen.replace("\\", "/").split("/")):
            raise invalid("FailedToDecodeURISegment", f"the {what} has a dot segment")
        if not _ESCAPE.search(seen):
            return
        seen = unquote_to_bytes(seen).decode(errors="replace")
    raise invalid("FailedToDecodeURISegment", f"the {what} is escaped again and again")
