"""Whatever a subject is called, who has it is nobody else: no other provider's user, no role, not everybody, not nobody."""

from __future__ import annotations

import itertools
import uuid
from contextlib import suppress

from hypothesis import assume, example, given
from hypothesis import strategies as st

from lakeward_authz.application.permissions import subject_of
from lakeward_authz.domain.permissions.objects import ANYBODY, ObjectKey
from lakeward_authz.domain.permissions.tuples import caller_name, grant_tuple
from lakeward_authz.domain.user_ids import user_id_of
from lakeward_servicekit.authorization.principals import (
    ANONYMOUS,
    SERVICE,
    Principal,
    PrincipalKind,
    RoleId,
    UserId,
    user,
)
from lakeward_servicekit.authorization.wire import principal_message, principal_of
from lakeward_servicekit.errors import Refusal

ROLE = uuid.UUID("0198f2c0-0000-7000-8000-000000000001")
# What separates, stands for others or is a word elsewhere, next to whatever text there is.
SIGNS = ["#", ":", "*", "~", "@", "/", "%", "%7E", "%23", "|", ",", "\\", '"', "'"]
LETTERS = [" ", "é", "e\u0301", "\u202e", "\u200b", "ß", "\u017f", "🦀"]
WORDS = ["user", "role", "user:*", "role:*", "#assignee", "#member", f"role:{ROLE}", f"role {ROLE} by ", str(ROLE)]
NAMES = ["anonymous", "service", "oidc", "oidc~", "kubernetes~", "system:serviceaccount:a:b", "ann", "Ann", "ANN"]
PIECES = st.sampled_from([*SIGNS, *LETTERS, *WORDS, *NAMES])
SUBJECTS = st.lists(PIECES, min_size=1, max_size=5).map("".join) | st.text(min_size=1, max_size=30)
PROVIDERS = st.sampled_from(["oidc", "kubernetes", "staff", "role", "user", "anonymous", "a-b"])


def principal(provider: str, subject: str) -> Principal | None:
    with suppress(Refusal):
        return user(user_id_of(provider, subject))
    return None


@given(provider=PROVIDERS, subject=SUBJECTS, other_provider=PROVIDERS, other_subject=SUBJECTS)
@example("oidc", "a~b", "oidc", "a")
@example("staff", "kubernetes~x", "kubernetes", "x")
@example("oidc", "é", "oidc", "e\u0301")
@example("oidc", "a%7Eb", "oidc", "a~b")
def test_two_who_differ_in_provider_or_subject_are_two_everywhere(
    provider: str, subject: str, other_provider: str, other_subject: str
) -> None:
    assume((provider, subject) != (other_provider, other_subject))
    one, two = principal(provider, subject), principal(other_provider, other_subject)
    assume(one is not None and two is not None)
    assert one is not None
    assert two is not None
    assert one.key != two.key
    assert subject_of(one) != subject_of(two)
    assert caller_name(subject_of(one)) != caller_name(subject_of(two))


@given(provider=PROVIDERS, subject=SUBJECTS)
@example("role", str(ROLE))
@example("oidc", f"role {ROLE} by oidc~ann")
@example("user", "*")
def test_no_user_is_taken_for_a_role_for_everybody_or_for_nobody(provider: str, subject: str) -> None:
    one = principal(provider, subject)
    assume(one is not None)
    assert one is not None
    as_role = Principal(PrincipalKind.ROLE, UserId("oidc~ann"), RoleId(str(ROLE)))
    own_role = Principal(PrincipalKind.ROLE, one.user_id, RoleId(str(ROLE)))
    others = (ANONYMOUS, SERVICE, as_role, own_role)
    assert one.key not in {each.key for each in others}
    assert subject_of(one) not in {ANYBODY, *(subject_of(each) for each in others)}
    named = caller_name(subject_of(one))
    assert named.startswith("user:")
    assert not set(named.removeprefix("user:")) & set("#:*@ /")


@given(provider=PROVIDERS, subject=SUBJECTS)
def test_what_is_granted_to_a_user_reaches_no_set_of_users(provider: str, subject: str) -> None:
    one = principal(provider, subject)
    assume(one is not None)
    assert one is not None
    granted = grant_tuple(ObjectKey("project", "p"), subject_of(one), "select")
    assert "#" not in granted.user
    assert granted.user.count(":") == 1
    assert "*" not in granted.user


@given(provider=PROVIDERS, subject=SUBJECTS)
def test_a_user_crosses_the_wire_as_it_is(provider: str, subject: str) -> None:
    one = principal(provider, subject)
    assume(one is not None)
    assert one is not None
    assert principal_of(type(principal_message(one)).FromString(principal_message(one).SerializeToString())) == one


def test_users_of_one_assumed_role_are_told_apart_and_so_are_roles_of_one_user() -> None:
    users, roles = ("oidc~ann", "oidc~ann by role", "oidc~bob"), (str(ROLE), str(uuid.UUID(int=1)))
    keys = {
        Principal(PrincipalKind.ROLE, UserId(user_id), RoleId(role)).key
        for user_id, role in itertools.product(users, roles)
    }
    assert len(keys) == len(users) * len(roles)
