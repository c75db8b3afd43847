from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import pytest

from lakeward_locations import Location
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Outcome, Turn, VisibleSet
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import Principal, user
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.adapters.s3.kind import S3Kind
from lakeward_vending.application.caller import Caller
from lakeward_vending.application.client_access import AccessVends, RequestSignatures
from lakeward_vending.application.files import (
    MAX_FILE_BYTES,
    EmptinessChecks,
    FileDeletions,
    FileReads,
    FileWrites,
    PagePurges,
    WriteFile,
)
from lakeward_vending.application.profiles import NormaliseProfile, ProfileNormalisations
from lakeward_vending.application.secrets import (
    STAGED_FOR,
    CredentialStagings,
    SecretBindings,
    SecretReencryptions,
    StageCredential,
    StagedSweeps,
)
from lakeward_vending.application.storages import Kinds, Storages
from lakeward_vending.application.validation import Check, StorageValidations
from lakeward_vending.domain import credentials, documents
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.addresses import AddressRules
from lakeward_vending.domain.delegation import Delegation
from lakeward_vending.domain.permit import Purpose
from lakeward_vending.domain.profiles.gcs import GcsProfile
from lakeward_vending.domain.s3.keys import SigningTerms
from lakeward_vending.domain.s3.system_identity import SystemIdentityRules
from lakeward_vending.domain.signing import SigningRequest
from tests.support.vending.fakes import START, CountingIds, FakeClock, FakeSecrets, FakeStores, refusal_of
from tests.support.vending.permits import SECRET, TABLE, WAREHOUSE, credential, permit, profile_text


class House:
    """Everything that the use cases need, in memory."""

    def __init__(self, **backend: Any) -> None:
        self.clock = FakeClock()
        self.backend = FakeStores(self.clock, **backend)
        self.secrets = FakeSecrets()
        self.kinds = Kinds({"s3": S3Kind(self.backend, SystemIdentityRules(), self.clock)})
        self.storages = Storages(self.secrets, self.kinds)
        self.read_file = FileReads(self.storages)
        self.write_file = FileWrites(self.storages)
        self.delete_files = FileDeletions(self.storages)
        self.check_empty = EmptinessChecks(self.storages)
        self.purge_page = PagePurges(self.storages)

    async def with_secret(self, *, warehouse_id: UUID = WAREHOUSE, **changes: object) -> House:
        await self.secrets.stage(SECRET, credential(**changes), staged_by="alice", warehouse_id=None, now=START)
        await self.secrets.keep(SECRET, warehouse_id=warehouse_id, now=START)
        return self


@pytest.fixture
async def house() -> House:
    return await House().with_secret()


PROFILE = profile_text()


# ---- what every call on a permit refuses -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cause", "changes"),
    [
        ("purpose", {"purpose": Purpose.VEND}),
        ("profile", {"profile_digest": b"x" * 32}),
        ("location", {"location": Location.parse("s3://lake/other")}),
        ("location", {"location": Location.parse("s3://other/wh/t1")}),
        ("location", {"location": Location.parse("s3://lake/wh2/t1")}),
    ],
)
async def test_a_permit_for_something_else_opens_nothing(house: House, cause: str, changes: dict[str, Any]) -> None:
    async def use() -> None:
        await house.check_empty(permit=permit(changes.pop("purpose", Purpose.FILES), **changes))

    refusal = await refusal_of(use())
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_PERMIT_REFUSED, {"cause": cause})
    assert not house.backend.opened


async def test_another_warehouse_s_secret_is_no_secret() -> None:
    house = await House().with_secret(warehouse_id=UUID(int=99))
    refusal = await refusal_of(house.check_empty(permit=permit(Purpose.FILES)))
    assert refusal.reason == Reason.REASON_NO_SUCH_SECRET


async def test_a_storage_kind_without_adapter_is_refused(house: House) -> None:
    gcs = b'{"type":"gcs","bucket":"lake","key-prefix":"wh"}'
    at = Location.parse("gs://lake/wh/t1")
    refusal = await refusal_of(house.check_empty(permit=permit(Purpose.FILES, gcs, location=at)))
    assert refusal.reason == Reason.REASON_STORAGE_KIND_UNSUPPORTED
    assert refusal.message == "this build has no adapter for storage of type gcs; s3 is served"


