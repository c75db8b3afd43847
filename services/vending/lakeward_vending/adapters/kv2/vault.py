"""Storage secrets in a KV v2 engine."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.application.refusals import SecretStoreUnavailable
from lakeward_vending.domain import credentials

if TYPE_CHECKING:
    from uuid import UUID

    from lakeward_vending.adapters.kv2.place import Place
    from lakeward_vending.adapters.kv2.session import Session
    from lakeward_vending.domain.credentials import Credential


class Kv2Vault:
    """A `Vault`: each secret is one key of the engine, its members those of the credential's document."""

    def __init__(self, session: Session, place: Place) -> None:
        """Keep secrets at `place`."""
        self._session = session
        self._place = place

    async def get(self, secret_id: UUID) -> Credential | None:
        """See `Vault`."""
        answer = await self._session.call("GET", self._place.data(secret_id))
        outer = answer.document.get("data")
        document = outer.get("data") if isinstance(outer, dict) else None
        if answer.status != HTTPStatus.OK or not isinstance(document, dict):
            return None
        try:
            return credentials.parse(json.dumps(document).encode())
        except Refusal as malformed:
            raise Refusal(
                Reason.REASON_SECRET_UNREADABLE,
                f"the secret {secret_id} in the KV v2 store is no storage credential; give its warehouse one again",
                key_id="kv2",
            ) from malformed

    async def put(self, secret_id: UUID, credential: Credential) -> None:
        """See `Vault`."""
        path, document = self._place.data(secret_id), json.loads(credential.document())
        # Engines may demand that a writer says which version it follows: none does at first.
        if await self._written(path, document, follows=0):
            return
        if await self.get(secret_id) == credential:
            return
        if not await self._written(path, document, follows=await self._version(secret_id)):
            store = self._place.mount
            raise SecretStoreUnavailable(
                f"the secret store's engine {store} takes no version of {secret_id}", store=store
            )

    async def delete(self, secret_id: UUID) -> None:
        """See `Vault`."""
        await self._session.call("DELETE", self._place.metadata(secret_id))

    async def _written(self, path: str, document: object, *, follows: int) -> bool:
        answer = await self._session.call("POST", path, {"options": {"cas": follows}, "data": document})
        if answer.status == HTTPStatus.NOT_FOUND:
            store = self._place.mount
            raise SecretStoreUnavailable(f"the secret store has no KV v2 engine at {store}", store=store)
        return answer.status == HTTPStatus.OK

    async def _version(self, secret_id: UUID) -> int:
        answer = await self._session.call("GET", self._place.metadata(secret_id))
        known = answer.document.get("data")
        version = known.get("current_version") if isinstance(known, dict) else None
        return version if isinstance(version, int) else 0
