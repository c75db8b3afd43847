"""Whether a warehouse may use the identity of the process that serves it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.domain.credentials import CredentialKind

if TYPE_CHECKING:
    from lakeward_vending.domain.credentials import Credential
    from lakeward_vending.domain.profiles.s3 import S3Profile


@dataclasses.dataclass(frozen=True, slots=True)
class SystemIdentityRules:
    """What the operator allows.

    Attributes:
        aws: warehouses may use the process's AWS identity.
        aws_direct: also without assuming a role.
        aws_external_id_required: an external id goes with a role.
    """

    aws: bool = False
    aws_direct: bool = False
    aws_external_id_required: bool = True

    def check(self, profile: S3Profile, credential: Credential | None) -> None:
        """Refuse a system identity that is not allowed, or lacks what must go with it.

        Raises:
            Refusal: STORAGE_MISCONFIGURED with the setting that would allow it.
        """
        if credential is None or credential.kind is not CredentialKind.S3_SYSTEM_IDENTITY:
            return
        if not self.aws:
            raise _misconfigured("ENABLE_AWS_SYSTEM_CREDENTIALS", "the server's own AWS identity is not for warehouses")
        if profile.assume_role_arn is None and not self.aws_direct:
            raise _misconfigured(
                "S3_ENABLE_DIRECT_SYSTEM_CREDENTIALS",
                "the server's own AWS identity is used by assuming a role; give the profile an assume-role-arn",
            )
        if (
            profile.role_to_vend is not None
            and self.aws_external_id_required
            and credential.text("external-id") is None
        ):
            raise _misconfigured(
                "S3_REQUIRE_EXTERNAL_ID_FOR_SYSTEM_CREDENTIALS",
                "a role that the server's own AWS identity assumes needs an external-id in the credential",
            )


def _misconfigured(name: str, message: str) -> Refusal:
    setting = f"LAKEKEEPER__{name}"
    return Refusal(Reason.REASON_STORAGE_MISCONFIGURED, f"{message} (or change {setting})", setting=setting)
