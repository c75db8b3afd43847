"""Prove a storage profile: by real writes, reads, lists and deletes, with the server's credential and with a vended one."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import gzip
from typing import TYPE_CHECKING, Final, TypeVar

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.application import prove_signing
from lakeward_vending.application.ports import Grant
from lakeward_vending.application.prove_case import tells_case
from lakeward_vending.application.storages import storage_of
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.permit import Purpose
from lakeward_vending.domain.profiles import profile as profiles
from lakeward_vending.domain.profiles.s3 import can_vend

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from lakeward_locations import Location
    from lakeward_vending.application.ports import Clock, Ids, ObjectStore, Secrets, Storage, StorageBackend
    from lakeward_vending.application.storages import Backends
    from lakeward_vending.domain.client_properties import SessionCredential
    from lakeward_vending.domain.permit import Permit

Result = TypeVar("Result")

_CONTENT: Final = gzip.compress(b'"lakeward was here"', mtime=0)
_LIMIT: Final = 1024
_PAGE: Final = 1000
_CLEANUP_PAGES: Final = 10
_OPENED: Final = "vended-test"


class Check(enum.StrEnum):
    """The checks, in the order in which they run; the words are the public API's."""

    CLIENT = "storage-client-initialized"
    SERVER = "lakekeeper-read-write"
    ISSUED = "vended-credentials-issued"
    VENDED = "vended-credentials-read-write"
    SCOPE = "vended-credentials-scope-enforced"
    SIGNED = "remote-signing-scope-enforced"
    CASE = "case-sensitivity-determined"
    CLEANUP = "cleanup"


@dataclasses.dataclass(frozen=True, slots=True)
class CheckResult:
    """One check that did not fail.

    Attributes:
        passed: False where it was skipped.
    """

    check: Check
    passed: bool
    duration: dt.timedelta


@dataclasses.dataclass(frozen=True, slots=True)
class Validation:
    """What was proved, and what was learnt on the way.

    Attributes:
        checks: every check, in the order in which it ran.
        tells_case: whether the store tells places apart that differ by case alone; None where nothing was tried.
    """

    checks: Sequence[CheckResult]
    tells_case: bool | None


async def validate_storage(
    permit: Permit,
    profile: bytes,
    *,
    skip: bool,
    secrets: Secrets,
    backends: Backends,
    clock: Clock,
    ids: Ids,
) -> Validation:
    """Run the checks below a directory of their own, which is empty again afterwards.

    Args:
        permit: opens the warehouse's base, or a part of it, to validate.
        profile: what is proved.
        skip: whether the operator wants no store to be touched; every check is then skipped.
        secrets: has the permit's secret.
        backends: the storage kinds.
        clock: takes the time.
        ids: names the directory.

    Raises:
        Refusal: STORAGE_VALIDATION_FAILED with the first check that failed; PERMIT_REFUSED, NO_SUCH_SECRET.
    """
    permit.require(Purpose.VALIDATE, Access.READ_WRITE_DELETE)
    if skip:
        return Validation([CheckResult(check, passed=False, duration=dt.timedelta()) for check in Check], None)
    storage = await storage_of(permit, profile, secrets=secrets)
    run = _Run(clock)
    directory = permit.location.join(str(ids.uuid4()))
    backend = backends.of(storage.profile)
    store = await run.check(Check.CLIENT, lambda: backend.open(storage))
    try:
        await run.check(Check.SERVER, lambda: _read_write(store, directory.join("metadata", "test").path))
        told = await _check_vended(
            run, store, storage, directory.join(_OPENED), principal=permit.principal, backend=backend
        )
    except Refusal:
        # the first failure is what is told; what it left behind goes, if it can
        await _try_cleanup(store, directory)
        raise
    await run.check(Check.CLEANUP, lambda: _clean_up(store, directory))
    return Validation(run.results, told)


