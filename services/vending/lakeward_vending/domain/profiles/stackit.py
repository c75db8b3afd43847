"""STACKIT Object Storage: an S3 with fewer knobs and its own word for a role."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, ClassVar, Final, Self

from lakeward_locations import Layout, Location
from lakeward_vending.domain.documents import invalid
from lakeward_vending.domain.profiles import rules, urls
from lakeward_vending.domain.profiles.s3 import (
    DEFAULT_VALIDITY,
    MAX_PREFIX,
    OTHER_VALIDITY,
    Flavor,
    S3Profile,
    UrlStyle,
)

if TYPE_CHECKING:
    from lakeward_vending.domain.documents import Members

_REGION: Final = re.compile(r"[a-z0-9-]+\Z")
_GROUP: Final = re.compile(r"urn:sgws:identity::[0-9]+:group/[A-Za-z0-9._-]+\Z")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StackitProfile(rules.Plain):
    """A profile of type `stackit` in its normal form; the fields are those of the public API."""

    type_name: ClassVar[str] = "stackit"
    credential_family: ClassVar[str] = "stackit"
    schemes: ClassVar[tuple[str, ...]] = ("s3",)
    needs_credential: ClassVar[bool] = False

    bucket: str
    region: str
    key_prefix: str | None = None
    endpoint: str | None = None
    sts_enabled: bool = True
    credentials_group_urn: str | None = None
    sts_token_validity_seconds: int = DEFAULT_VALIDITY
    remote_signing_enabled: bool = True
    push_s3_delete_disabled: bool = True
    layout: Layout = dataclasses.field(default_factory=Layout)

    @classmethod
    def parse(cls, members: Members, *, replaces: StackitProfile | None = None) -> Self:
        """Read a profile; a layout that is left out is kept.

        Raises:
            Refusal: MALFORMED_DOCUMENT, or INVALID_STORAGE_PROFILE with the field.
        """
        bucket = rules.bucket(members.required_text("bucket"))
        if "." in bucket:
            raise invalid("bucket", bucket, "without dots: it becomes a label of the endpoint's host")
        region = members.required_text("region")
        if not _REGION.match(region):
            raise invalid("region", region, "of a-z, 0-9 and '-', as in eu01")
        endpoint = members.filled_text("endpoint")
        sts, signing = members.flag("sts-enabled"), members.flag("remote-signing-enabled")
        push, validity = members.flag("push-s3-delete-disabled"), members.whole_number("sts-token-validity-seconds")
        low, high = OTHER_VALIDITY
        rules.seconds(validity, field="sts-token-validity-seconds", low=low, high=high)
        profile = cls(
            bucket=bucket,
            region=region,
            key_prefix=rules.key_prefix(members.text("key-prefix"), field="key_prefix", limit=MAX_PREFIX),
            endpoint=endpoint and urls.endpoint(endpoint, field="S3Endpoint", with_path=False),
            sts_enabled=True if sts is None else sts,
            credentials_group_urn=_group(members.filled_text("credentials-group-urn")),
            sts_token_validity_seconds=DEFAULT_VALIDITY if validity is None else validity,
            remote_signing_enabled=True if signing is None else signing,
            push_s3_delete_disabled=True if push is None else push,
            layout=rules.layout(members, kept=replaces.layout if replaces else None),
        )
        if profile.sts_enabled and profile.credentials_group_urn is None:
            raise invalid("credentials-group-urn", None, "given where sts-enabled is true")
        if not profile.sts_enabled and not profile.remote_signing_enabled:
            raise invalid(
                "remote-signing-enabled", "false", "true where sts-enabled is false, or clients get no access"
            )
        return profile

    def check_replaces(self, old: StackitProfile) -> None:
        """Refuse a change of what is fixed; another endpoint is another tenant's. Raises Refusal STORAGE_PROFILE_IMMUTABLE."""
        rules.check_fixed(old, self, "bucket", "region", "key_prefix")
        rules.immutable("endpoint", old.as_s3().endpoint, self.as_s3().endpoint)

    @property
    def base(self) -> Location:
        """Where the warehouse lies."""
        return self.as_s3().base

    @property
    def place(self) -> str:
        """The store, as an S3 profile of the same endpoint names it."""
        return self.as_s3().place

    def urls(self) -> tuple[str, ...]:
        """The URLs that the server is going to call."""
        return self.as_s3().urls()

    def as_s3(self) -> S3Profile:
        """The S3 profile that does all the work."""
        return S3Profile(
            bucket=self.bucket,
            region=self.region,
            key_prefix=self.key_prefix,
            endpoint=self.endpoint or f"https://object.storage.{self.region}.onstackit.cloud",
            path_style_access=False,
            sts_enabled=self.sts_enabled,
            sts_role_arn=self.credentials_group_urn,
            sts_token_validity_seconds=self.sts_token_validity_seconds,
            flavor=Flavor.COMPATIBLE,
            remote_signing_enabled=self.remote_signing_enabled,
            remote_signing_url_style=UrlStyle.VIRTUAL_HOST,
            push_s3_delete_disabled=self.push_s3_delete_disabled,
            layout=self.layout,
        )

    def document(self) -> dict[str, object]:
        """The profile in the public API's form."""
        return rules.without_nothing(
            {
                "type": self.type_name,
                "bucket": self.bucket,
                "region": self.region,
                "key-prefix": self.key_prefix,
                "endpoint": self.endpoint,
                "sts-enabled": self.sts_enabled,
                "credentials-group-urn": self.credentials_group_urn,
                "sts-token-validity-seconds": self.sts_token_validity_seconds,
                "remote-signing-enabled": self.remote_signing_enabled,
                "push-s3-delete-disabled": self.push_s3_delete_disabled,
                "storage-layout": self.layout.document(),
            }
        )


def _group(text: str | None) -> str | None:
    if text is not None and not _GROUP.match(text):
        hint = " (an AWS ARN names nothing there)" if text.startswith("arn:") else ""
        raise invalid("credentials-group-urn", text, f"urn:sgws:identity::<digits>:group/<id>{hint}")
    return text


def as_s3(profile: object) -> S3Profile:
    """The profile of a store that speaks S3, whatever its type.

    Raises:
        TypeError: another store's, which no bootstrap gives to S3.
    """
    if isinstance(profile, S3Profile):
        return profile
    if isinstance(profile, StackitProfile):
        return profile.as_s3()
    raise TypeError(f"{type(profile).__name__} is no profile of a store that speaks S3")
