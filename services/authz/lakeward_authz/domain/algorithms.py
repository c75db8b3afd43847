"""Signatures that count. There is no `none` and no HS*: who can verify an HMAC can forge it, and a public key is no secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

RSA: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
EC: Final[Mapping[str, tuple[str, ...]]] = {"P-256": ("ES256",), "P-384": ("ES384",), "P-521": ("ES512",)}
OKP: Final[Mapping[str, tuple[str, ...]]] = {"Ed25519": ("EdDSA",)}
ALGORITHMS: Final = frozenset({*RSA, *(name for names in (*EC.values(), *OKP.values()) for name in names)})