class _Run:
    """Times checks, and names the one that fails."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.results: list[CheckResult] = []

    async def check(self, check: Check, work: Callable[[], Awaitable[Result]]) -> Result:
        begun = self._clock.now()
        try:
            result = await work()
        except Refusal as refusal:
            raise Refusal(
                Reason.REASON_STORAGE_VALIDATION_FAILED,
                f"Storage validation failed [{check}]: {refusal.message}",
                check=check.value,
            ) from refusal
        self.results.append(CheckResult(check, passed=True, duration=self._clock.now() - begun))
        return result

    def skip(self, *checks: Check) -> None:
        self.results.extend(CheckResult(check, passed=False, duration=dt.timedelta()) for check in checks)


async def _check_vended(
    run: _Run, server: ObjectStore, storage: Storage, opened: Location, *, principal: str, backend: StorageBackend
) -> bool:
    """What clients get, confined to `opened`; whether the store tells that from its sibling by case."""
    kind = None if storage.credential is None else storage.credential.kind
    profile = profiles.as_s3(storage.profile)
    if not can_vend(profile, kind):
        run.skip(Check.ISSUED, Check.VENDED, Check.SCOPE)
        if profile.remote_signing_enabled and kind is not None:
            await run.check(Check.SIGNED, lambda: prove_signing.key_confined(backend, storage))
        else:
            run.skip(Check.SIGNED)
        return await run.check(Check.CASE, lambda: tells_case(server, None, opened=opened))
    grant = Grant(storage, opened, Access.READ_WRITE_DELETE, principal)

    async def issued() -> tuple[SessionCredential, ObjectStore]:
        credential = await backend.mint(grant)
        return credential, await backend.open_vended(storage, credential)

    credential, vended = await run.check(Check.ISSUED, issued)
    await run.check(Check.VENDED, lambda: _read_write(vended, opened.join("metadata", "test").path))
    outside = await run.check(Check.SCOPE, lambda: _scope_enforced(server, vended, opened.parent()))
    await run.check(
        Check.SIGNED,
        lambda: prove_signing.session_confined(
            backend, storage, credential, opened=opened, outside=outside, failed=_failed
        ),
    )
    return await run.check(Check.CASE, lambda: tells_case(server, vended, opened=opened))


async def _read_write(store: ObjectStore, key: str) -> None:
    """Write, read, list and delete one object."""
    await store.write(key, _CONTENT, content_type="application/json")
    if await store.read(key, limit=_LIMIT) != _CONTENT:
        raise _failed(f"what was written to {key} is not what is read there")
    if key not in await store.list_page(key, limit=_PAGE):
        raise _failed(f"{key} was written and is not listed")
    await store.delete([key])


async def _scope_enforced(server: ObjectStore, vended: ObjectStore, directory: Location) -> str:
    """Try what lies beside the opened directory; each attempt must be denied, not merely fail. An object that lies there."""
    outside = directory.join("metadata")
    existing = outside.join("forbidden-read-test").path
    await server.write(existing, _CONTENT, content_type=None)
    attempts: dict[str, Callable[[], Awaitable[object]]] = {
        "write to": lambda: vended.write(outside.join("forbidden-write-test").path, _CONTENT, content_type=None),
        "read": lambda: vended.read(existing, limit=_LIMIT),
        "list": lambda: vended.list_page(outside.prefix, limit=1),
        "delete": lambda: vended.delete([existing]),
    }
    for what, attempt in attempts.items():
        try:
            await attempt()
        except Refusal as refusal:
            if refusal.reason != Reason.REASON_STORE_DENIED:
                raise
        else:
            raise _failed(
                f"a vended credential for one directory could {what} another; the store ignores session policies"
            )
    return existing


async def _clean_up(store: ObjectStore, directory: Location) -> None:
    for _ in range(_CLEANUP_PAGES):
        keys = await store.list_page(directory.prefix, limit=_PAGE)
        if not keys:
            return
        await store.delete(keys)
    raise _failed(f"files stay at {directory} after they were deleted")


async def _try_cleanup(store: ObjectStore, directory: Location) -> None:
    try:
        await _clean_up(store, directory)
    except Refusal:
        return


def _failed(message: str) -> Refusal:
    return Refusal(Reason.REASON_STORAGE_VALIDATION_FAILED, message, check="")
