"""Updates of the table's encryption keys."""

from __future__ import annotations

from typing import Final

from lakeward_catalog.domain.iceberg.documents import Invalid
from lakeward_catalog.domain.iceberg.draft import Draft
from lakeward_catalog.domain.iceberg.statistics import EncryptedKey
from lakeward_catalog.domain.iceberg.updates.update import Update, applies

V3: Final = 3


class AddEncryptionKey(Update, frozen=True):
    """Add an encrypted key."""

    ACTION = "add-encryption-key"
    encryption_key: EncryptedKey


class RemoveEncryptionKey(Update, frozen=True):
    """Remove an encrypted key."""

    ACTION = "remove-encryption-key"
    key_id: str


@applies(AddEncryptionKey)
def add_encryption_key(draft: Draft, update: AddEncryptionKey) -> None:
    """A known id is left as it is, whatever the content: files may be encrypted with the key that is there."""
    if draft.table.format_version < V3:
        raise Invalid("", f"encryption keys need format version 3; the table has {draft.table.format_version}")
    if update.encryption_key.head.key_id not in [key.head.key_id for key in draft.table.encryption_keys]:
        draft.change(encryption_keys=(*draft.table.encryption_keys, update.encryption_key))


@applies(RemoveEncryptionKey)
def remove_encryption_key(draft: Draft, update: RemoveEncryptionKey) -> None:
    """An unknown one is ignored."""
    kept = tuple(key for key in draft.table.encryption_keys if key.head.key_id != update.key_id)
    if len(kept) != len(draft.table.encryption_keys):
        draft.change(encryption_keys=kept)
