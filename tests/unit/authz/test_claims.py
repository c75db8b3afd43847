from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_authz.domain.claims import at_path, check_scope, check_times, subject_of, texts_of, token_roles
from lakeward_authz.domain.display_template import DisplayTemplate, MalformedTemplate
from lakeward_authz.domain.engines import EngineTokens, engines_of
from lakeward_authz.domain.profiles import Profile, UserKind, profile_of
from lakeward_authz.domain.user_ids import user_id_of
from lakeward_servicekit.errors import Reason, Refusal

NOW = datetime(2026, 8, 1, tzinfo=UTC)
AT = NOW.timestamp()
MINUTE = timedelta(minutes=1)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def cause_of(refusal: pytest.ExceptionInfo[Refusal]) -> str:
    return refusal.value.metadata["cause"]


@pytest.mark.parametrize(
    ("claims", "cause"),
    [
        ({}, "exp"),
        ({"exp": None}, "exp"),
        ({"exp": "tomorrow"}, "exp"),
        ({"exp": True}, "exp"),
        ({"exp": float("inf")}, "exp"),
        ({"exp": float("nan")}, "exp"),
        ({"exp": 10**400}, "exp"),
        ({"exp": AT - 60}, "expired"),
        ({"exp": AT + 10, "nbf": AT + 61}, "not yet valid"),
        ({"exp": AT + 10, "nbf": []}, "nbf"),
    ],
)
def test_a_token_out_of_its_time_is_refused(claims: dict[str, Any], cause: str) -> None:
    with pytest.raises(Refusal) as refusal:
        check_times(claims, now=NOW, leeway=MINUTE)
    assert cause_of(refusal) == cause


def test_clocks_may_differ_by_a_minute() -> None:
    assert check_times({"exp": AT - 59, "nbf": AT + 59}, now=NOW, leeway=MINUTE) == NOW - timedelta(seconds=59)


def test_clocks_may_differ_by_what_is_configured_and_no_more() -> None:
    leeway = timedelta(seconds=5)
    assert check_times({"exp": AT - 4, "nbf": AT + 4}, now=NOW, leeway=leeway) == NOW - timedelta(seconds=4)
    for claims in ({"exp": AT - 5}, {"exp": AT + 9, "nbf": AT + 6}):
        with pytest.raises(Refusal):
            check_times(claims, now=NOW, leeway=leeway)


def test_an_end_beyond_the_calendar_is_the_calendars() -> None:
    assert check_times({"exp": 10**30}, now=NOW, leeway=MINUTE).year == 9999


@given(exp=ANYTHING, nbf=ANYTHING)
def test_no_claim_of_any_type_breaks_the_check_of_times(exp: object, nbf: object) -> None:
    with suppress(Refusal):
        assert check_times({"exp": exp, "nbf": nbf}, now=NOW, leeway=MINUTE) > NOW - timedelta(minutes=1)


def test_the_first_subject_claim_that_is_text_counts() -> None:
    assert subject_of({"oid": "o", "sub": "s"}, ("oid", "sub")) == "o"
    assert subject_of({"oid": 7, "sub": "s"}, ("oid", "sub")) == "s"
    for claims in ({}, {"sub": None}, {"sub": ["s"]}):
        with pytest.raises(Refusal) as refusal:
            subject_of(claims, ("oid", "sub"))
        assert cause_of(refusal) == "subject"


@pytest.mark.parametrize("scope", [None, "", "lakekeeper2 x", "xlakekeeper", ["lakekeeper"], 4])
def test_a_required_scope_is_a_whole_word_of_the_claim(scope: object) -> None:
    check_scope({"scope": "openid lakekeeper"}, "lakekeeper")
    check_scope({"scope": scope}, None)
    with pytest.raises(Refusal) as refusal:
        check_scope({"scope": scope}, "lakekeeper")
    assert cause_of(refusal) == "scope"


def test_a_path_leads_through_objects_and_a_name_with_dots_wins() -> None:
    claims = {"a": {"b": ["x", 1, "y"]}, "https://example.org/roles": "r", "c": "text"}
    assert texts_of(at_path(claims, "a.b")) == ("x", "y")
    assert texts_of(at_path(claims, "https://example.org/roles")) == ("r",)
    for path in ("a.b.c", "c.d", "nowhere", "a..b"):
        assert texts_of(at_path(claims, path)) == ()


