"""Microsoft Fabric's OneLake, which speaks the protocol of ADLS."""

from __future__ import annotations

import dataclasses
import enum
import re
from typing import TYPE_CHECKING, ClassVar, Final, Self
from uuid import UUID

from lakeward_locations import Layout, LayoutKind, Location
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.domain.credentials import CredentialKind
from lakeward_vending.domain.documents import Members, invalid
from lakeward_vending.domain.profiles import rules, urls
from lakeward_vending.domain.profiles.adls import DEFAULT_AUTHORITY, DEFAULT_VALIDITY, MAX_PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_VALIDITY: Final = 3600
FOLDERS: Final = ("Files", "Tables")

_REGION: Final = re.compile(r"[a-z][a-z0-9]*\Z")


class EndpointMode(enum.StrEnum):
    """Which of OneLake's hosts serves."""

    DEFAULT = "default"
    REGIONAL = "regional"
    PRIVATE_LINK = "workspace-private-link"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OneLakeProfile(rules.Plain):
    """A profile of type `onelake` in its normal form; the fields are those of the public API."""

    type_name: ClassVar[str] = "onelake"
    credential_family: ClassVar[str] = "az"
    place: ClassVar[str] = "azure"  # the account stands in the location
    schemes: ClassVar[tuple[str, ...]] = ("abfss",)

    workspace_id: UUID
    lakehouse_id: UUID
    top_level_folder: str = FOLDERS[0]
    directory_rel_path: str | None = None
    endpoint_mode: EndpointMode = EndpointMode.DEFAULT
    region: str | None = None
    sas_token_validity_seconds: int = DEFAULT_VALIDITY
    sas_enabled: bool = True
    authority_host: str = DEFAULT_AUTHORITY
    layout: Layout = dataclasses.field(default_factory=Layout)

    @classmethod
    def parse(cls, members: Members, *, replaces: OneLakeProfile | None = None) -> Self:
        """Read a profile.

        Raises:
            Refusal: MALFORMED_DOCUMENT, or INVALID_STORAGE_PROFILE with the field.
        """
        folder = members.filled_text("top-level-folder") or FOLDERS[0]
        if folder not in FOLDERS:
            raise invalid("top-level-folder", folder, f"one of {', '.join(FOLDERS)}")
        mode, region = _endpoint_mode(members)
        validity, sas = members.whole_number("sas-token-validity-seconds"), members.flag("sas-enabled")
        rules.seconds(validity, field="sas-token-validity-seconds", low=1, high=MAX_VALIDITY)
        layout = rules.layout(members, kept=replaces.layout if replaces else None)
        if layout.kind is not LayoutKind.DEFAULT:
            raise invalid("storage-layout", layout.kind, "default for OneLake")
        path = rules.key_prefix(members.text("directory-rel-path"), field="directory-rel-path", limit=MAX_PREFIX)
        if path and "%" in path:
            raise invalid("directory-rel-path", path, "without '%': the service decodes it, which breaks signatures")
        authority = members.filled_text("authority-host") or DEFAULT_AUTHORITY
        return cls(
            workspace_id=_uuid(members, "workspace-id"),
            lakehouse_id=_uuid(members, "lakehouse-id"),
            top_level_folder=folder,
            directory_rel_path=path,
            endpoint_mode=mode,
            region=region,
            sas_token_validity_seconds=DEFAULT_VALIDITY if validity is None else validity,
            sas_enabled=True if sas is None else sas,
            authority_host=urls.endpoint(authority, field="authority-host", with_path=True),
            layout=layout,
        )

    def normalised(self, credential: CredentialKind | None) -> Self:
        """The profile as it is; account keys are refused, since the service knows none.

        Raises:
            Refusal: INVALID_STORAGE_PROFILE.
        """
        if credential is CredentialKind.AZURE_SHARED_KEY:
            raise invalid("credential", credential, "client-credentials or azure-system-identity for OneLake")
        return self

    def check_replaces(self, old: OneLakeProfile) -> None:
        """Refuse a change of what is fixed. Raises Refusal STORAGE_PROFILE_IMMUTABLE."""
        rules.immutable("workspace-id", str(old.workspace_id), str(self.workspace_id))
        rules.immutable("lakehouse-id", str(old.lakehouse_id), str(self.lakehouse_id))
        rules.check_fixed(old, self, "top_level_folder", "directory_rel_path")
        rules.immutable("endpoint-mode", (old.endpoint_mode.value, old.region), (self.endpoint_mode.value, self.region))

    @property
    def account(self) -> str:
        """The account's label in the host."""
        if self.endpoint_mode is EndpointMode.PRIVATE_LINK:
            return self.workspace_id.hex
        return "onelake" if self.region is None else f"{self.region}-onelake"

    @property
    def host(self) -> str:
        """The host's suffix."""
        suffix = "dfs.fabric.microsoft.com"
        return f"z{self.workspace_id.hex[:2]}.{suffix}" if self.endpoint_mode is EndpointMode.PRIVATE_LINK else suffix

    @property
    def base(self) -> Location:
        """Where the warehouse lies."""
        tail = (self.directory_rel_path,) if self.directory_rel_path else ()
        head = f"abfss://{self.workspace_id.hex}@{self.account}.{self.host}"
        return Location.parse("/".join((head, str(self.lakehouse_id), self.top_level_folder, *tail)))

    def document(self) -> dict[str, object]:
        """The profile in the public API's form."""
        mode: dict[str, object] = {"type": self.endpoint_mode.value}
        if self.region is not None:
            mode["region"] = self.region
        return rules.without_nothing(
            {
                "type": self.type_name,
                "workspace-id": str(self.workspace_id),
                "lakehouse-id": str(self.lakehouse_id),
                "top-level-folder": self.top_level_folder,
                "directory-rel-path": self.directory_rel_path,
                "endpoint-mode": mode,
                "sas-token-validity-seconds": self.sas_token_validity_seconds,
                "sas-enabled": self.sas_enabled,
                "authority-host": self.authority_host,
                "storage-layout": self.layout.document(),
            }
        )

    def urls(self) -> tuple[str, ...]:
        """The URLs that a user gave, which the server is going to call."""
        return (self.authority_host,)


def _uuid(members: Members, key: str) -> UUID:
    text = members.required_text(key)
    try:
        return UUID(text)
    except ValueError as error:
        raise Refusal(
            Reason.REASON_MALFORMED_DOCUMENT,
            f"{members.path}.{key} is {text[:64]!r}; it must be a UUID",
            path=f"{members.path}.{key}",
        ) from error


def _endpoint_mode(members: Members) -> tuple[EndpointMode, str | None]:
    raw: object = members.raw("endpoint-mode")
    if raw is None:
        return EndpointMode.DEFAULT, None
    document: Mapping[str, object] = {"type": raw} if isinstance(raw, str) else raw if isinstance(raw, dict) else {}
    mode = Members(document, path=f"{members.path}.endpoint-mode")
    name = mode.required_text("type")
    if name not in {each.value for each in EndpointMode}:
        raise invalid("endpoint-mode", name, f"one of {', '.join(EndpointMode)}")
    if EndpointMode(name) is not EndpointMode.REGIONAL:
        return EndpointMode(name), None
    region = mode.required_text("region").lower()
    if not _REGION.match(region):
        raise invalid("endpoint-mode", region, "regional with a region such as westus")
    return EndpointMode.REGIONAL, region
