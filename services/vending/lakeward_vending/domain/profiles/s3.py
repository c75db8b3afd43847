"""S3 and stores that speak its protocol."""

from __future__ import annotations

import dataclasses
import enum
import re
from typing import TYPE_CHECKING, ClassVar, Final, Self, TypeVar

from lakeward_locations import Layout, Location
from lakeward_vending.domain.credentials import CredentialKind
from lakeward_vending.domain.delegation import Offer
from lakeward_vending.domain.documents import invalid
from lakeward_vending.domain.profiles import rules, urls

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lakeward_vending.domain.documents import Members

Word = TypeVar("Word")

DEFAULT_VALIDITY: Final = 3600
AWS_VALIDITY: Final = (900, 43_200)
OTHER_VALIDITY: Final = (60, 604_800)
MAX_PREFIX: Final = 896
MAX_REGION: Final = 128
MAX_TAGS: Final = 50

_REGION_IN_A_HOST: Final = re.compile(r"[A-Za-z0-9-]+\Z")
_AWS_HOST: Final = re.compile(r"(?:.*\.)?s3[a-z0-9.-]*\.amazonaws\.com(?:\.cn)?\Z")
_TAG: Final = re.compile(r"[\w .:/=+@-]*\Z")
_ALWAYS_VENDING: Final = frozenset({CredentialKind.S3_CLOUDFLARE_R2, CredentialKind.S3_ALIYUN_OSS})


class Flavor(enum.StrEnum):
    """Who runs the store: it decides what STS needs."""

    AWS = "aws"
    COMPATIBLE = "s3-compat"


class UrlStyle(enum.StrEnum):
    """Where a request's bucket stands, for remote signing."""

    PATH = "path"
    VIRTUAL_HOST = "virtual_host"
    AUTO = "auto"


