"""What a trusted engine reads through views: as whom each step is decided, and what is told of it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import pytest

from lakeward_catalog.application.ports.access import Access, Vended
from lakeward_protocol.catalog.v1 import tables_pb2, views_pb2
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Outcome, Turn
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import RULES, House, a_house, context, ident, refusal_of, tabular, view_body
from tests.support.catalog.signing import file_of, sign, signs
from tests.support.deciding import Rule

ENGINE: Final = "oidc~engine"
ROLE_ID: Final = "0198f2c0-0000-7000-8000-00000000000a"
ROLE: Final = f"role {ROLE_ID} by {ENGINE}"
ANNE, BERT = "oidc~anne", "oidc~bert"
OWNER, OTHER_OWNER = "trino.run-as-owner", "dremio.owner"
# The views of every house here, and what they say of their owners.
VIEWS: Final[Mapping[str, Mapping[str, str]]] = {
    "invoker": {},
    "annes": {OWNER: "anne"},
    "berts": {OWNER: "bert"},
    "nobodys": {OWNER: "nobody"},
    "dremios": {OTHER_OWNER: "anne"},
    "disputed": {OWNER: "anne", OTHER_OWNER: "bert"},
    "agreed": {OWNER: "anne", OTHER_OWNER: "anne"},
    "shouting": {OWNER.upper(): "anne"},
    "empty": {OWNER: ""},
    "controlled": {OWNER: "anne\x00"},
    "endless": {OWNER: "a" * 128},
}
TABLE: Final = "orders"
GONE: Final = "gone"


class Case(NamedTuple):
    """A chain, who may read through or of what, and what is not found; "" where the table is read."""

    why: str
    chain: tuple[str, ...]
    may: Mapping[str, tuple[str, ...]]
    absent: str = ""
    role: str = ""


CASES: Final = [
    Case("the owner of a view reads for its reader", ("annes",), {ENGINE: ("annes",), ANNE: (TABLE,)}),
    Case("who may read the table may not so through the owner", ("annes",), {ENGINE: ("annes", TABLE)}, TABLE),
    Case("who owns a view need not be allowed to read it", ("annes",), {ENGINE: ("annes",), ANNE: (TABLE,)}),
    Case("who may not read a view reads nothing through it", ("annes",), {ANNE: ("annes", TABLE)}, "annes"),
    Case("without an owner it is read as its reader", ("invoker",), {ENGINE: ("invoker", TABLE)}),
    Case("without an owner nobody else's right counts", ("invoker",), {ENGINE: ("invoker",), ANNE: (TABLE,)}, TABLE),
    Case(
        "each owner reads what their view names",
        ("annes", "berts"),
        {ENGINE: ("annes",), ANNE: ("berts",), BERT: (TABLE,)},
    ),
    Case(
        "an inner view has to be readable to the outer one's owner",
        ("annes", "berts"),
        {ENGINE: ("annes", "berts"), BERT: (TABLE,)},
        "berts",
    ),
    Case(
        "the outer owner's right to the table is not the inner one's",
        ("annes", "berts"),
        {ENGINE: ("annes",), ANNE: ("berts", TABLE)},
        TABLE,
    ),
    Case(
        "behind an owner a view without one is read as that owner",
        ("annes", "invoker"),
        {ENGINE: ("annes",), ANNE: ("invoker", TABLE)},
    ),
    Case(
        "behind a view without owner comes one with an owner",
        ("invoker", "annes"),
        {ENGINE: ("invoker", "annes"), ANNE: (TABLE,)},
    ),
    Case(
        "a view may name its owner twice on the way",
        ("annes", "annes"),
        {ENGINE: ("annes",), ANNE: ("annes", TABLE)},
    ),
    Case("an assumed role reads what has no owner", ("invoker",), {ROLE: ("invoker", TABLE)}, role=ROLE_ID),
    Case("who assumed a role reads nothing as itself", ("invoker",), {ENGINE: ("invoker", TABLE)}, "invoker", ROLE_ID),
    Case("an owner reads behind an assumed role", ("annes",), {ROLE: ("annes",), ANNE: (TABLE,)}, role=ROLE_ID),
    Case("an owner whom nobody knows has no right", ("nobodys",), {ENGINE: ("nobodys", TABLE)}, TABLE),
    Case("a view that is not there ends the chain", ("missing",), {ENGINE: ("missing", TABLE)}, "missing"),
    Case("so does a dropped one", (GONE,), {ENGINE: (GONE, TABLE)}, GONE),
    Case("a table is no view on the way", (TABLE,), {ENGINE: (TABLE,)}, TABLE),
    Case("what is hidden first is told first", ("annes", "missing"), {ENGINE: ()}, "annes"),
    Case("another engine's property names no owner here", ("dremios",), {ENGINE: ("dremios", TABLE)}),
    Case("another spelling names no owner", ("shouting",), {ENGINE: ("shouting", TABLE)}),
]


class Asked:
    """Counts what the authorizer of a house is asked."""

    def __init__(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        self.questions: list[Sequence[Turn]] = []
        self.plain = 0
        decide, decide_each = house.authorizer.decide, house.authorizer.decide_each

        async def counted(principal: Principal, demands: Sequence[Demand]) -> Sequence[Outcome]:
            self.plain += 1
            return await decide(principal, demands)

        async def counted_each(turns: Sequence[Turn]) -> Sequence[Sequence[Outcome]]:
            self.questions.append(turns)
            return await decide_each(turns)

        monkeypatch.setattr(house.authorizer, "decide", counted)
        monkeypatch.setattr(house.authorizer, "decide_each", counted_each)


async def a_house_of_views(**options: Any) -> House:
    house = await a_house(**options)
    house.identity.engines = {ENGINE: ("trino",), "oidc~maker": ("trino", "dremio"), "oidc~both": ("trino", "dremio")}
    for name, properties in VIEWS.items():
        spelled = {key.lower(): value for key, value in properties.items()}
        body = view_body(name, properties=spelled)
        await house.views.CreateView(
            views_pb2.CreateViewRequest(
                context=context(authorization="oidc~maker"),
                warehouse_id=house.warehouse_id,
                namespace=ident("sales"),
                body=body,
            )
        )
    _respell(house, "shouting", VIEWS["shouting"])
    await house.make_view("sales", GONE)
    house.change_warehouse(restorable_for=RULES.restorable_by_default)
    await house.views.DropView(views_pb2.DropViewRequest(warehouse_id=house.warehouse_id, view=tabular("sales", GONE)))
    return house


def _respell(house: House, name: str, properties: Mapping[str, str]) -> None:
    """Give a view properties that no request may, as if they had been there before the engine was."""
    from lakeward_catalog.domain.bodies import Body, BodyPart, text_of
    from lakeward_servicekit.deflated import deflate

    row = house.tabular(name)
    document = json.loads(text_of(house.catalog.rows.bodies[row.warehouse_id, row.metadata_id].whole))
    parts = (BodyPart(None, deflate(json.dumps(document | {"properties": dict(properties)}).encode())),)
    house.catalog.rows.bodies[row.warehouse_id, row.metadata_id] = Body(parts, parts)


def grant(house: House, may: Mapping[str, Sequence[str]], *others: Rule) -> None:
    """Nobody may anything but use the warehouse, and what is said here."""
    rows = {row.ident.name: row.incarnation for row in house.catalog.rows.tabulars.values()}
    house.authorizer.replace(
        *others,
        *(Rule(True, principal=who, id=rows[name]) for who, names in may.items() for name in names if name in rows),
        Rule(True, kind=ObjectKind.WAREHOUSE),
    )


async def load(house: House, *chain: str, who: str = ENGINE, role: str = "", **members: Any) -> Any:
    return await house.tables.LoadTable(
        tables_pb2.LoadTableRequest(
            context=_context(who, role),
            warehouse_id=house.warehouse_id,
            table=tabular("sales", TABLE),
            referenced_by=[tabular("sales", name) for name in chain],
            **members,
        )
    )


async def load_view(house: House, name: str, *chain: str, who: str = ENGINE) -> Any:
    return await house.views.LoadView(
        views_pb2.LoadViewRequest(
            context=_context(who),
            warehouse_id=house.warehouse_id,
            view=tabular("sales", name),
            referenced_by=[tabular("sales", each) for each in chain],
        )
    )


async def load_credentials(house: House, *chain: str, who: str = ENGINE) -> Any:
    return await house.tables.LoadCredentials(
        tables_pb2.LoadCredentialsRequest(
            context=_context(who),
            warehouse_id=house.warehouse_id,
            table=tabular("sales", TABLE),
            referenced_by=[tabular("sales", name) for name in chain],
        )
    )


def _context(who: str, role: str = "") -> context_pb2.RequestContext:
    return context(authorization=who, assumed_role=role, base_uri="http://lake")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
async def test_each_step_is_decided_for_whoever_reads_at_that_point(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = await a_house_of_views()
    grant(house, case.may)
    asked = Asked(house, monkeypatch)
    loading = load(house, *case.chain, role=case.role)
    if case.absent:
        refusal = await refusal_of(loading)
        of_view = case.absent != TABLE or TABLE in case.chain
        expected = Reason.REASON_NO_SUCH_VIEW if of_view else Reason.REASON_NO_SUCH_TABLE
        assert (refusal.reason, [*refusal.metadata.values()]) == (expected, [f"sales.{case.absent}"])
    else:
        assert (await loading).table.metadata
    assert (len(asked.questions), asked.plain) == (1, 0), "all of a chain is one question"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
async def test_a_view_and_bare_credentials_are_decided_by_the_same_walk(case: Case) -> None:
    house = await a_house_of_views()
    grant(house, {who: (*names, *(["recent"] if TABLE in names else [])) for who, names in case.may.items()})
    if case.role:
        return  # said of tables above
    for loading, target in (
        (load_view(house, "recent", *case.chain), "recent"),
        (load_credentials(house, *case.chain), TABLE),
    ):
        if case.absent:
            refusal = await refusal_of(loading)
            absent = target if case.absent == TABLE and TABLE not in case.chain else case.absent
            assert [*refusal.metadata.values()] == [f"sales.{absent}"]
        else:
            assert await loading


async def test_without_a_chain_nothing_else_is_asked_or_read(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await a_house_of_views()
    grant(house, {ENGINE: (TABLE,)})
    asked = Asked(house, monkeypatch)
    monkeypatch.setattr(house.catalog.tabulars, "views", None)
    assert (await load(house)).table.metadata
    assert (len(asked.questions), asked.plain) == (0, 1)


@pytest.mark.parametrize("name", ["missing", GONE, TABLE, "annes", "disputed", "empty"])
async def test_a_view_that_is_hidden_is_told_like_one_that_is_not_there(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = await a_house_of_views()
    grant(house, {ENGINE: (TABLE,), ANNE: (TABLE,)})
    asked = Asked(house, monkeypatch)
    refusal = await refusal_of(load(house, name, who=ENGINE if name != "disputed" else "oidc~both"))
    assert refusal.message.replace(name, "V") == (
        "View does not exist: sales.V, or who reads through it may not; ask who manages its grants"
    )
    assert (refusal.reason, dict(refusal.metadata)) == (Reason.REASON_NO_SUCH_VIEW, {"view": f"sales.{name}"})
    assert (len(asked.questions), asked.plain) == (1, 0)


@pytest.mark.parametrize("refused", [Action.VIEW_GET_METADATA, Action.VIEW_SELECT])
async def test_to_read_through_a_view_is_to_see_it_and_to_select_from_it(refused: Action) -> None:
    house = await a_house_of_views()
    grant(house, {ENGINE: ("annes",), ANNE: (TABLE,)}, Rule(False, principal=ENGINE, action=refused))
    assert (await refusal_of(load(house, "annes"))).reason == Reason.REASON_NO_SUCH_VIEW


async def test_a_table_that_the_owner_sees_and_may_not_read_comes_without_access() -> None:
    house = await a_house_of_views()
    data = [Rule(False, principal=ANNE, action=each) for each in (Action.TABLE_READ_DATA, Action.TABLE_WRITE_DATA)]
    grant(house, {ENGINE: ("annes", TABLE), ANNE: (TABLE,)}, *data)
    assert not (await load(house, "annes")).table.config
    refusal = await refusal_of(load_credentials(house, "annes"))
    assert (refusal.reason, refusal.metadata["action"]) == (Reason.REASON_FORBIDDEN, "read_data")


async def test_a_warehouse_that_the_caller_does_not_see_hides_every_chain() -> None:
    house = await a_house_of_views()
    grant(house, {ENGINE: ("annes",), ANNE: (TABLE,)}, Rule(False, principal=ENGINE, kind=ObjectKind.WAREHOUSE))
    assert (await refusal_of(load(house, "annes"))).reason == Reason.REASON_NO_SUCH_WAREHOUSE


async def test_an_inactive_warehouse_is_absent_to_chains() -> None:
    house = await a_house_of_views()
    house.change_warehouse(active=False)
    assert (await refusal_of(load(house, "annes"))).reason == Reason.REASON_NO_SUCH_WAREHOUSE


async def test_two_engines_that_name_different_owners_are_refused_once_the_view_may_be_read() -> None:
    house = await a_house_of_views()
    grant(house, {"oidc~both": ("disputed", "agreed"), ANNE: (TABLE,)})
    refusal = await refusal_of(load(house, "disputed", who="oidc~both"))
    assert (refusal.reason, dict(refusal.metadata)) == (Reason.REASON_VIEW_OWNER_UNCLEAR, {"view": "sales.disputed"})
    assert "anne" not in refusal.message
    assert (await load(house, "agreed", who="oidc~both")).table.metadata


@pytest.mark.parametrize("name", ["empty", "controlled", "endless"])
async def test_an_owner_that_no_user_can_be_is_refused(name: str) -> None:
    house = await a_house_of_views()
    grant(house, {ENGINE: (name, TABLE)})
    assert (await refusal_of(load(house, name))).reason == Reason.REASON_VIEW_OWNER_UNCLEAR


async def test_owners_are_users_of_the_tokens_own_identity_provider() -> None:
    house = await a_house_of_views()
    house.identity.engines["corp~engine~1"] = ("trino",)
    grant(house, {"corp~engine~1": ("annes",), "corp~anne": (TABLE,)})
    assert (await load(house, "annes", who="corp~engine~1")).table.metadata
    grant(house, {"corp~engine~1": ("annes",), ANNE: (TABLE,)})
    assert (await refusal_of(load(house, "annes", who="corp~engine~1"))).reason == Reason.REASON_NO_SUCH_TABLE


@pytest.mark.parametrize("who", ["oidc~somebody", "oidc~stranger"])
async def test_from_whom_no_engine_vouches_for_a_chain_is_not_even_looked_at(
    who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = await a_house_of_views()
    house.identity.engines["oidc~stranger"] = ("unknown here",)
    grant(house, {who: (TABLE,)})
    asked = Asked(house, monkeypatch)
    assert (await load(house, "missing", who=who)).table.metadata
    assert (len(asked.questions), asked.plain) == (0, 1)
    grant(house, {ANNE: (TABLE,), who: ("annes",)})
    assert (await refusal_of(load(house, "annes", who=who))).reason == Reason.REASON_NO_SUCH_TABLE


@pytest.mark.parametrize("who", [ENGINE, "oidc~somebody"])
@pytest.mark.parametrize("what", ["table", "credentials", "view"])
async def test_a_chain_that_is_too_long_is_refused_from_anybody(who: str, what: str) -> None:
    house = await a_house_of_views(rules=dataclasses.replace(RULES, referenced_by_max=2))
    chain = ("annes",) * 3
    loading = {
        "table": load(house, *chain, who=who),
        "credentials": load_credentials(house, *chain, who=who),
        "view": load_view(house, "recent", *chain, who=who),
    }
    for name, each in loading.items():
        if name != what:
            each.close()
    refusal = await refusal_of(loading[what])
    assert (refusal.reason, dict(refusal.metadata)) == (
        Reason.REASON_REFERENCED_BY_TOO_DEEP,
        {"depth": "3", "limit": "2"},
    )


async def test_access_is_given_to_whom_the_chain_leads() -> None:
    house = await a_house_of_views()
    grant(house, {ENGINE: ("annes", TABLE), ANNE: (TABLE, "recent")})
    house.access.vended.clear()
    await load(house, "annes")
    await load_credentials(house, "annes")
    await load_view(house, "recent", "annes")
    await load(house)
    assert [(level, principal) for _, level, principal in house.access.vended] == [
        (Access.READ_WRITE_DELETE, ANNE),
        (Access.READ_WRITE_DELETE, ANNE),
        (Access.READ, ANNE),
        (Access.READ_WRITE_DELETE, ENGINE),
    ]


async def test_a_tag_holds_on_its_own_way_and_for_its_own_reader_alone() -> None:
    house = await a_house_of_views()
    everything = ("annes", "berts", "invoker", "agreed", TABLE)
    grant(house, {ENGINE: everything, ANNE: everything, BERT: everything})
    ways = [(), ("annes",), ("berts",), ("invoker",), ("agreed",), ("annes", "invoker"), ("invoker", "annes")]
    tags = [(await load(house, *way)).table.etag for way in ways]
    assert len(set(tags)) == len(ways)
    for way, tag in zip(ways, tags, strict=True):
        held = [(await load(house, *other, if_none_match=[tag])).not_modified != "" for other in ways]
        assert held == [other == way for other in ways]


async def test_nothing_is_unchanged_for_whom_a_chain_leads_nowhere() -> None:
    house = await a_house_of_views()
    grant(house, {ENGINE: ("annes",), ANNE: (TABLE,)})
    tag = (await load(house, "annes")).table.etag
    assert (await load(house, "annes", if_none_match=[tag])).not_modified == tag
    grant(house, {ENGINE: ("annes",)})
    for presented in (tag, "*"):
        refusal = await refusal_of(load(house, "annes", if_none_match=[presented]))
        assert refusal.reason == Reason.REASON_NO_SUCH_TABLE
    grant(house, {ANNE: (TABLE,)})
    assert (await refusal_of(load(house, "annes", if_none_match=[tag]))).reason == Reason.REASON_NO_SUCH_VIEW


async def test_fresh_credentials_are_fetched_on_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await a_house_of_views()
    await house.make_view("sales", "a, b")
    link = "client.refresh-credentials-endpoint"

    async def vend(*_: Any, **__: Any) -> Vended:
        return Vended({}, {"s3.session-token": "x"}, None, sign_remotely=False, refresh_property=link)

    monkeypatch.setattr(house.access, "vend", vend)
    grant(house, {ENGINE: ("annes", "a, b"), ANNE: (TABLE, "a, b")})
    (entry,) = (await load(house, "annes", "a, b")).table.storage_credentials
    assert entry.config[link].endswith(
        "/tables/orders/credentials?referenced-by=sales%251Fannes,sales%251Fa%252C%2520b"
    )
    (entry,) = (await load_credentials(house, "annes")).storage_credentials
    assert entry.config[link].endswith("/tables/orders/credentials?referenced-by=sales%251Fannes")


async def test_what_is_read_as_an_owner_is_signed_as_that_owner_while_both_may(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await a_house_of_views()
    signed = signs(house, monkeypatch)
    grant(house, {ENGINE: ("annes",), ANNE: (TABLE,)})
    endpoint = (await load(house, "annes")).table.config["s3.signer.endpoint"]
    scope = endpoint.partition("scope=")[2]

    async def sign_it(who: str = ENGINE) -> Any:
        return await sign(house, file_of(house, TABLE), of=TABLE, scope=scope, who=who)

    await sign_it()
    assert len(signed) == 1
    for refused in (sign_it("oidc~maker"), sign_it(ANNE + "~")):
        assert (await refusal_of(refused)).reason == Reason.REASON_NO_SUCH_TABLE
    house.identity.engines[ENGINE] = ()  # a token of the same user that is no engine's
    assert (await refusal_of(sign_it())).reason == Reason.REASON_NO_SUCH_TABLE
    house.identity.engines[ENGINE] = ("trino",)
    grant(house, {ENGINE: ("annes",)})
    assert (await refusal_of(sign_it())).reason == Reason.REASON_NO_SUCH_TABLE
    assert len(signed) == 1


# ---- who sets the property -------------------------------------------------------------------------------------------


async def create(house: House, who: str, name: str = "new", **properties: str) -> Any:
    return await house.views.CreateView(
        views_pb2.CreateViewRequest(
            context=_context(who),
            warehouse_id=house.warehouse_id,
            namespace=ident("sales"),
            body=view_body(name, properties=properties),
        )
    )


async def commit(house: House, who: str, *updates: Mapping[str, Any]) -> Any:
    return await house.views.CommitView(
        views_pb2.CommitViewRequest(
            context=_context(who),
            warehouse_id=house.warehouse_id,
            view=tabular("sales", "annes"),
            body=json.dumps({"requirements": [], "updates": list(updates)}).encode(),
        )
    )


def protected(refusal: Refusal, key: str) -> bool:
    return (refusal.reason, dict(refusal.metadata)) == (Reason.REASON_PROPERTY_PROTECTED, {"property": key})


REFUSED: Final = [
    ("oidc~somebody", OWNER),
    ("", OWNER),
    ("oidc~somebody", OWNER.upper()),
    (ENGINE, OWNER.title()),
    (ENGINE, OTHER_OWNER),
    ("oidc~both", "Dremio.Owner"),
]


@pytest.mark.parametrize(("who", "key"), REFUSED)
async def test_a_view_is_made_with_an_owner_by_the_engine_whose_word_it_is_alone(who: str, key: str) -> None:
    house = await a_house_of_views()
    house.authorizer.replace(Rule(True))
    files, before = dict(house.files.stored), house.catalog.rows.copy()
    assert protected(await refusal_of(create(house, who, **{key: "anne"})), key)
    assert (house.files.stored, house.catalog.rows) == (files, before)


@pytest.mark.parametrize(("who", "key"), REFUSED)
async def test_an_owner_is_set_and_removed_by_the_engine_whose_word_it_is_alone(who: str, key: str) -> None:
    house = await a_house_of_views()
    house.authorizer.replace(Rule(True))
    before = house.catalog.rows.copy()
    for update in (
        {"action": "set-properties", "updates": {"comment": "x", key: "anne"}},
        {"action": "remove-properties", "removals": ["comment", key]},
    ):
        assert protected(await refusal_of(commit(house, who, {"action": "set-properties", "updates": {}}, update)), key)
    assert house.catalog.rows == before


@pytest.mark.parametrize(("who", "key"), [(ENGINE, OWNER), ("oidc~both", OWNER), ("oidc~both", OTHER_OWNER)])
async def test_an_engine_makes_changes_and_ends_who_owns_a_view(who: str, key: str) -> None:
    house = await a_house_of_views()
    house.authorizer.replace(Rule(True))
    assert json.loads((await create(house, who, **{key: "anne"})).view.metadata.plain)["properties"] == {key: "anne"}
    changed = await commit(house, who, {"action": "set-properties", "updates": {key: "bert"}})
    assert json.loads(changed.view.metadata.plain)["properties"][key] == "bert"
    ended = await commit(house, who, {"action": "remove-properties", "removals": [key]})
    assert key not in json.loads(ended.view.metadata.plain)["properties"]


async def test_others_change_what_else_there_is_of_a_view_with_an_owner() -> None:
    house = await a_house_of_views()
    house.authorizer.replace(Rule(True))
    changed = await commit(house, "oidc~somebody", {"action": "set-properties", "updates": {"comment": "x"}})
    assert json.loads(changed.view.metadata.plain)["properties"] == {OWNER: "anne", "comment": "x"}


async def test_who_may_not_commit_is_not_told_of_properties() -> None:
    house = await a_house_of_views()
    grant(house, {})
    update = {"action": "set-properties", "updates": {OWNER: "me"}}
    assert (await refusal_of(commit(house, "oidc~somebody", update))).reason == Reason.REASON_NO_SUCH_VIEW


async def test_a_table_may_have_a_property_of_that_name() -> None:
    house = await a_house_of_views()
    house.authorizer.replace(Rule(True))
    assert await house.make_table("sales", "free", properties={OWNER: "anybody"})


async def test_where_no_engine_is_trusted_every_property_is_free() -> None:
    house = await a_house(rules=dataclasses.replace(RULES, owner_properties=type(RULES.owner_properties)()))
    assert await create(house, "oidc~somebody", **{OWNER: "anne"})