def test_the_kinds_that_are_served_are_said_as_they_are() -> None:
    house = House()
    (s3,) = house.kinds.by_type.values()
    with pytest.raises(Refusal, match=r"of type gcs; s3 and stackit are served$"):
        Kinds({"s3": s3, "stackit": s3}).of(GcsProfile(bucket="lake"))
    with pytest.raises(Refusal, match=r"of type gcs; s3, stackit and adls are served$"):
        Kinds({"s3": s3, "stackit": s3, "adls": s3}).of(GcsProfile(bucket="lake"))


# ---- files -----------------------------------------------------------------------------------------------------------


async def test_a_file_is_written_once_and_read_back_inflated(house: House) -> None:
    at = f"{TABLE}/metadata/1.gz.metadata.json"
    claims = permit(Purpose.FILES)
    for _ in range(2):
        await house.write_file(WriteFile(at, gzip.compress(b"{}"), None), permit=claims)
    assert await house.read_file(at, permit=claims) == b"{}"
    other = house.write_file(WriteFile(at, gzip.compress(b"[]"), None), permit=claims)
    assert (await refusal_of(other)).reason == Reason.REASON_FILE_EXISTS


async def test_a_file_that_is_not_there_is_named_by_the_warehouse_s_own_scheme(house: House) -> None:
    refusal = await refusal_of(house.read_file("s3a://lake/wh/t1/f", permit=permit(Purpose.FILES)))
    assert refusal.reason == Reason.REASON_FILE_NOT_FOUND
    assert refusal.metadata == {"location": "s3://lake/wh/t1/f"}


@pytest.mark.parametrize("size", [2, 10_000_000])
async def test_a_file_that_came_as_gzip_lies_there_inflated_where_that_is_asked_for(house: House, size: int) -> None:
    text = b" " * (size - 2) + b"{}"
    file = WriteFile(f"{TABLE}/metadata/1.metadata.json", gzip.compress(text), None, inflate=True)
    await house.write_file(file, permit=permit(Purpose.FILES))
    assert house.backend.objects["wh/t1/metadata/1.metadata.json"] == text


@pytest.mark.parametrize(
    "content",
    [lambda: b"{}", lambda: gzip.compress(b"{}")[:-4], lambda: gzip.compress(bytes(MAX_FILE_BYTES + 1))],
    ids=["no gzip", "half a gzip", "more than a file may be"],
)
async def test_what_can_not_be_inflated_is_refused_and_nothing_is_written(
    house: House, content: Callable[[], bytes]
) -> None:
    file = WriteFile(f"{TABLE}/metadata/1.metadata.json", content(), None, inflate=True)
    writing = house.write_file(file, permit=permit(Purpose.FILES))
    assert (await refusal_of(writing)).reason == Reason.REASON_FILE_UNREADABLE
    assert not house.backend.objects


@pytest.mark.parametrize(
    ("reason", "location"),
    [
        (Reason.REASON_PERMIT_REFUSED, "s3://lake/wh/t10/f"),
        (Reason.REASON_PERMIT_REFUSED, "s3://lake/wh/t1"),
        (Reason.REASON_PERMIT_REFUSED, "s3://lake/wh/t1/"),
        (Reason.REASON_PERMIT_REFUSED, "s3://lake/wh/t1/f/"),
        (Reason.REASON_PERMIT_REFUSED, "s3://other/wh/t1/f"),
        (Reason.REASON_PERMIT_REFUSED, "gs://lake/wh/t1/f"),
        (Reason.REASON_MALFORMED_LOCATION, "s3://lake/wh/t1/../t2/f"),
        (Reason.REASON_MALFORMED_LOCATION, "s3://lake/wh/t1/%2e%2e/f"),
        (Reason.REASON_MALFORMED_LOCATION, "wh/t1/f"),
    ],
)
async def test_no_file_outside_of_a_permit_is_touched(house: House, reason: Reason.ValueType, location: str) -> None:
    claims = permit(Purpose.FILES)
    read = house.read_file(location, permit=claims)
    write = house.write_file(WriteFile(location, b"", None), permit=claims)
    delete = house.delete_files([f"{TABLE}/ok", location], permit=claims)
    for work in (read, write, delete):
        assert (await refusal_of(work)).reason == reason
    assert not house.backend.opened


