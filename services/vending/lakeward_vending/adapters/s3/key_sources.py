"""Whose key signs calls to a store: a credential's, the process's own, or that of a role which either assumes."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import TYPE_CHECKING, Any, Final, Protocol

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.adapters.s3 import sts
from lakeward_vending.domain.credentials import CredentialKind
from lakeward_vending.domain.s3.keys import SigningKey
from lakeward_vending.domain.secret import Secret

if TYPE_CHECKING:
    from lakeward_servicekit.system import Clock
    from lakeward_vending.adapters.network.calls import HttpCalls
    from lakeward_vending.adapters.s3.sts import RoleRequest
    from lakeward_vending.domain.credentials import Credential
    from lakeward_vending.domain.s3.keys import Session

_RENEWED_BEFORE: Final = dt.timedelta(minutes=5)
_SYSTEM: Final = "the AWS identity of this process"


class KeySource(Protocol):
    """Somebody who signs requests to a store."""

    async def key(self) -> SigningKey:
        """The key to sign with now, good for minutes. Raises what minting and reaching it raise."""
        ...


class FixedKey:
    """A key that does not change."""

    def __init__(self, key: SigningKey) -> None:
        """Sign with `key`."""
        self._key = key

    async def key(self) -> SigningKey:
        """The key."""
        return self._key


class ProcessKey:
    """The process's own AWS identity: environment, web identity, container or instance, as botocore finds it."""

    def __init__(self) -> None:
        """Look for it when it is first needed: the library is large, and most warehouses bring keys."""
        self._credentials: Any = None  # botocore has no types

    async def key(self) -> SigningKey:
        """The key that the identity has now.

        Raises:
            Refusal: CREDENTIAL_NOT_ISSUED where the process has no AWS identity.
        """
        return await asyncio.to_thread(self._frozen)

    def _frozen(self) -> SigningKey:
        import botocore.exceptions  # noqa: PLC0415 - loaded where a warehouse uses it
        import botocore.session  # noqa: PLC0415 - the same

        try:
            if self._credentials is None:
                self._credentials = botocore.session.get_session().get_credentials()
            if self._credentials is None:
                raise _no_identity()
            frozen = self._credentials.get_frozen_credentials()
        except botocore.exceptions.BotoCoreError as error:
            raise _no_identity() from error
        return SigningKey(frozen.access_key, Secret(frozen.secret_key), Secret(frozen.token) if frozen.token else None)


class RoleKey:
    """A role, assumed anew some minutes before each session ends."""

    def __init__(self, request: RoleRequest, base: KeySource, *, calls: HttpCalls, clock: Clock) -> None:
        """Assume `request` as `base`."""
        self._request = request
        self._base = base
        self._calls = calls
        self._clock = clock
        self._lock = asyncio.Lock()
        self._session: Session | None = None

    async def key(self) -> SigningKey:
        """The session's key.

        Raises:
            Refusal: CREDENTIAL_NOT_ISSUED, STORE_UNAVAILABLE, ADDRESS_DENIED.
        """
        async with self._lock:
            if self._session is None or self._session.expires_at - self._clock.now() < _RENEWED_BEFORE:
                self._session = await sts.assume_role(
                    self._request, await self._base.key(), calls=self._calls, clock=self._clock
                )
            return self._session.key


def base_key(credential: Credential | None, system: ProcessKey) -> KeySource:
    """Who a credential is, before any role.

    Raises:
        Refusal: CREDENTIAL_MISSING.
    """
    if credential is None:
        raise Refusal(
            Reason.REASON_CREDENTIAL_MISSING, "the warehouse has no storage credential; give it one", type="s3"
        )
    if credential.kind is CredentialKind.S3_SYSTEM_IDENTITY:
        return system
    return FixedKey(SigningKey(credential.text("access-key-id") or "", credential.secret("secret-access-key"), None))


def _no_identity() -> Refusal:
    return Refusal(
        Reason.REASON_CREDENTIAL_NOT_ISSUED, f"{_SYSTEM} was not found; configure one, or use a key", store=_SYSTEM
    )
