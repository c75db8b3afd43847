"""Names of a secret store that is not built."""

from __future__ import annotations

from typing import Final

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Service, Setting, Support


def _store(name: str, kind: kinds.Kind[object], about: str) -> Setting:
    return Setting(f"KV2__{name}", kind, None, about, support=Support.PLANNED, services=frozenset({Service.VENDING}))


SETTINGS: Final = (
    _store("URL", kinds.HTTP_URL, "Address of the key-value store."),
    _store("USER", kinds.TEXT, "User of its userpass login."),
    _store("PASSWORD", kinds.SECRET, "Password of its userpass login."),
    _store("SECRET_MOUNT", kinds.TEXT, "Mount of the secrets."),
)
