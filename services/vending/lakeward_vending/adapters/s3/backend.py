"""What of S3 leaves the process: buckets are opened, sessions are minted, and stores are tried."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from lakeward_locations import pattern_mark
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.keeping import Kept
from lakeward_vending.adapters.s3 import endpoints, oss, r2, sts
from lakeward_vending.adapters.s3.key_sources import FixedKey, KeySource, ProcessKey, RoleKey, base_key
from lakeward_vending.adapters.s3.objects import S3Objects
from lakeward_vending.adapters.s3.signed_calls import SignedCalls
from lakeward_vending.adapters.s3.sts import RoleRequest
from lakeward_vending.adapters.s3.tampering import Tampering
from lakeward_vending.domain.credentials import CredentialKind
from lakeward_vending.domain.profiles.s3 import Flavor
from lakeward_vending.domain.profiles.stackit import as_s3
from lakeward_vending.domain.s3 import session_policy

if TYPE_CHECKING:
    from lakeward_locations import Location
    from lakeward_servicekit.system import Clock, Ids
    from lakeward_vending.adapters.network.addresses import AddressGuard
    from lakeward_vending.adapters.network.calls import HttpCalls
    from lakeward_vending.application.ports import Grant, ObjectStore, Storage
    from lakeward_vending.domain.profiles.s3 import S3Profile
    from lakeward_vending.domain.s3.keys import Session, SigningKey, SigningTerms
    from lakeward_vending.domain.s3.system_identity import SystemIdentityRules

_SERVER_SESSION: Final = "lakeward-server"
_SERVER_SESSION_SECONDS: Final = 3600
_ROLES: Final = 1024


class S3Backend:
    """An `S3Stores`. Clients and sessions are made anew each time: a cache stands around it."""

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
        self._process = ProcessKey()
        self._assumed: Kept[tuple[bytes, object], KeySource] = Kept(_ROLES)

    async def open(self, storage: Storage) -> ObjectStore:
        """See `S3Stores`."""
        profile = self._admitted(storage)
        return await self._connect(profile, self._server_key(storage, profile))

    async def open_as(self, storage: Storage, key: SigningKey) -> ObjectStore:
        """See `S3Stores`."""
        return await self._connect(self._admitted(storage), FixedKey(key))

    async def signing_key(self, storage: Storage) -> SigningKey:
        """See `S3Stores`."""
        return await self._server_key(storage, self._admitted(storage)).key()

    async def signing_terms(self, storage: Storage) -> SigningTerms:
        """See `S3Stores`."""
        profile = self._admitted(storage)
        key = await self._server_key(storage, profile).key()
        absent = profile.base.join(str(self._ids.uuid4()), "absent").path
        return await Tampering(profile, key, self._calls, self._clock).signing_terms(absent)

    async def read_as_forwarded(self, storage: Storage, key: SigningKey, name: str, *, inside: Location) -> None:
        """See `S3Stores`."""
        profile = self._admitted(storage)
        await Tampering(profile, key, self._calls, self._clock).read_forwarded(name, inside=inside)

    async def mint(self, grant: Grant) -> Session:
        """See `S3Stores`."""
        storage, profile = grant.storage, self._admitted(grant.storage)
        credential = storage.credential
        base = base_key(credential, self._process)
        assert credential is not None  # else there is no key
        if not profile.offer(credential.kind).vends:
            raise Refusal(
                Reason.REASON_CREDENTIAL_NOT_ISSUED,
                "this warehouse vends no credentials: its profile has sts-enabled false",
                store=endpoints.sts_url(profile),
            )
        if credential.kind is CredentialKind.S3_CLOUDFLARE_R2:
            seconds = profile.sts_token_validity_seconds
            return await r2.mint(grant, credential, seconds=seconds, calls=self._calls, clock=self._clock)
        if credential.kind is CredentialKind.S3_ALIYUN_OSS:
            return await oss.mint(grant, credential, profile, calls=self._calls, clock=self._clock, ids=self._ids)
        if profile.flavor is not Flavor.AWS:
            _check_confinable(grant.location, store=endpoints.sts_url(profile))
        policy = session_policy.build(
            grant.location,
            access=grant.access,
            partition=session_policy.partition_of(role=profile.role_to_vend, region=profile.region),
            kms_key=profile.aws_kms_key_arn,
        )
        request = dataclasses.replace(
            _role(storage, profile, profile.role_to_vend),
            session_name=sts.session_name_of(grant.principal),
            policy=policy,
            seconds=profile.sts_token_validity_seconds,
        )
        return await sts.assume_role(request, await base.key(), calls=self._calls, clock=self._clock)

    async def _connect(self, profile: S3Profile, keys: KeySource) -> ObjectStore:
        await self._guard.admit(endpoints.bucket_url(profile))
        return S3Objects(profile, SignedCalls(profile, keys, calls=self._calls, clock=self._clock))

    def _admitted(self, storage: Storage) -> S3Profile:
        profile = as_s3(storage.profile)
        self._rules.check(profile, storage.credential)
        return profile

    def _server_key(self, storage: Storage, profile: S3Profile) -> KeySource:
        base = base_key(storage.credential, self._process)
        oss_role = storage.credential is not None and storage.credential.kind is CredentialKind.S3_ALIYUN_OSS
        if profile.assume_role_arn is None or oss_role:  # OSS's role is for vending; its STS speaks another protocol
            return base
        known = (storage.digest, storage.secret_id)
        role = self._assumed.look(known)
        if role is None:
            request = _role(storage, profile, profile.assume_role_arn)
            role = RoleKey(request, base, calls=self._calls, clock=self._clock)
            self._assumed.put(known, role)
        return role


def _role(storage: Storage, profile: S3Profile, role: str | None) -> RoleRequest:
    """A role as the server itself assumes it."""
    return RoleRequest(
        url=endpoints.sts_url(profile),
        region=profile.region,
        role=role,
        session_name=_SERVER_SESSION,
        policy=None,
        seconds=_SERVER_SESSION_SECONDS,
        external_id=None if storage.credential is None else storage.credential.text("external-id"),
        tags=profile.sts_session_tags,
    )


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