@pytest.mark.parametrize(
    ("access", "may"), [(Access.READ, "r"), (Access.READ_WRITE, "rw"), (Access.READ_WRITE_DELETE, "rwd")]
)
async def test_a_permit_opens_for_its_level_and_no_more(house: House, access: Access, may: str) -> None:
    claims = permit(Purpose.FILES, access=access)
    at = f"{TABLE}/f"
    house.backend.objects["wh/t1/f"] = b"x"
    work = {
        "r": house.read_file(at, permit=claims),
        "w": house.write_file(WriteFile(at, b"x", None), permit=claims),
        "d": house.delete_files([at], permit=claims),
    }
    for letter, each in work.items():
        if letter in may:
            await each
        else:
            assert (await refusal_of(each)).metadata == {"cause": "access"}


async def test_a_purge_goes_page_by_page_and_spares_its_neighbours(house: House) -> None:
    house.backend.objects |= {f"wh/t1/data/{number}": b"" for number in range(1500)}
    house.backend.objects |= {"wh/t10/f": b"", "wh/t1": b"", "wh/t": b""}
    first = await house.purge_page(permit=permit(Purpose.PURGE))
    assert (first.deleted, first.done) == (1000, False)
    second = await house.purge_page(permit=permit(Purpose.PURGE))
    assert (second.deleted, second.done) == (500, True)
    assert set(house.backend.objects) == {"wh/t10/f", "wh/t1", "wh/t"}
    assert await house.check_empty(permit=permit(Purpose.FILES))


async def test_a_whole_bucket_is_never_purged(house: House) -> None:
    profile = profile_text(key_prefix=None)
    whole = permit(Purpose.PURGE, profile, location=Location.parse("s3://lake"))
    assert (await refusal_of(house.purge_page(permit=whole))).metadata == {"cause": "location"}


@pytest.mark.parametrize("count", [0, 1001])
async def test_one_to_a_thousand_files_are_deleted_at_once(house: House, count: int) -> None:
    locations = [f"{TABLE}/{number}" for number in range(count)]
    refusal = await refusal_of(house.delete_files(locations, permit=permit(Purpose.FILES)))
    assert refusal.reason == Reason.REASON_INVALID_FIELD


# ---- access for clients ----------------------------------------------------------------------------------------------


async def vend(house: House, profile: bytes = PROFILE, *, asked: Sequence[Delegation] = (), **changes: Any) -> Any:
    claims = permit(Purpose.VEND, profile, **changes)
    return await AccessVends(house.storages)(asked, permit=claims)


async def test_a_client_gets_credentials_of_its_permit_s_own_scope(house: House) -> None:
    access = await vend(house, access=Access.READ)
    assert access.config["s3.access-key-id"] == "AK1"
    assert access.vended is not None
    assert access.vended.refresh_property == "client.refresh-credentials-endpoint"
    (grant,) = house.backend.grants
    assert (grant.location, grant.access, grant.principal) == (TABLE, Access.READ, "oidc~alice")


async def test_a_signing_client_gets_no_credential(house: House) -> None:
    access = await vend(house, asked=[Delegation.REMOTE_SIGNING])
    assert access.sign_remotely
    assert access.vended is None
    assert not house.backend.grants


async def test_a_warehouse_without_credential_neither_vends_nor_signs() -> None:
    access = await vend(House(), secret_id=None)
    assert (access.vended, access.sign_remotely) == (None, False)
    assert access.config["s3.region"] == "eu"


async def test_nothing_of_the_server_s_own_credential_is_told(house: House) -> None:
    for asked in ((), (Delegation.REMOTE_SIGNING,), (Delegation.CLIENT_MANAGED,)):
        access = await vend(house, asked=asked)
        assert "hush" not in str(access.config) + str(access.vended and access.vended.properties)
        assert "'AK'" not in str(access.config) + str(access.vended and access.vended.properties)


# ---- signing ---------------------------------------------------------------------------------------------------------


async def sign(
    house: House,
    method: str = "GET",
    *,
    profile: bytes = PROFILE,
    uri: str = "http://store:9000/lake/wh/t1/f",
    headers: dict[str, list[str]] | None = None,
    body: bytes | None = None,
    **changes: Any,
) -> Any:
    request = SigningRequest(
        method=method,
        uri=uri,
        region="eu",
        headers={"Range": ["bytes=0-1"], "authorization": ["theirs"]} | (headers or {}),
        body=body,
    )
    claims = permit(Purpose.SIGN, profile, **changes)
    return await RequestSignatures(house.storages)(request, permit=claims)


