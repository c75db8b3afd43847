"""S3 and compatible stores, as a storage kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lakeward_locations import pattern_mark
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.keeping import Kept
from lakeward_vending.adapters.s3 import endpoints, oss, r2, sts
from lakeward_vending.adapters.s3.identities import (
    AssumedIdentity,
    Identity,
    StaticIdentity,
    SystemIdentity,
    base_identity,
)
from lakeward_vending.adapters.s3.objects import S3Objects
from lakeward_vending.adapters.s3.signed_calls import SignedCalls
from lakeward_vending.adapters.s3.sts import RoleRequest
from lakeward_vending.adapters.s3.tampering import Tampering
from lakeward_vending.application.ports import SigningKey
from lakeward_vending.domain import session_policy
from lakeward_vending.domain.credentials import CredentialKind
from lakeward_vending.domain.profiles import profile as profiles
from lakeward_vending.domain.profiles.s3 import Flavor, can_vend

if TYPE_CHECKING:
    from lakeward_locations import Location
    from lakeward_vending.adapters.network.addresses import AddressGuard
    from lakeward_vending.adapters.network.calls import HttpCalls
    from lakeward_vending.application.ports import Clock, Grant, Ids, ObjectStore, SigningTerms, Storage
    from lakeward_vending.domain.client_properties import SessionCredential
    from lakeward_vending.domain.profiles.s3 import S3Profile
    from lakeward_vending.domain.system_identity import SystemIdentityRules

_SERVER_SESSION: Final = "lakeward-server"
_SERVER_SESSION_SECONDS: Final = 3600
_IDENTITIES: Final = 1024


class S3Backend:
    """A `StorageBackend`. Clients and roles that were assumed are made anew each time: caches stand around it."""

    def __init__(
        self,
        *,
        calls: HttpCalls,
        guard: AddressGuard,
        rules: SystemIdentityRules,
        clock: Clock,
        ids: Ids,
    ) -> None:
        """Call by `calls` what `guard` admits, with the process's own identity where `rules` allow it."""
        self._calls = calls
        self._guard = guard
        self._rules = rules
        self._clock = clock
        self._ids = ids
        self._system = SystemIdentity()
        self._identities: Kept[tuple[bytes, object], Identity] = Kept(_IDENTITIES)

    async def open(self, storage: Storage) -> ObjectStore:
        """See `StorageBackend`."""
        profile = self._admitted(storage)
        return await self._connect(profile, self._server_identity(storage, profile))

    async def open_vended(self, storage: Storage, credential: SessionCredential) -> ObjectStore:
        """See `StorageBackend`."""
        return await self._connect(self._admitted(storage), StaticIdentity(SigningKey.of(credential)))

    async def signing_key(self, storage: Storage) -> SigningKey:
        """See `StorageBackend`."""
        return await self._server_identity(storage, self._admitted(storage)).key()

    async def signing_terms(self, storage: Storage) -> SigningTerms:
        """See `StorageBackend`."""
        profile = self._admitted(storage)
        key = await self._server_identity(storage, profile).key()
        absent = profile.base.join(str(self._ids.uuid4()), "absent").path
        return await Tampering(profile, key, self._calls, self._clock).signing_terms(absent)

    async def read_as_forwarded(
        self, storage: Storage, credential: SessionCredential, key: str, *, inside: Location
    ) -> None:
        """See `StorageBackend`."""
        profile = self._admitted(storage)
        await Tampering(profile, SigningKey.of(credential), self._calls, self._clock).read_forwarded(key, inside=inside)

    async def mint(self, grant: Grant) -> SessionCredential:
        """See `Minter`."""
        storage, profile = grant.storage, self._admitted(grant.storage)
        credential = storage.credential
        base = base_identity(credential, self._system)
        assert credential is not None  # else there is no base identity
        if not can_vend(profile, credential.kind):
            raise Refusal(
                Reason.REASON_CREDENTIAL_NOT_ISSUED,
                "this warehouse vends no credentials: its profile has sts-enabled false",
                store=endpoints.sts_url(profile),
            )
        if credential.kind is CredentialKind.S3_CLOUDFLARE_R2:
            return await r2.mint(
                credential,
                grant.location,
                access=grant.access,
                seconds=profile.sts_token_validity_seconds,
                calls=self._calls,
                clock=self._clock,
            )
        if credential.kind is CredentialKind.S3_ALIYUN_OSS:
            return await oss.mint(
                credential,
                profile,
                grant.location,
                access=grant.access,
                principal=grant.principal,
                calls=self._calls,
                clock=self._clock,
                ids=self._ids,
            )
        if profile.flavor is not Flavor.AWS:
            _check_confinable(grant.location, store=endpoints.sts_url(profile))
        request = RoleRequest(
            url=endpoints.sts_url(profile),
            region=profile.region,
            role=profile.role_to_vend,
            session_name=sts.session_name_of(grant.principal),
            policy=session_policy.build(
                grant.location,
                access=grant.access,
                partition=session_policy.partition_of(role=profile.role_to_vend, region=profile.region),
                kms_key=profile.aws_kms_key_arn,
            ),
            seconds=profile.sts_token_validity_seconds,
            external_id=credential.text("external-id"),
            tags=profile.sts_session_tags,
        )
        return await sts.assume_role(request, await base.key(), calls=self._calls, clock=self._clock)

    async def _connect(self, profile: S3Profile, identity: Identity) -> ObjectStore:
        await self._guard.admit(endpoints.bucket_url(profile))
        return S3Objects(profile, SignedCalls(profile, identity, calls=self._calls, clock=self._clock))

    def _admitted(self, storage: Storage) -> S3Profile:
        profile = profiles.as_s3(storage.profile)
        self._rules.check_s3(profile, storage.credential)
        return profile

    def _server_identity(self, storage: Storage, profile: S3Profile) -> Identity:
        base = base_identity(storage.credential, self._system)
        oss_role = storage.credential is not None and storage.credential.kind is CredentialKind.S3_ALIYUN_OSS
        if profile.assume_role_arn is None or oss_role:  # OSS's role is for vending; its STS speaks another protocol
            return base
        known = (storage.digest, storage.secret_id)
        identity = self._identities.look(known)
        if identity is None:
            request = RoleRequest(
                url=endpoints.sts_url(profile),
                region=profile.region,
                role=profile.assume_role_arn,
                session_name=_SERVER_SESSION,
                policy=None,
                seconds=_SERVER_SESSION_SECONDS,
                external_id=storage.credential.text("external-id") if storage.credential else None,
                tags=profile.sts_session_tags,
            )
            identity = AssumedIdentity(request, base, calls=self._calls, clock=self._clock)
            self._identities.put(known, identity)
        return identity


def _check_confinable(location: Location, *, store: str) -> None:
    """Refuse a location that only AWS's policies can name: none is made any more, and some may be older than that."""
    mark = pattern_mark(location.path)
    if mark is not None:
        raise Refusal(
            Reason.REASON_CREDENTIAL_NOT_ISSUED,
            f"no credential can be confined to {location}: policies of stores other than AWS have no escape for {mark!r}; move"
            " the files to a location without it, and register them there",
            store=store,
        )