_FLAVORS: Final = {"aws": Flavor.AWS, "s3-compat": Flavor.COMPATIBLE, "minio": Flavor.COMPATIBLE}
_URL_STYLES: Final = {
    "path": UrlStyle.PATH,
    "path-style": UrlStyle.PATH,
    "virtual_host": UrlStyle.VIRTUAL_HOST,
    "virtual-host": UrlStyle.VIRTUAL_HOST,
    "auto": UrlStyle.AUTO,
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class S3Profile(rules.Plain):
    """A profile of type `s3` in its normal form; the fields are those of the public API.

    Attributes:
        endpoint: None for AWS's own, by region.
        sts_token_validity_seconds: how long a vended credential is asked to live.
    """

    type_name: ClassVar[str] = "s3"
    credential_family: ClassVar[str] = "s3"
    needs_credential: ClassVar[bool] = False

    bucket: str
    region: str
    key_prefix: str | None = None
    endpoint: str | None = None
    path_style_access: bool | None = None
    assume_role_arn: str | None = None
    sts_enabled: bool
    sts_role_arn: str | None = None
    sts_endpoint: str | None = None
    sts_token_validity_seconds: int = DEFAULT_VALIDITY
    sts_session_tags: Mapping[str, str] = dataclasses.field(default_factory=dict)
    flavor: Flavor = Flavor.AWS
    allow_alternative_protocols: bool = False
    remote_signing_enabled: bool = True
    remote_signing_url_style: UrlStyle = UrlStyle.AUTO
    push_s3_delete_disabled: bool = True
    aws_kms_key_arn: str | None = None
    legacy_md5_behavior: bool | None = None
    layout: Layout = dataclasses.field(default_factory=Layout)

    @classmethod
    def parse(cls, members: Members, *, replaces: S3Profile | None = None) -> Self:
        """Read a profile; the layout and a true alternative protocol of `replaces` are kept where they are left out.

        Raises:
            Refusal: MALFORMED_DOCUMENT, or INVALID_STORAGE_PROFILE with the field.
        """
        bucket = rules.bucket(members.required_text("bucket"))
        region = members.required_text("region")
        if not region or len(region.encode()) > MAX_REGION or not region.isprintable():
            raise invalid("region", region, f"1 to {MAX_REGION} printable bytes")
        endpoint = _endpoint(members.filled_text("endpoint"), bucket=bucket)
        if endpoint is None and not _REGION_IN_A_HOST.match(region):
            raise invalid(
                "region", region, "letters, digits and dashes where no endpoint is given, since it names a host"
            )
        sts_endpoint = members.filled_text("sts-endpoint")
        alternative = members.flag("allow-alternative-protocols")
        signing, push = members.flag("remote-signing-enabled"), members.flag("push-s3-delete-disabled")
        validity = members.whole_number("sts-token-validity-seconds")
        return cls(
            bucket=bucket,
            region=region,
            key_prefix=rules.key_prefix(members.text("key-prefix"), field="key_prefix", limit=MAX_PREFIX),
            endpoint=endpoint,
            path_style_access=members.flag("path-style-access"),
            assume_role_arn=rules.name(members.text("assume-role-arn"), field="assume-role-arn"),
            sts_enabled=members.required_flag("sts-enabled"),
            sts_role_arn=rules.name(members.text("sts-role-arn"), field="sts-role-arn"),
            sts_endpoint=sts_endpoint and urls.endpoint(sts_endpoint, field="StsEndpoint", with_path=True),
            sts_token_validity_seconds=DEFAULT_VALIDITY if validity is None else validity,
            sts_session_tags=_tags(members.texts_by_name("sts-session-tags")),
            flavor=_one_of(_FLAVORS, members.text("flavor"), field="flavor") or Flavor.AWS,
            allow_alternative_protocols=bool(replaces and replaces.allow_alternative_protocols)
            if alternative is None
            else alternative,
            remote_signing_enabled=True if signing is None else signing,
            remote_signing_url_style=_one_of(
                _URL_STYLES,
                members.text("remote-signing-url-style", "s3-url-detection-mode"),
                field="remote-signing-url-style",
            )
            or UrlStyle.AUTO,
            push_s3_delete_disabled=True if push is None else push,
            aws_kms_key_arn=rules.name(members.text("aws-kms-key-arn"), field="aws-kms-key-arn"),
            legacy_md5_behavior=members.flag("legacy-md5-behavior"),
            layout=rules.layout(members, kept=replaces.layout if replaces else None),
        )

    def normalised(self, credential: CredentialKind | None) -> Self:
        """What the profile becomes with a credential of this kind, after the rules that span fields.

        Raises:
            Refusal: INVALID_STORAGE_PROFILE.
        """
        profile = self
        if credential is CredentialKind.S3_CLOUDFLARE_R2:
            profile = self._as_r2()
        elif credential is CredentialKind.S3_ALIYUN_OSS:
            profile = self._as_oss()
        return profile.checked()

    def _as_r2(self) -> Self:
        if self.endpoint is None:
            raise invalid("endpoint", None, "given for Cloudflare R2, as https://<account>.r2.cloudflarestorage.com")
        return dataclasses.replace(
            self, assume_role_arn=None, sts_role_arn=None, sts_enabled=True, flavor=Flavor.COMPATIBLE
        )

    def _as_oss(self) -> Self:
        if self.endpoint is None:
            raise invalid("endpoint", None, "given for Alibaba OSS, as https://oss-<region>.aliyuncs.com")
        if self.path_style_access:
            raise invalid("path-style-access", "true", "false for Alibaba OSS, which serves virtual hosts alone")
        if self.role_to_vend is None:
            raise invalid("sts-role-arn", None, "given for Alibaba OSS, which vends by assuming it")
        return dataclasses.replace(self, sts_enabled=True, flavor=Flavor.COMPATIBLE)

    def checked(self) -> Self:
        """The profile, once the rules that span fields hold.

        Raises:
            Refusal: INVALID_STORAGE_PROFILE.
        """
        low, high = AWS_VALIDITY if self.flavor is Flavor.AWS else OTHER_VALIDITY
        rules.seconds(self.sts_token_validity_seconds, field="sts-token-validity-seconds", low=low, high=high)
        if self.sts_enabled and self.flavor is Flavor.AWS and self.role_to_vend is None:
            raise invalid("sts-role-arn", None, "given, or assume-role-arn, where sts-enabled is true on AWS")
        return self

    def check_replaces(self, old: S3Profile) -> None:
        """Refuse a change of what is fixed. Raises Refusal STORAGE_PROFILE_IMMUTABLE."""
        rules.check_fixed(old, self, "bucket", "key_prefix")
        if self.endpoint is None:
            rules.immutable("region", old.region, self.region)

    def offer(self, credential: CredentialKind | None) -> Offer:
        """What clients can get with a credential of this kind; None: with none."""
        if credential is None:
            return Offer(vends=False, signs=False)
        return Offer(vends=self.sts_enabled or credential in _ALWAYS_VENDING, signs=self.remote_signing_enabled)

    @property
    def role_to_vend(self) -> str | None:
        """The role that vended credentials are of."""
        return self.sts_role_arn or self.assume_role_arn

    @property
    def base(self) -> Location:
        """Where the warehouse lies."""
        return Location.parse("/".join(("s3:/", self.bucket, *((self.key_prefix,) if self.key_prefix else ()))))

    @property
    def place(self) -> str:
        """The store, in one spelling: profiles of one place with nested bases overlap.

        AWS gives a bucket's name once in the world, so the region does not matter there.
        """
        host = "aws" if self.endpoint is None else urls.authority(self.endpoint)
        if _AWS_HOST.match(host):
            host = "aws"
        return f"s3 {host}"

    @property
    def schemes(self) -> tuple[str, ...]:
        """Schemes in which locations may be written; the first is ours."""
        return ("s3", "s3a", "s3n") if self.allow_alternative_protocols else ("s3",)

    def document(self) -> dict[str, object]:
        """The profile in the public API's form, defaults written out and absent members left out."""
        return rules.without_nothing(
            {
                "type": self.type_name,
                "bucket": self.bucket,
                "region": self.region,
                "key-prefix": self.key_prefix,
                "endpoint": self.endpoint,
                "path-style-access": self.path_style_access,
                "assume-role-arn": self.assume_role_arn,
                "sts-enabled": self.sts_enabled,
                "sts-role-arn": self.sts_role_arn,
                "sts-endpoint": self.sts_endpoint,
                "sts-token-validity-seconds": self.sts_token_validity_seconds,
                "sts-session-tags": dict(self.sts_session_tags),
                "flavor": self.flavor.value,
                "allow-alternative-protocols": self.allow_alternative_protocols,
                "remote-signing-enabled": self.remote_signing_enabled,
                "remote-signing-url-style": self.remote_signing_url_style.value,
                "push-s3-delete-disabled": self.push_s3_delete_disabled,
                "aws-kms-key-arn": self.aws_kms_key_arn,
                "legacy-md5-behavior": self.legacy_md5_behavior,
                "storage-layout": self.layout.document(),
            }
        )

    def urls(self) -> tuple[str, ...]:
        """The URLs that a user gave, which the server is going to call."""
        return tuple(url for url in (self.endpoint, self.sts_endpoint) if url is not None)


def _endpoint(text: str | None, *, bucket: str) -> str | None:
    if text is None:
        return None
    # people paste the URL of their bucket, as consoles show it
    url = urls.endpoint(text, field="S3Endpoint", with_path=True).removesuffix(f"/{bucket}")
    return urls.endpoint(url, field="S3Endpoint", with_path=False)


def _tags(tags: Mapping[str, str]) -> Mapping[str, str]:
    if len(tags) > MAX_TAGS:
        raise invalid("sts_session_tags", len(tags), f"at most {MAX_TAGS} tags")
    for key, value in tags.items():
        if not 1 <= len(key) <= 128 or len(value) > 256 or not _TAG.match(key) or not _TAG.match(value):  # noqa: PLR2004 - STS's limits, said in the message
            raise invalid(
                "sts_session_tags", key, "keys of 1 to 128 and values of up to 256 of letters, digits, ' .:/=+@_-'"
            )
    return dict(sorted(tags.items()))


def _one_of(words: Mapping[str, Word], text: str | None, *, field: str) -> Word | None:
    if text is not None and text not in words:
        raise invalid(field, text, f"one of {', '.join(words)}")
    return None if text is None else words[text]
