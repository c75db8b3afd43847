from __future__ import annotations

import datetime as dt
import itertools

import pytest

from lakeward_vending.domain.credentials import CredentialKind
from lakeward_vending.domain.delegation import Choice, Delegation, Offer, choose
from lakeward_vending.domain.profiles.s3 import S3Profile
from lakeward_vending.domain.s3 import client_properties
from lakeward_vending.domain.s3.keys import Session
from lakeward_vending.domain.secret import Secret

VENDED, SIGNING, MANAGED = Delegation.VENDED_CREDENTIALS, Delegation.REMOTE_SIGNING, Delegation.CLIENT_MANAGED
BOTH, VEND, SIGN, NEITHER = (
    Choice(vend=v, sign=s) for v, s in ((True, True), (True, False), (False, True), (False, False))
)


@pytest.mark.parametrize(
    ("asked", "can_vend", "can_sign", "choice"),
    [
        ((), True, True, VEND),
        ((), True, False, VEND),
        ((), False, True, SIGN),
        ((), False, False, NEITHER),
        ((VENDED,), True, True, VEND),
        ((VENDED,), False, True, SIGN),
        ((VENDED,), False, False, NEITHER),
        ((SIGNING,), True, True, SIGN),
        ((SIGNING,), True, False, VEND),
        ((SIGNING,), False, False, NEITHER),
        ((VENDED, SIGNING), True, True, BOTH),
        ((VENDED, SIGNING), False, True, SIGN),
        ((VENDED, SIGNING), True, False, VEND),
        ((MANAGED,), True, True, NEITHER),
        ((MANAGED, VENDED), True, True, VEND),
    ],
)
def test_the_table_of_choices_holds(
    asked: tuple[Delegation, ...], can_vend: bool, can_sign: bool, choice: Choice
) -> None:
    assert choose(asked, Offer(vends=can_vend, signs=can_sign)) == choice


def test_nothing_is_chosen_that_is_not_there() -> None:
    for asked in itertools.chain.from_iterable(itertools.combinations(Delegation, size) for size in range(4)):
        for vend, sign in itertools.product((True, False), repeat=2):
            choice = choose(asked, Offer(vends=vend, signs=sign))
            assert choice.vend <= vend
            assert choice.sign <= sign


PROFILE = S3Profile(bucket="lake", region="eu-central-1", sts_enabled=True, endpoint="http://h", path_style_access=True)
SESSION = Session("AK", Secret("sk"), Secret("tok"), dt.datetime(2030, 1, 1, tzinfo=dt.UTC))
MILLISECONDS = "1893456000000"


def test_config_and_storage_credentials_hold_the_keys_of_the_reference() -> None:
    shared = {
        "s3.region": "eu-central-1",
        "client.region": "eu-central-1",
        "s3.endpoint": "http://h",
        "s3.path-style-access": "true",
    }
    keys = {"s3.access-key-id": "AK", "s3.secret-access-key": "sk", "s3.session-token": "tok"}
    vended = client_properties.vended(PROFILE, SESSION)
    assert {**client_properties.config(PROFILE, sign=False), **vended.config} == shared | keys | {
        "region": "eu-central-1"
    }
    assert vended.properties == shared | keys | {
        "s3.session-token-expires-at-ms": MILLISECONDS,
        "expiration-time": MILLISECONDS,
    }


def test_a_signing_client_is_told_to_sign_and_gets_no_key() -> None:
    properties = client_properties.config(PROFILE, sign=True)
    assert properties["s3.remote-signing-enabled"] == "true"
    assert properties["s3.signer"] == "S3V4RestSigner"
    assert properties["py-io-impl"] == "pyiceberg.io.fsspec.FsspecFileIO"
    assert not {key for key in properties if "key" in key or "token" in key}


def test_a_kms_key_is_told_everywhere() -> None:
    profile = S3Profile(bucket="lake", region="eu", sts_enabled=False, aws_kms_key_arn="arn:k")
    expected = {"s3.sse.type": "kms", "s3.sse.key": "arn:k"}
    assert client_properties.defaults(profile) == expected
    assert expected.items() <= client_properties.config(profile, sign=False).items()


@pytest.mark.parametrize(
    ("sts", "kind", "expected"),
    [
        (True, CredentialKind.S3_ACCESS_KEY, True),
        (False, CredentialKind.S3_ACCESS_KEY, False),
        (False, CredentialKind.S3_CLOUDFLARE_R2, True),
        (True, None, False),
    ],
)
def test_credentials_can_be_vended_where_sts_is_on_or_the_kind_always_does(
    sts: bool, kind: CredentialKind | None, expected: bool
) -> None:
    assert S3Profile(bucket="lake", region="eu", sts_enabled=sts).offer(kind).vends is expected
