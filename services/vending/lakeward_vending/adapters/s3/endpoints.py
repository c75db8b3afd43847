"""The URLs of an S3 profile."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from lakeward_vending.domain.s3.signing.target import UNRESERVED

if TYPE_CHECKING:
    from lakeward_vending.domain.profiles.s3 import S3Profile


def service_url(profile: S3Profile) -> str:
    """The endpoint, without a bucket."""
    return profile.endpoint or f"https://s3.{profile.region}.{_suffix(profile.region)}"


def is_virtual_host(profile: S3Profile) -> bool:
    """Whether requests name the bucket in the host.

    Custom endpoints are addressed by path unless the profile says otherwise: few have a wildcard name. On AWS a bucket with
    a dot would not match the certificate.
    """
    if profile.path_style_access is not None:
        return not profile.path_style_access
    return profile.endpoint is None and "." not in profile.bucket


def bucket_url(profile: S3Profile) -> str:
    """The bucket's own URL, without a trailing slash."""
    service = service_url(profile)
    if not is_virtual_host(profile):
        return f"{service}/{quote(profile.bucket, safe=UNRESERVED)}"
    parts = urlsplit(service)
    return f"{parts.scheme}://{profile.bucket}.{parts.netloc}"


def sts_url(profile: S3Profile) -> str:
    """Where AssumeRole is called."""
    return profile.sts_endpoint or profile.endpoint or f"https://sts.{profile.region}.{_suffix(profile.region)}"


def _suffix(region: str) -> str:
    return "amazonaws.com.cn" if region.lower().startswith("cn-") else "amazonaws.com"
