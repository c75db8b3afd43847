"""Google Cloud Storage."""

from __future__ import annotations

import dataclasses
import ipaddress
from typing import TYPE_CHECKING, ClassVar, Final, Self

from lakeward_locations import Layout, Location
from lakeward_vending.domain.documents import invalid
from lakeward_vending.domain.profiles import rules

if TYPE_CHECKING:
    from lakeward_vending.domain.documents import Members

MAX_PREFIX: Final = 896
_RESERVED: Final = ".well-known/acme-challenge/"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GcsProfile(rules.Plain):
    """A profile of type `gcs` in its normal form; the fields are those of the public API."""

    type_name: ClassVar[str] = "gcs"
    credential_family: ClassVar[str] = "gcs"
    place: ClassVar[str] = "gcs"  # bucket names are given once in the world
    schemes: ClassVar[tuple[str, ...]] = ("gs",)

    bucket: str
    key_prefix: str | None = None
    sts_enabled: bool = True
    layout: Layout = dataclasses.field(default_factory=Layout)

    @classmethod
    def parse(cls, members: Members, *, replaces: GcsProfile | None = None) -> Self:
        """Read a profile; a layout that is left out is kept.

        Raises:
            Refusal: MALFORMED_DOCUMENT, or INVALID_STORAGE_PROFILE with the field.
        """
        bucket = rules.bucket(members.required_text("bucket"), field="bucket_name")
        if bucket.startswith("goog") or _is_address(bucket):
            raise invalid("bucket_name", bucket, "no IPv4 address, and without 'goog' at its start")
        prefix = rules.key_prefix(members.text("key-prefix"), field="key_prefix", limit=MAX_PREFIX)
        if f"{prefix}/".startswith(_RESERVED):
            raise invalid("key_prefix", prefix, f"outside {_RESERVED}")
        sts = members.flag("sts-enabled")
        return cls(
            bucket=bucket,
            key_prefix=prefix,
            sts_enabled=True if sts is None else sts,
            layout=rules.layout(members, kept=replaces.layout if replaces else None),
        )

    def check_replaces(self, old: GcsProfile) -> None:
        """Refuse a change of what is fixed. Raises Refusal STORAGE_PROFILE_IMMUTABLE."""
        rules.check_fixed(old, self, "bucket", "key_prefix")

    @property
    def base(self) -> Location:
        """Where the warehouse lies."""
        return Location.parse("/".join(("gs:/", self.bucket, *((self.key_prefix,) if self.key_prefix else ()))))

    def document(self) -> dict[str, object]:
        """The profile in the public API's form."""
        return rules.without_nothing(
            {
                "type": self.type_name,
                "bucket": self.bucket,
                "key-prefix": self.key_prefix,
                "sts-enabled": self.sts_enabled,
                "storage-layout": self.layout.document(),
            }
        )

    def urls(self) -> tuple[str, ...]:
        """The URLs that a user gave, which the server is going to call: none."""
        return ()


def _is_address(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True
