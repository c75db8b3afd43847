"""Tokens that look like service accounts', and what an API server says of them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Final

SPARK: Final = "system:serviceaccount:jobs:spark"
ACCEPTED: Final[Mapping[str, object]] = {
    "authenticated": True,
    "audiences": ["lake"],
    "user": {"uid": "u-1", "username": SPARK, "groups": ["system:serviceaccounts"]},
}


def service_token(**claims: object) -> str:
    """A token for the audience "lake" that nobody signed; `...` leaves a claim out."""
    every = {"iss": "https://cluster", "aud": ["lake"], "sub": SPARK, **claims}
    said = {name: value for name, value in every.items() if value is not ...}
    parts = [json.dumps({"alg": "RS256", "kid": "k"}), json.dumps(said), "signature"]
    return ".".join(base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts)
