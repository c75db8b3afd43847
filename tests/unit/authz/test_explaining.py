"""Why somebody may, or may not: by which grants, through which roles, and what would have to be given."""

from __future__ import annotations

import pytest

from lakeward_authz.adapters.allow_all import EveryRight
from lakeward_authz.application.doors import Doors
from lakeward_authz.application.explaining import ExplainAccess, Explanation, Ground, Question, Source
from lakeward_authz.application.permissions import Named
from lakeward_authz.domain.permissions.objects import Subject, role_subject
from lakeward_servicekit.authorization.principals import Principal, user
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.authz_memory import InMemory, TrailsInMemory
from tests.support.authz_worlds import World, id_of, subject_of

ADMIN, ANNE, INSTANCE, STRANGER = (user(f"oidc~{name}") for name in ("admin", "anne", "instance", "stranger"))


@pytest.fixture
def rows() -> InMemory:
    world = World()
    world.add("project", "p", "server")
    world.add("warehouse", "w", "p")
    world.add("namespace", "n", "w")
    world.add("namespace", "n.deep", "n")
    world.add("table", "t", "n.deep")
    for role in ("outer", "inner"):
        world.add("role", role, "p")
    world.give("user:admin", "project_admin", "p")
    return InMemory(world)


async def why(
    rows: InMemory,
    action: str,
    *,
    name: str = "t",
    about: str | None = None,
    caller: Principal = ANNE,
    open_to_all: bool = False,
) -> Explanation:
    rights = EveryRight(rows) if open_to_all else rows
    explain = ExplainAccess(
        Doors(rows, rights, frozenset({INSTANCE.user_id})), TrailsInMemory(rows), open_to_all=open_to_all
    )
    subject = None if about is None else subject_of(about)
    return await explain(Question(rows.named(name), action, subject), caller=caller)


def said(groups: object) -> list[list[tuple[str, Subject | None, str | None, tuple[Subject, ...]]]]:
    assert isinstance(groups, list)
    return [[_said(source) for source in group] for group in groups]


def _said(source: Source) -> tuple[str, Subject | None, str | None, tuple[Subject, ...]]:
    grant = source.grant
    given = (None, None) if grant is None else (grant.subject, grant.relation)
    return source.named.type, *given, tuple(source.roles)


async def test_each_grant_that_is_enough_by_itself_is_named_with_the_roles_that_lead_to_it(rows: InMemory) -> None:
    outer, inner = role_subject(id_of("outer")), role_subject(id_of("inner"))
    rows.world.give("user:anne", "assignee", "inner")
    rows.world.give("role:inner", "assignee", "outer")
    rows.world.give("role:outer", "modify", "w")
    rows.world.give("user:anne", "select", "t")
    rows.world.give("user:anne", "describe", "n")
    found = await why(rows, "read_data")
    assert (found.allowed, found.ground, found.remedies) == (True, Ground.GRANTS, ())
    assert said(found.because) == [
        [("warehouse", outer, "modify", (inner, outer))],
        [("table", subject_of("user:anne"), "select", ())],
    ]
    assert said((await why(rows, "write_data")).because) == [[("warehouse", outer, "modify", (inner, outer))]]


async def test_grants_that_are_enough_only_together_are_named_together(rows: InMemory) -> None:
    rows.world.give("user:anne", "select", "n")
    rows.world.give("user:anne", "pass_grants", "t")
    anne = subject_of("user:anne")
    assert said((await why(rows, "grant_select")).because) == [
        [("namespace", anne, "select", ()), ("table", anne, "pass_grants", ())]
    ]


async def test_what_shows_a_container_from_within_is_named(rows: InMemory) -> None:
    rows.world.give("user:anne", "select", "t")
    found = await why(rows, "get_metadata", name="n")
    assert (found.allowed, found.because) == (True, [])
    assert [_said(source)[:3] for source in found.inside] == [("table", subject_of("user:anne"), "select")]


