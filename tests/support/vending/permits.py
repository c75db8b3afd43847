"""Permits and storage for tests of vending."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from lakeward_locations import Location
from lakeward_vending.domain import credentials
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.credentials import Credential
from lakeward_vending.domain.permit import Permit, Purpose, profile_beside
from lakeward_vending.domain.profiles import profile as profiles

WAREHOUSE = UUID(int=0xA)
SECRET = UUID(int=0x5EC)
PROFILE: dict[str, Any] = {
    "type": "s3",
    "bucket": "lake",
    "region": "eu",
    "key-prefix": "wh",
    "endpoint": "http://store:9000",
    "flavor": "s3-compat",
    "sts-enabled": True,
}
TABLE = Location.parse("s3://lake/wh/t1")
KEY: dict[str, Any] = {
    "type": "s3",
    "credential-type": "access-key",
    "access-key-id": "AK",
    "secret-access-key": "hush",
}


def profile_text(**changes: object) -> bytes:
    return json.dumps(PROFILE | {key.replace("_", "-"): value for key, value in changes.items()}).encode()


def credential(**changes: object) -> Credential:
    return credentials.parse(
        json.dumps(KEY | {key.replace("_", "-"): value for key, value in changes.items()}).encode()
    )


def permit(purpose_: Purpose, profile: bytes | None = None, **changes: Any) -> Permit:
    text = profile_text() if profile is None else profile
    arguments: dict[str, Any] = {
        "warehouse_id": WAREHOUSE,
        "incarnation": UUID(int=0xB),
        "location": TABLE,
        "access": Access.READ_WRITE_DELETE,
        "purpose": purpose_,
        "principal": "oidc~alice",
        "secret_id": SECRET,
        "profile_digest": profiles.digest(text),
    }
    arguments |= changes
    beside = profile_beside(text, digest=arguments["profile_digest"], location=arguments["location"])
    return Permit(profile=beside, **arguments)
