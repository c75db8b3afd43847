"""Azure Data Lake Storage Gen2."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, ClassVar, Final, Self

from lakeward_locations import Layout, Location
from lakeward_vending.domain.documents import invalid
from lakeward_vending.domain.profiles import rules, urls

if TYPE_CHECKING:
    from lakeward_vending.domain.documents import Members

DEFAULT_AUTHORITY: Final = "https://login.microsoftonline.com"
DEFAULT_HOST: Final = "dfs.core.windows.net"
DEFAULT_VALIDITY: Final = 3600
MAX_VALIDITY: Final = 604_800
MAX_PREFIX: Final = 512

_FILESYSTEM: Final = re.compile(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]\Z")
_ACCOUNT: Final = re.compile(r"[a-z0-9]{3,24}\Z")
_HOST: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\Z")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AdlsProfile(rules.Plain):
    """A profile of type `adls` in its normal form; the fields are those of the public API."""

    type_name: ClassVar[str] = "adls"
    credential_family: ClassVar[str] = "az"
    place: ClassVar[str] = "azure"  # the account stands in the location

    filesystem: str
    account_name: str
    key_prefix: str | None = None
    authority_host: str = DEFAULT_AUTHORITY
    host: str = DEFAULT_HOST
    sas_token_validity_seconds: int = DEFAULT_VALIDITY
    sas_enabled: bool = True
    allow_alternative_protocols: bool = False
    layout: Layout = dataclasses.field(default_factory=Layout)

    @classmethod
    def parse(cls, members: Members, *, replaces: AdlsProfile | None = None) -> Self:
        """Read a profile; the layout and a true alternative protocol are kept where they are left out.

        Raises:
            Refusal: MALFORMED_DOCUMENT, or INVALID_STORAGE_PROFILE with the field.
        """
        filesystem = members.required_text("filesystem")
        if not _FILESYSTEM.match(filesystem) or "--" in filesystem:
            raise invalid("filesystem", filesystem, "3 to 63 of a-z, 0-9 and '-', without '--' and outer dashes")
        account = members.required_text("account-name")
        if not _ACCOUNT.match(account):
            raise invalid("account_name", account, "3 to 24 of a-z and 0-9")
        host = (members.filled_text("host") or DEFAULT_HOST).lower()
        if not _HOST.match(host) or ".." in host:
            raise invalid("host", host, "a host name, as in dfs.core.windows.net")
        authority = members.filled_text("authority-host")
        validity, sas = members.whole_number("sas-token-validity-seconds"), members.flag("sas-enabled")
        rules.seconds(validity, field="sas-token-validity-seconds", low=1, high=MAX_VALIDITY)
        alternative = members.flag("allow-alternative-protocols")
        kept = bool(replaces and replaces.allow_alternative_protocols)
        return cls(
            filesystem=filesystem,
            account_name=account,
            key_prefix=rules.key_prefix(members.text("key-prefix"), field="key-prefix", limit=MAX_PREFIX),
            authority_host=urls.endpoint(authority or DEFAULT_AUTHORITY, field="authority-host", with_path=True),
            host=host,
            sas_token_validity_seconds=DEFAULT_VALIDITY if validity is None else validity,
            sas_enabled=True if sas is None else sas,
            allow_alternative_protocols=kept if alternative is None else alternative,
            layout=rules.layout(members, kept=replaces.layout if replaces else None),
        )

    def check_replaces(self, old: AdlsProfile) -> None:
        """Refuse a change of what is fixed. Raises Refusal STORAGE_PROFILE_IMMUTABLE."""
        rules.check_fixed(old, self, "filesystem", "account_name", "key_prefix", "authority_host", "host")

    @property
    def base(self) -> Location:
        """Where the warehouse lies."""
        tail = (self.key_prefix,) if self.key_prefix else ()
        return Location.parse("/".join((f"abfss://{self.filesystem}@{self.account_name}.{self.host}", *tail)))

    @property
    def schemes(self) -> tuple[str, ...]:
        """Schemes in which locations may be written; the first is ours."""
        return ("abfss", "wasbs") if self.allow_alternative_protocols else ("abfss",)

    def document(self) -> dict[str, object]:
        """The profile in the public API's form."""
        return rules.without_nothing(
            {
                "type": self.type_name,
                "filesystem": self.filesystem,
                "account-name": self.account_name,
                "key-prefix": self.key_prefix,
                "authority-host": self.authority_host,
                "host": self.host,
                "sas-token-validity-seconds": self.sas_token_validity_seconds,
                "sas-enabled": self.sas_enabled,
                "allow-alternative-protocols": self.allow_alternative_protocols,
                "storage-layout": self.layout.document(),
            }
        )

    def urls(self) -> tuple[str, ...]:
        """The URLs that a user gave, which the server is going to call."""
        return (self.authority_host, f"https://{self.account_name}.{self.host}")