async def test_a_signed_request_has_the_client_s_headers_and_the_signature(house: House) -> None:
    signed = await sign(house)
    assert signed.headers["Range"] == ("bytes=0-1",)
    assert signed.headers["authorization"][0].startswith("AWS4-HMAC-SHA256 Credential=AK1/20260821/eu/s3/aws4_request")
    assert signed.cacheable


@pytest.mark.parametrize(("method", "access"), [("GET", Access.READ), ("PUT", Access.READ_WRITE_DELETE)])
async def test_a_session_that_opens_what_the_permit_opens_signs_and_its_token_goes_along_signed(
    house: House, method: str, access: Access
) -> None:
    signed = await sign(house, method, access=access)
    (grant,) = house.backend.grants
    assert (grant.location, grant.access, grant.principal) == (TABLE, access, "oidc~alice")
    assert signed.headers["x-amz-security-token"] == ("tok",)
    assert "x-amz-security-token" in signed.headers["authorization"][0]
    assert house.backend.terms_asked == 0


async def test_nothing_is_minted_for_a_request_outside_of_the_permit(house: House) -> None:
    elsewhere = Location.parse("s3://lake/wh/t2")
    refusal = await refusal_of(sign(house, location=elsewhere))
    assert refusal.reason == Reason.REASON_SIGNING_OUTSIDE
    assert not house.backend.grants


