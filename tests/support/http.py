"""What clients of tests need of HTTP: they speak to servers on loopback, without TLS."""

from __future__ import annotations

import ssl
from typing import Final

NOBODY: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trusts nobody, as `verify` of httpx's clients. One that is told nothing reads the certificates of all authorities when it
is made, also for `http://`, which takes longer than what most tests ask of it."""