async def test_what_would_have_to_be_given_is_the_least_of_each_place_and_who_could_is_named_to_who_reads_grants(
    rows: InMemory,
) -> None:
    rows.world.give("user:anne", "describe", "t")
    rows.world.give("user:owner", "ownership", "n")
    found = await why(rows, "write_data", about="user:anne", caller=ADMIN)
    assert (found.allowed, found.because) == (False, ())
    assert [(each.named.type, each.privilege, each.giving) for each in found.remedies] == [
        ("table", "modify", "grant_modify"),
        ("namespace", "modify", "grant_modify"),
        ("namespace", "modify", "grant_modify"),
        ("warehouse", "modify", "grant_modify"),
        ("project", "modify", "grant_modify"),
        ("server", "operator", "grant_operator"),
    ]
    admin, owner = subject_of("user:admin"), subject_of("user:owner")
    assert [set(each.givers) for each in found.remedies] == [{admin, owner}] * 3 + [{admin}, {admin}, set()]
    own = await why(rows, "write_data")
    assert [each.privilege for each in own.remedies] == [each.privilege for each in found.remedies]
    assert all(each.givers == [] for each in own.remedies), "anne may not read grants there"


async def test_managed_access_is_named_where_it_keeps_an_owner_from_giving(rows: InMemory) -> None:
    rows.world.nodes["n"] = type(rows.world.nodes["n"])(rows.world.nodes["n"].key, "w", managed=True)
    rows.world.give("user:anne", "ownership", "t")
    found = await why(rows, "grant_select")
    assert not found.allowed
    assert [(named.type, named.id) for named in found.managed_by] == [("namespace", id_of("n"))]
    assert (await why(rows, "read_data")).allowed


async def test_grants_in_places_that_the_asker_may_not_read_have_no_names(rows: InMemory) -> None:
    rows.world.give("user:granter", "manage_grants", "t")
    rows.world.give("user:anne", "modify", "w")
    rows.world.give("user:anne", "select", "t")
    found = await why(rows, "read_data", about="user:anne", caller=user("oidc~granter"))
    assert said(found.because) == [
        [("warehouse", None, None, ())],
        [("table", subject_of("user:anne"), "select", ())],
    ]


async def test_who_may_not_read_grants_asks_about_nobody_else_and_who_sees_nothing_about_nothing(
    rows: InMemory,
) -> None:
    rows.world.give("user:anne", "select", "t")
    for about, caller, reason in (
        ("user:admin", ANNE, Reason.REASON_FORBIDDEN),
        ("user:admin", INSTANCE, Reason.REASON_NO_SUCH_TABLE),
        ("user:anne", STRANGER, Reason.REASON_NO_SUCH_TABLE),
        (None, STRANGER, Reason.REASON_NO_SUCH_TABLE),
    ):
        with pytest.raises(Refusal) as refused:
            await why(rows, "read_data", about=about, caller=caller)
        assert refused.value.reason == reason
    assert (await why(rows, "read_data", about="user:anne")).allowed, "that is oneself"


async def test_what_rests_on_no_grant_says_on_what_it_does(rows: InMemory) -> None:
    assert await why(rows, "drop", caller=STRANGER, open_to_all=True) == Explanation(allowed=True, ground=Ground.OPEN)
    assert await why(rows, "drop", caller=INSTANCE) == Explanation(allowed=True, ground=Ground.INSTANCE)
    data = await why(rows, "read_data", caller=INSTANCE)
    assert (data.allowed, data.ground) == (False, Ground.GRANTS)


async def test_why_a_role_may_be_assumed_is_the_grant_of_whoever_holds_it(rows: InMemory) -> None:
    rows.world.give("user:anne", "assignee", "inner")
    rows.world.give("role:inner", "assignee", "outer")
    found = await why(rows, "assume", name="outer")
    inner = role_subject(id_of("inner"))
    assert said(found.because) == [[("role", inner, "assignee", (inner,))]]


async def test_an_action_that_the_object_has_not_is_refused_before_anything_is_read(rows: InMemory) -> None:
    explain = ExplainAccess(Doors(rows, rows), TrailsInMemory(rows), open_to_all=False)
    for action in ("create_table", "", "ownership"):
        with pytest.raises(Refusal) as refused:
            await explain(Question(Named("table"), action), caller=ANNE)
        assert refused.value.reason == Reason.REASON_INVALID_FIELD
    assert rows.asked == 0