async def test_a_session_that_is_not_issued_is_not_made_up_for_by_the_server_s_own_key(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def mint(grant: object) -> None:
        raise Refusal(Reason.REASON_CREDENTIAL_NOT_ISSUED, "no", store="x")

    monkeypatch.setattr(house.backend, "mint", mint)
    assert (await refusal_of(sign(house))).reason == Reason.REASON_CREDENTIAL_NOT_ISSUED


OWN_KEY = profile_text(sts_enabled=False)


async def test_the_server_s_own_key_signs_what_its_store_minds_as_empty_headers(house: House) -> None:
    house.backend.terms = SigningTerms(("x-forwarded-host", "x-forwarded-prefix"), holds_bodies=True)
    signed = await sign(house, profile=OWN_KEY, headers={"X-Forwarded-Prefix": [""]})
    assert {name: value for name, value in signed.headers.items() if "forwarded" in name.lower()} == {
        "x-forwarded-host": ("",),
        "x-forwarded-prefix": ("",),
    }
    assert (
        "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-forwarded-host;x-forwarded-prefix,"
        in (signed.headers["authorization"][0])
    )
    assert not house.backend.grants


async def test_the_server_s_own_key_signs_nothing_where_its_store_obeys_what_anybody_adds(house: House) -> None:
    house.backend.terms = None
    refusal = await refusal_of(sign(house, profile=OWN_KEY))
    assert refusal.reason == Reason.REASON_SIGNING_DISABLED


@pytest.mark.parametrize("holds_bodies", [True, False])
async def test_the_server_s_own_key_signs_a_delete_of_many_only_where_the_store_holds_its_body(
    house: House, holds_bodies: bool
) -> None:
    house.backend.terms = SigningTerms((), holds_bodies=holds_bodies)
    body = b"<Delete><Object><Key>wh/t1/f</Key></Object></Delete>"
    signing = sign(house, "POST", profile=OWN_KEY, uri="http://store:9000/lake?delete", body=body)
    if holds_bodies:
        assert not (await signing).cacheable
        return
    assert (await refusal_of(signing)).reason == Reason.REASON_SIGNING_DISABLED
    assert (await sign(house, "DELETE", profile=OWN_KEY)).headers


@pytest.mark.parametrize(
    "name", ["X-Forwarded-Prefix", "x-forwarded-host", "Forwarded", "X-Original-URL", "X-Rewrite-URL"]
)
async def test_a_header_that_says_where_a_request_came_from_is_not_signed(house: House, name: str) -> None:
    refusal = await refusal_of(sign(house, headers={name: ["/elsewhere"]}))
    assert refusal.metadata == {"cause": "UnsupportedHeader"}


@pytest.mark.parametrize(
    ("method", "access", "allowed"),
    [
        ("GET", Access.READ, True),
        ("PUT", Access.READ, False),
        ("PUT", Access.READ_WRITE, True),
        ("DELETE", Access.READ_WRITE, False),
        ("DELETE", Access.READ_WRITE_DELETE, True),
    ],
)
async def test_a_request_is_signed_where_the_permit_s_level_reaches(
    house: House, method: str, access: Access, allowed: bool
) -> None:
    if allowed:
        assert (await sign(house, method, access=access)).cacheable is (method == "GET")
    else:
        assert (await refusal_of(sign(house, method, access=access))).metadata == {"cause": "access"}


async def test_a_warehouse_that_does_not_sign_says_so(house: House) -> None:
    profile = profile_text(remote_signing_enabled=False)
    assert (await refusal_of(sign(house, profile=profile))).reason == Reason.REASON_SIGNING_DISABLED


async def test_a_permit_to_vend_signs_nothing(house: House) -> None:
    assert (await refusal_of(sign(house, purpose=Purpose.VEND))).metadata == {"cause": "purpose"}


# ---- validation ------------------------------------------------------------------------------------------------------


async def validate(house: House, profile: bytes = PROFILE, *, skip: bool = False) -> Any:
    claims = permit(Purpose.VALIDATE, profile, location=Location.parse("s3://lake/wh"))
    return await StorageValidations(house.storages, house.clock, CountingIds(), skip=skip)(permit=claims)


async def test_a_store_that_confines_credentials_passes_every_check_and_is_left_clean(house: House) -> None:
    house.backend.objects["wh/other"] = b"stays"
    results = (await validate(house)).checks
    assert [result.check for result in results] == list(Check)
    assert all(result.passed for result in results)
    assert house.backend.objects == {"wh/other": b"stays"}


async def test_a_store_that_ignores_session_policies_fails_and_is_left_clean() -> None:
    house = await House(enforces_scope=False).with_secret()
    refusal = await refusal_of(validate(house))
    assert refusal.metadata == {"check": "vended-credentials-scope-enforced"}
    assert refusal.message.startswith("Storage validation failed [vended-credentials-scope-enforced]: ")
    assert not house.backend.objects


async def test_a_report_says_what_failed_and_what_was_not_tried_and_leaves_the_place_clean() -> None:
    house = await House(enforces_scope=False).with_secret()
    claims = permit(Purpose.VALIDATE, PROFILE, location=Location.parse("s3://lake/wh"))
    validation = await StorageValidations(house.storages, house.clock, CountingIds(), skip=False).report(permit=claims)
    results = {result.check: result for result in validation.checks}
    assert results.keys() == set(Check)
    assert [check for check, result in results.items() if result.failure is not None] == [Check.SCOPE]
    assert results[Check.VENDED].passed
    assert not results[Check.CLEANUP].passed
    assert validation.tells_case is None
    assert not house.backend.objects


async def test_a_report_of_what_works_is_what_the_proof_is(house: House) -> None:
    claims = permit(Purpose.VALIDATE, PROFILE, location=Location.parse("s3://lake/wh"))
    report = await StorageValidations(house.storages, house.clock, CountingIds(), skip=False).report(permit=claims)
    assert [result.check for result in report.checks if result.passed] == list(Check)


async def test_an_error_that_is_no_denial_does_not_count_as_confinement(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = house.backend.open_as

    async def open_as(*arguments: Any) -> Any:
        store = await inner(*arguments)
        real = store.write

        async def write(key: str, content: bytes, *, content_type: str | None) -> None:
            if "forbidden" in key:
                raise Refusal(Reason.REASON_STORE_UNAVAILABLE, "the network is down", store="x")
            await real(key, content, content_type=content_type)

        monkeypatch.setattr(store, "write", write)
        return store

    monkeypatch.setattr(house.backend, "open_as", open_as)
    assert (await refusal_of(validate(house))).metadata == {"check": "vended-credentials-scope-enforced"}


async def test_checks_of_vending_are_skipped_where_nothing_is_vended(house: House) -> None:
    results = (await validate(house, profile_text(sts_enabled=False))).checks
    assert [result.check for result in results if not result.passed] == [Check.ISSUED, Check.VENDED, Check.SCOPE]
    assert house.backend.terms_asked == 1


@pytest.mark.parametrize("vending", [True, False])
async def test_a_store_that_tells_case_is_known_to(house: House, vending: bool) -> None:
    validation = await validate(house, profile_text(sts_enabled=vending))
    assert validation.tells_case is True


async def test_a_store_whose_policies_disregard_case_is_valid_and_known_to() -> None:
    house = await House(folds_policies=True).with_secret()
    assert (await validate(house)).tells_case is False
    assert not house.backend.objects


@pytest.mark.parametrize("vending", [True, False])
async def test_a_store_whose_keys_disregard_case_is_valid_and_known_to(vending: bool) -> None:
    house = await House(folds_keys=True).with_secret()
    assert (await validate(house, profile_text(sts_enabled=vending))).tells_case is False


async def test_signing_is_not_proved_where_nothing_is_signed(house: House) -> None:
    results = (await validate(house, profile_text(sts_enabled=False, remote_signing_enabled=False))).checks
    skipped = [result.check for result in results if not result.passed]
    assert skipped == [Check.ISSUED, Check.VENDED, Check.SCOPE, Check.SIGNED]
    assert house.backend.terms_asked == 0


async def test_a_store_that_lets_signatures_be_led_elsewhere_fails_where_its_warehouse_signs() -> None:
    house = await House(terms=None).with_secret()
    refusal = await refusal_of(validate(house, profile_text(sts_enabled=False)))
    assert refusal.metadata == {"check": "remote-signing-scope-enforced"}
    assert not house.backend.objects
    await validate(house, profile_text(sts_enabled=False, remote_signing_enabled=False))


async def test_a_store_whose_sessions_open_more_for_a_forwarded_request_fails_and_is_left_clean() -> None:
    house = await House(obeys_forwarding=True).with_secret()
    refusal = await refusal_of(validate(house))
    assert refusal.metadata == {"check": "remote-signing-scope-enforced"}
    assert not house.backend.objects


async def test_a_validation_that_is_switched_off_touches_nothing(house: House) -> None:
    validation = await validate(house, skip=True)
    assert not any(result.passed for result in validation.checks)
    assert validation.tells_case is None
    assert not house.backend.opened


# ---- secrets ---------------------------------------------------------------------------------------------------------


class Table:
    """An authorizer that answers from a table."""

    def __init__(self, outcomes: dict[Action, Outcome]) -> None:
        self._outcomes = outcomes

    async def decide(self, principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
        del principal
        return [self._outcomes.get(demand.action, Outcome.HIDDEN) for demand in demands]

    async def decide_each(self, turns: Sequence[Turn]) -> Sequence[Sequence[Outcome]]:
        raise NotImplementedError

    async def visible(self, principal: Principal, scope: ObjectRef, kind: ObjectKind) -> VisibleSet:
        raise NotImplementedError


async def stage(house: House, outcomes: dict[Action, Outcome], *, warehouse_id: UUID | None = None) -> Any:
    staging = CredentialStagings(Table(outcomes), house.secrets, house.clock, CountingIds())
    given = StageCredential(credential().document(), warehouse_id)
    return await staging(given, caller=Caller(user("oidc~alice"), "p"))


@pytest.mark.parametrize("outcome", list(Outcome))
async def test_who_may_make_a_warehouse_may_stage_a_credential(outcome: Outcome) -> None:
    house = House()
    staging = stage(house, {Action.PROJECT_CREATE_WAREHOUSE: outcome})
    if outcome is Outcome.ALLOWED:
        secret_id, kind = await staging
        assert (secret_id in house.secrets.rows, kind) == (True, "s3:access-key")
        return
    expected = {Outcome.HIDDEN: Reason.REASON_NO_SUCH_PROJECT, Outcome.DENIED: Reason.REASON_FORBIDDEN}
    assert (await refusal_of(staging)).reason == expected[outcome]
    assert not house.secrets.rows


@pytest.mark.parametrize("storage", list(Outcome))
@pytest.mark.parametrize("alone", list(Outcome))
async def test_who_may_change_a_warehouse_s_credential_by_either_way_may_stage_one(
    storage: Outcome, alone: Outcome
) -> None:
    house = House()
    outcomes = {Action.WAREHOUSE_MODIFY_STORAGE: storage, Action.WAREHOUSE_MODIFY_STORAGE_CREDENTIAL: alone}
    staging = stage(house, outcomes, warehouse_id=WAREHOUSE)
    if Outcome.ALLOWED in {storage, alone}:
        await staging
    else:
        expected = {Outcome.HIDDEN: Reason.REASON_NO_SUCH_WAREHOUSE, Outcome.DENIED: Reason.REASON_FORBIDDEN}
        assert (await refusal_of(staging)).reason == expected[alone]
        assert not house.secrets.rows


async def test_what_is_staged_and_never_kept_is_swept_after_an_hour(house: House) -> None:
    secret_id, _ = await stage(house, {Action.PROJECT_CREATE_WAREHOUSE: Outcome.ALLOWED})
    house.clock.time += STAGED_FOR
    sweep = StagedSweeps(house.secrets, house.clock)
    assert await sweep() == 0
    house.clock.advance(seconds=1)
    assert await sweep() == 1
    assert secret_id not in house.secrets.rows
    assert SECRET in house.secrets.rows


async def test_a_rotation_leaves_no_secret_under_an_old_key(house: House) -> None:
    house.secrets.keys.insert(0, "two")
    assert await SecretReencryptions(house.secrets)() == 1
    house.secrets.keys.remove("one")
    found = await house.secrets.find(SECRET)
    assert found is not None
    assert found.credential == credential()


async def test_a_secret_that_is_not_the_warehouse_s_to_keep_is_refused(house: House) -> None:
    keeping = SecretBindings(house.secrets, house.clock)
    for secret_id in (SECRET, UUID(int=404)):
        refusal = await refusal_of(keeping(secret_id, warehouse_id=UUID(int=99)))
        assert (refusal.reason, refusal.metadata) == (Reason.REASON_NO_SUCH_SECRET, {"secret": str(secret_id)})
    await keeping(SECRET, warehouse_id=WAREHOUSE)


# ---- normalising -----------------------------------------------------------------------------------------------------


async def normalise(house: House, text: bytes = PROFILE, *, secret_id: UUID | None = SECRET, **rules: Any) -> Any:
    kinds = Kinds({"s3": S3Kind(house.backend, SystemIdentityRules(**rules), house.clock)})
    return await ProfileNormalisations(house.secrets, kinds, AddressRules())(NormaliseProfile(text, secret_id, None))


async def test_a_profile_that_is_given_with_an_absent_secret_is_refused(house: House) -> None:
    refusal = await refusal_of(normalise(house, secret_id=UUID(int=404)))
    assert refusal.reason == Reason.REASON_NO_SUCH_SECRET


async def test_the_catalog_learns_what_it_needs_of_a_profile(house: House) -> None:
    normal = await normalise(house, profile_text(allow_alternative_protocols=True, aws_kms_key_arn="arn:k"))
    profile, facts = normal.profile, normal.facts
    assert str(profile.base) == "s3://lake/wh"
    assert profile.place == "s3 store:9000"
    assert normal.credential_kind == "s3:access-key"
    assert facts.defaults == {"s3.sse.type": "kms", "s3.sse.key": "arn:k"}
    assert (facts.push_delete_disabled, normal.signs_remotely) == (True, True)
    assert documents.dump(profile.layout.document()) == b'{"type":"default"}'
    assert profile.schemes == ("s3", "s3a", "s3n")
    assert (await normalise(house, documents.dump(profile.document()))).profile == profile


async def test_a_metadata_address_is_no_endpoint(house: House) -> None:
    for changes in ({"endpoint": "http://169.254.169.254"}, {"sts-endpoint": "http://metadata.google.internal/x"}):
        assert (await refusal_of(normalise(house, profile_text(**changes)))).reason == Reason.REASON_ADDRESS_DENIED


SYSTEM = b'{"type":"s3","credential-type":"aws-system-identity"}'


@pytest.mark.parametrize(
    ("setting", "profile", "rules"),
    [
        ("ENABLE_AWS_SYSTEM_CREDENTIALS", {}, {}),
        ("S3_ENABLE_DIRECT_SYSTEM_CREDENTIALS", {}, {"aws": True}),
        ("S3_REQUIRE_EXTERNAL_ID_FOR_SYSTEM_CREDENTIALS", {"assume-role-arn": "arn:r"}, {"aws": True}),
        (None, {"assume-role-arn": "arn:r"}, {"aws": True, "aws_external_id_required": False}),
        (None, {}, {"aws": True, "aws_direct": True}),
    ],
)
async def test_the_process_s_own_identity_is_used_as_the_operator_allows(
    setting: str | None, profile: dict[str, object], rules: dict[str, Any]
) -> None:
    house = House()
    await house.secrets.stage(SECRET, credentials.parse(SYSTEM), staged_by="a", warehouse_id=None, now=START)
    work = normalise(house, profile_text(**profile), **rules)
    if setting is None:
        assert (await work).credential_kind == "s3:aws-system-identity"
    else:
        refusal = await refusal_of(work)
        assert (refusal.reason, refusal.metadata) == (
            Reason.REASON_STORAGE_MISCONFIGURED,
            {"setting": f"LAKEKEEPER__{setting}"},
        )
