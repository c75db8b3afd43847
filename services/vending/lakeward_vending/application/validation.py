"""Prove a storage profile: by real writes, reads, lists and deletes, with the server's credential and with a vended one."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import gzip
from typing import TYPE_CHECKING, Final, TypeVar

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.application.ports import Grant
from lakeward_vending.application.refusals import StoreDenied
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.permit import Purpose

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from lakeward_locations import Location
    from lakeward_servicekit.system import Clock, Ids
    from lakeward_vending.application.ports import ObjectStore, StorageKind
    from lakeward_vending.application.storages import Storages
    from lakeward_vending.domain.delegation import Vended
    from lakeward_vending.domain.permit import Permit

Result = TypeVar("Result")

_CONTENT: Final = gzip.compress(b'"lakeward was here"', mtime=0)
_CASE: Final = b"lakeward"
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
    """One check.

    Attributes:
        passed: False where it was skipped or failed.
        failure: why it failed.
    """

    check: Check
    passed: bool
    duration: dt.timedelta
    failure: Refusal | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Validation:
    """What was proved, and what was learnt on the way.

    Attributes:
        checks: every check, in the order in which it ran.
        tells_case: whether the store tells places apart that differ by case alone; None where nothing was tried.
    """

    checks: Sequence[CheckResult]
    tells_case: bool | None


@dataclasses.dataclass(frozen=True, slots=True)
class StorageValidations:
    """Run the checks below a directory of their own in the permit's location, which is empty again afterwards.

    Attributes:
        ids: names the directory.
        skip: whether the operator wants no store to be touched; every check is then skipped.

    Raises:
        Refusal: STORAGE_VALIDATION_FAILED with the first check that failed; PERMIT_REFUSED, and those of `Storages.of`.
    """

    storages: Storages
    clock: Clock
    ids: Ids
    skip: bool

    async def report(self, *, permit: Permit) -> Validation:
        """As a call, but what fails is answered, and what was to come after it counts as skipped.

        Raises:
            Refusal: PERMIT_REFUSED, and those of `Storages.of`.
        """
        try:
            return await self(permit=permit)
        except CheckFailed as failed:
            done = {result.check for result in failed.results}
            skipped = [
                CheckResult(check, passed=False, duration=dt.timedelta()) for check in Check if check not in done
            ]
            return Validation([*failed.results, *skipped], None)

    async def __call__(self, *, permit: Permit) -> Validation:
        """See the class."""
        permit.require(Purpose.VALIDATE, Access.READ_WRITE_DELETE)
        if self.skip:
            return Validation([CheckResult(check, passed=False, duration=dt.timedelta()) for check in Check], None)
        kind, storage = await self.storages.of(permit)
        run = _Run(self.clock)
        directory = permit.location.join(str(self.ids.uuid4()))
        store = await run.check(Check.CLIENT, lambda: kind.open(storage))
        opens = Grant(storage, directory.join(_OPENED), Access.READ_WRITE_DELETE, permit.principal)
        try:
            await run.check(Check.SERVER, lambda: _read_write(store, directory.join("metadata", "test").path))
            told = await _check_vended(run, store, kind, opens)
        except Refusal:
            # the first failure is what is told; what it left behind goes, if it can
            await _try_cleanup(store, directory)
            raise
        await run.check(Check.CLEANUP, lambda: _clean_up(store, directory))
        return Validation(run.results, told)


class CheckFailed(Refusal):
    """The refusal of a storage of which a check failed.

    Attributes:
        results: of every check that ran, the failed one last.
    """

    def __init__(self, check: Check, refusal: Refusal, results: Sequence[CheckResult]) -> None:
        super().__init__(
            Reason.REASON_STORAGE_VALIDATION_FAILED,
            f"Storage validation failed [{check}]: {refusal.message}",
            check=check.value,
        )
        self.results: Final = results


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
            failed = CheckResult(check, passed=False, duration=self._clock.now() - begun, failure=refusal)
            raise CheckFailed(check, refusal, (*self.results, failed)) from refusal
        self.results.append(CheckResult(check, passed=True, duration=self._clock.now() - begun))
        return result

    async def prove(self, check: Check, proof: Callable[[], Awaitable[bool]]) -> None:
        """As `check`, but skipped where there was nothing to prove."""
        if not await self.check(check, proof):
            self.results.pop()
            self.skip(check)

    def skip(self, *checks: Check) -> None:
        self.results.extend(CheckResult(check, passed=False, duration=dt.timedelta()) for check in checks)


async def _check_vended(run: _Run, server: ObjectStore, kind: StorageKind, opens: Grant) -> bool:
    """What clients get, confined to a directory; whether the store tells that from its sibling by case."""
    storage, opened = opens.storage, opens.location
    if not kind.offer(storage.profile, storage.credential_kind).vends:
        run.skip(Check.ISSUED, Check.VENDED, Check.SCOPE)
        await run.prove(Check.SIGNED, lambda: kind.prove_signing(storage, None, opened=opened, outside=""))
        return await run.check(Check.CASE, lambda: _tells_case(server, None, opened=opened))

    async def issued() -> tuple[Vended, ObjectStore]:
        vended = await kind.vend(opens)
        return vended, await kind.open_vended(storage, vended)

    vended, store = await run.check(Check.ISSUED, issued)
    await run.check(Check.VENDED, lambda: _read_write(store, opened.join("metadata", "test").path))
    outside = await run.check(Check.SCOPE, lambda: _scope_enforced(server, store, opened.parent()))
    await run.prove(Check.SIGNED, lambda: kind.prove_signing(storage, vended, opened=opened, outside=outside))
    return await run.check(Check.CASE, lambda: _tells_case(server, store, opened=opened))


async def _read_write(store: ObjectStore, key: str) -> None:
    """Write, read, list and delete one object."""
    await store.write(key, _CONTENT, content_type="application/json")
    if await _read(store, key) != _CONTENT:
        raise _failed(f"what was written to {key} is not what is read there")
    if key not in await store.list_page(key, limit=_PAGE):
        raise _failed(f"{key} was written and is not listed")
    await store.delete([key])


async def _read(store: ObjectStore, key: str) -> bytes:
    """An object that is there."""
    content = await store.read(key, limit=_LIMIT)
    if content is None:
        raise _failed(f"{key} was written and is not found")
    return content


async def _scope_enforced(server: ObjectStore, vended: ObjectStore, directory: Location) -> str:
    """Try what lies beside the opened directory; each attempt must be denied, not merely fail. An object that lies there."""
    outside = directory.join("metadata")
    existing = outside.join("forbidden-read-test").path
    await server.write(existing, _CONTENT, content_type=None)
    attempts: dict[str, Callable[[], Awaitable[object]]] = {
        "write to": lambda: vended.write(outside.join("forbidden-write-test").path, _CONTENT, content_type=None),
        "read": lambda: _read(vended, existing),
        "list": lambda: vended.list_page(outside.prefix, limit=1),
        "delete": lambda: vended.delete([existing]),
    }
    for what, attempt in attempts.items():
        if not await _denied(attempt()):
            raise _failed(
                f"a vended credential for one directory could {what} another; the store ignores session policies"
            )
    return existing


async def _tells_case(server: ObjectStore, vended: ObjectStore | None, *, opened: Location) -> bool:
    """Whether a directory is another one than its sibling that differs by case, to the keys of a store and to its policies.

    Some stores match the policies of sessions without regard to case. That is a fact about the store and no fault of the profile:
    the catalog then takes such places for one, so that no table lies beside another whose credentials would open it.

    Args:
        server: the store, by the server's credential.
        vended: the same by a credential that opens `opened`; None where nothing is vended.
        opened: a directory whose name is in lower case and has a letter.

    Raises:
        Refusal: those of the store, but for the denials that are hoped for.
    """
    sibling = opened.parent().join(opened.segments[-1].upper())
    key = sibling.join("case-test").path
    await server.write(key, _CASE, content_type=None)
    if await server.read(opened.join("case-test").path, limit=_LIMIT) is not None:
        return False
    if vended is None:
        return True
    attempts: Sequence[Awaitable[object]] = (
        _read(vended, key),
        vended.list_page(sibling.prefix, limit=1),
        vended.write(sibling.join("case-test-2").path, _CASE, content_type=None),
    )
    return all([await _denied(attempt) for attempt in attempts])


async def _denied(attempt: Awaitable[object]) -> bool:
    """Whether the store refused the credential; any other failure is raised."""
    try:
        await attempt
    except StoreDenied:
        return True
    return False


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