@pytest.mark.parametrize("subject", ["", "a\0b", "line\nbreak", "x" * 128, "é" * 64, "\ud800"])
def test_a_subject_that_no_user_id_holds_is_refused(subject: str) -> None:
    with pytest.raises(Refusal) as refusal:
        user_id_of("oidc", subject)
    assert refusal.value.reason == Reason.REASON_INVALID_USER_ID
    assert len(refusal.value.metadata["subject"]) < 1000


@given(subject=st.text(min_size=1, max_size=31, alphabet=st.characters(exclude_categories=("Cc", "Cs"))))
def test_a_user_id_gives_its_subject_back(subject: str) -> None:
    assert user_id_of("my-idp", subject).partition("~")[2] == subject


@pytest.mark.parametrize("text", ["{", "}", "{a", "a}", "{}", "{a b}", "{.a}", "{a.}", "{a..b}", "{{a}", "{{{a}}"])
def test_a_template_with_a_loose_brace_or_no_path_is_malformed(text: str) -> None:
    with pytest.raises(MalformedTemplate):
        DisplayTemplate.parse(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("{a.b} ({c})", "B (C)"),
        ("{{{c}}}", "{C}"),
        ("fixed", "fixed"),
        ("{missing}", None),
        ("{a}", None),
        ("{number}", None),
        ("", None),
    ],
)
def test_a_template_is_filled_or_gives_no_name(text: str, name: str | None) -> None:
    claims = {"a": {"b": "B"}, "c": "C", "number": 4}
    assert DisplayTemplate.parse(text).fill(claims) == name


PROFILES: list[tuple[dict[str, object], Profile]] = [
    ({"name": "Ann", "email": "a@x"}, Profile("Ann", "a@x", UserKind.HUMAN)),
    ({"given_name": "Ann", "last_name": "Lee", "upn": "ann@x"}, Profile("Ann Lee", "ann@x", UserKind.HUMAN)),
    ({"app_displayname": "etl", "client_id": "c"}, Profile("etl", None, UserKind.APPLICATION)),
    ({"preferred_username": "ann@x"}, Profile("ann@x", "ann@x", UserKind.APPLICATION)),
    ({"name": "bot", "idtyp": "app"}, Profile("bot", None, UserKind.APPLICATION)),
    ({"idtyp": "user"}, Profile("T", None, UserKind.HUMAN)),
    ({"name": 5, "email": ["a"]}, Profile("T", None, UserKind.APPLICATION)),
    ({"name": "A\0nn\n", "email": "\0"}, Profile("Ann", None, UserKind.HUMAN)),
]


@pytest.mark.parametrize(("claims", "profile"), PROFILES)
def test_a_profile_is_read_from_the_usual_claims_in_order(claims: dict[str, object], profile: Profile) -> None:
    assert profile_of({"sub": "T", **claims}, DisplayTemplate.parse("{sub}")) == profile


@given(st.dictionaries(st.sampled_from(["name", "email", "idtyp", "upn", "preferred_username"]), ANYTHING))
def test_no_claim_of_any_type_breaks_a_profile(claims: dict[str, object]) -> None:
    profile = profile_of(claims, None)
    assert "\0" not in f"{profile.name}{profile.email}"


def test_an_engine_is_known_by_audience_or_subject_at_its_own_provider() -> None:
    trusted = [
        EngineTokens("trino", "oidc", frozenset({"trino-aud"}), frozenset({"svc"})),
        EngineTokens("other", "oidc", frozenset(), frozenset({"svc"})),
    ]

    def matched(provider: str, subject: str, *audiences: str) -> tuple[str, ...]:
        return engines_of(trusted, provider=provider, subject=subject, audiences=audiences)

    assert matched("oidc", "svc") == ("other", "trino")
    assert matched("oidc", "x", "trino-aud", "more") == ("trino",)
    assert matched("elsewhere", "svc", "trino-aud") == matched("oidc", "x", "y") == ()


def test_roles_are_named_once_in_order_and_as_nothing_that_no_role_can_be_bound_to() -> None:
    named = ["b", "a", "b", "", "c~d", "a\0b", "\ud800"]
    assert token_roles("oidc", named) == ("oidc~a", "oidc~b", "oidc~c~d")
