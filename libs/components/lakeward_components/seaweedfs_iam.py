"""Who may do what in our SeaweedFS: the document it reads at start."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from lakeward_components.sigv4 import Key

_ACCOUNT: Final = "000000000000"  # SeaweedFS knows no other
ROLE_ARN: Final = f"arn:aws:iam::{_ACCOUNT}:role/lakehouse"
_ADMIN: Final = "admin"
_STS_ONLY: Final = "stsonly"


@dataclass(frozen=True, slots=True)
class Grants:
    """The keys, and the bucket that the role covers.

    Attributes:
        admin: may do everything.
        sts_only: may only assume the role.
        signing_key: of session tokens: base64 of 32 bytes.
        bucket: all that a session of the role can reach.
    """

    admin: Key
    sts_only: Key
    signing_key: str = field(repr=False)
    bucket: str

    def remembered(self) -> dict[str, str]:
        """The secrets by name, to be kept: sessions and settings outlive a restart."""
        return {
            "admin_access_key": self.admin.access_key,
            "admin_secret_key": self.admin.secret_key,
            "sts_access_key": self.sts_only.access_key,
            "sts_secret_key": self.sts_only.secret_key,
            "signing_key": self.signing_key,
        }

    def document(self) -> str:
        """What `-s3.config` and `-s3.iam.config` both read."""
        document: dict[str, Any] = {
            "identities": [
                _identity(_ADMIN, self.admin, actions=["Admin"]),
                _identity(_STS_ONLY, self.sts_only, actions=[]),
            ],
            "sts": {
                "tokenDuration": "1h",
                "maxSessionLength": "12h",
                "issuer": "seaweedfs-sts",
                "signingKey": self.signing_key,
            },
            "policy": {"defaultEffect": "Deny", "storeType": "memory"},
            "roles": [
                {
                    "roleName": "lakehouse",
                    "roleArn": ROLE_ARN,
                    "trustPolicy": _policy(
                        {
                            "Effect": "Allow",
                            "Principal": {
                                "AWS": [f"arn:aws:iam::{_ACCOUNT}:user/{name}" for name in (_ADMIN, _STS_ONLY)]
                            },
                            "Action": ["sts:AssumeRole"],
                        }
                    ),
                    "attachedPolicies": ["OneBucket"],
                }
            ],
            "policies": [
                {
                    "name": "OneBucket",
                    "document": _policy(
                        {
                            "Effect": "Allow",
                            "Action": ["s3:*"],
                            "Resource": [f"arn:aws:s3:::{self.bucket}", f"arn:aws:s3:::{self.bucket}/*"],
                        }
                    ),
                }
            ],
        }
        return json.dumps(document, indent=1)


def grants(remembered: Mapping[str, str | int], *, bucket: str) -> Grants:
    """The keys of the last run, or fresh ones in place of those that are missing.

    Args:
        remembered: what `Grants.remembered` gave.
        bucket: all that a session of the role can reach.
    """
    fresh_signing_key = base64.b64encode(secrets.token_bytes(32)).decode("ascii")
    return Grants(
        admin=_key(remembered, "admin"),
        sts_only=_key(remembered, "sts"),
        signing_key=str(remembered.get("signing_key") or fresh_signing_key),
        bucket=bucket,
    )


def _key(remembered: Mapping[str, str | int], role: str) -> Key:
    access_key = remembered.get(f"{role}_access_key") or f"{role}{secrets.token_hex(8)}"
    return Key(str(access_key), str(remembered.get(f"{role}_secret_key") or secrets.token_urlsafe(30)))


def _identity(name: str, key: Key, *, actions: list[str]) -> dict[str, Any]:
    credentials = [{"accessKey": key.access_key, "secretKey": key.secret_key}]
    return {"name": name, "credentials": credentials, "actions": actions}


def _policy(statement: dict[str, Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": [statement]}
