"""Prove that a signature opens what it was made for and nothing else, whatever is added to the request that carries it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward_servicekit.errors import Reason, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from lakeward_locations import Location
    from lakeward_vending.application.ports import Storage, StorageBackend
    from lakeward_vending.domain.client_properties import SessionCredential


async def session_confined(
    backend: StorageBackend,
    storage: Storage,
    credential: SessionCredential,
    *,
    opened: Location,
    outside: str,
    failed: Callable[[str], Refusal],
) -> None:
    """Where sessions sign: the store goes by the path that it acts on.

    Args:
        backend: of the storage.
        storage: what is proved.
        credential: a session that opens `opened`.
        opened: a directory.
        outside: the key of an object that lies elsewhere.
        failed: makes the refusal.

    Raises:
        Refusal: that of `failed` where the object was reached; STORE_UNAVAILABLE.
    """
    try:
        await backend.read_as_forwarded(storage, credential, outside, inside=opened)
    except Refusal as refusal:
        if refusal.reason != Reason.REASON_STORE_DENIED:
            raise
        return
    raise failed(
        "a credential for one directory could read another by a header that says where the request was forwarded from; the"
        " store holds session policies against a path that it does not act on"
    )


async def key_confined(backend: StorageBackend, storage: Storage) -> None:
    """Where the server's own key signs: what it signs can be confined.

    Raises:
        Refusal: SIGNING_DISABLED where it can't; STORE_UNAVAILABLE.
    """
    await backend.signing_terms(storage)
