"""Who may give what, and who may look: decided by the model over a world in memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

import pytest

from lakeward_authz.application.grants import (
    AllowedActions,
    ChangeGrants,
    GrantChange,
    Inspection,
    ListGrants,
    ManagedAccess,
    SetManagedAccess,
)
from lakeward_authz.application.permissions import Grant, Rights, Shown
from lakeward_authz.domain.permissions.lakeward import MODEL
from lakeward_authz.domain.permissions.objects import ANYBODY, ObjectKey, Subject
from lakeward_servicekit.authorization.principals import ANONYMOUS, Principal, user
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.authz_worlds import World, id_of, subject_of

OWNER, READER, PASSER, STRANGER = (user(f"oidc~{name}") for name in ("owner", "reader", "passer", "stranger"))
SOMEONE = subject_of("user:someone")


@dataclasses.dataclass
class InMemory:
    """A world as the roles that the use cases need."""

    world: World
    changed: list[tuple[ObjectKey, set[Grant], set[Grant]]] = dataclasses.field(default_factory=list)
    managed: list[bool] = dataclasses.field(default_factory=list)

    def _name(self, key: ObjectKey) -> str | None:
        return next((name for name, node in self.world.nodes.items() if node.key == key), None)

    async def of(self, subject: Subject, objects: Sequence[ObjectKey]) -> Rights:
        held: list[int | None] = []
        for key in objects:
            name = self._name(key)
            caller = f"user:{subject.removeprefix('user:oidc~')}"
            held.append(None if name is None else MODEL.types[key.type].mask(*self.world.may(caller, name)))
        return Rights(held, [False] * len(held), 1)

    async def shown(self, subject: Subject, scope: ObjectKey, type_name: str) -> Shown:
        raise AssertionError((subject, scope, type_name))

    async def apply(self, stream: str, changes: Sequence[object]) -> int:
        raise AssertionError((stream, changes))

    async def on(self, key: ObjectKey) -> Sequence[Grant]:
        name = self._name(key)
        return sorted(Grant(subject, relation) for subject, relation, on in self.world.grants if on == name)

    async def change(self, key: ObjectKey, *, writes: Collection[Grant], deletes: Collection[Grant]) -> bool:
        self.changed.append((key, set(writes), set(deletes)))
        return self._name(key) is not None

    async def manage(self, key: ObjectKey, *, managed: bool) -> bool:
        self.managed.append(managed)
        return self._name(key) is not None


@pytest.fixture
def rows() -> InMemory:
    world = World()
    world.add("project", "p", "server")
    world.add("warehouse", "w", "p")
    world.add("namespace", "n", "w")
    world.add("table", "t", "n")
    world.give("user:owner", "ownership", "n")
    world.give("user:reader", "select", "n")
    world.give("user:passer", "select", "t")
    world.give("user:passer", "pass_grants", "t")
    return InMemory(world)


def key(rows: InMemory, name: str) -> ObjectKey:
    return rows.world.nodes[name].key


async def refused(rows: InMemory, change: GrantChange, *, caller: Principal = OWNER) -> Refusal:
    with pytest.raises(Refusal) as caught:
        await ChangeGrants(rows, rows)(change, caller=caller)
    assert rows.changed == [], "nothing was changed"
    return caught.value


async def test_an_owner_gives_and_takes_at_once(rows: InMemory) -> None:
    write, delete = Grant(SOMEONE, "select"), Grant(SOMEONE, "modify")
    await ChangeGrants(rows, rows)(GrantChange(key(rows, "t"), (write,), (delete,)), caller=OWNER)
    assert rows.changed == [(key(rows, "t"), {write}, {delete})]


@pytest.mark.parametrize("caller", [READER, STRANGER, ANONYMOUS])
async def test_who_may_only_read_gives_nothing(rows: InMemory, caller: Principal) -> None:
    refusal = await refused(rows, GrantChange(key(rows, "t"), (Grant(SOMEONE, "select"),)), caller=caller)
    assert refusal.reason == Reason.REASON_FORBIDDEN
    assert refusal.metadata == {"kind": "table", "action": "grant_select"}


async def test_who_may_pass_grants_passes_and_takes_back_what_it_holds_alone(rows: InMemory) -> None:
    table = key(rows, "t")
    for change in (
        GrantChange(table, (Grant(SOMEONE, "modify"),)),
        GrantChange(table, (), (Grant(SOMEONE, "ownership"),)),
    ):
        assert (await refused(rows, change, caller=PASSER)).reason == Reason.REASON_FORBIDDEN
    await ChangeGrants(rows, rows)(GrantChange(table, (), (Grant(SOMEONE, "select"),)), caller=PASSER)
    assert len(rows.changed) == 1


async def test_one_entry_that_is_not_the_callers_refuses_them_all(rows: InMemory) -> None:
    both = (Grant(SOMEONE, "select"), Grant(SOMEONE, "modify"))
    refusal = await refused(rows, GrantChange(key(rows, "t"), both), caller=PASSER)
    assert refusal.metadata["action"] == "grant_modify"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (GrantChange(ObjectKey("table")), "grants"),
        (GrantChange(ObjectKey("table"), tuple(Grant(Subject(f"user:{n}"), "select") for n in range(101))), "grants"),
        (GrantChange(ObjectKey("table"), (Grant(SOMEONE, "select"),), (Grant(SOMEONE, "select"),)), "grants"),
        (GrantChange(ObjectKey("table"), (Grant(SOMEONE, "create"),)), "grants.privilege"),
        (GrantChange(ObjectKey("warehouse"), (Grant(SOMEONE, "managed_access"),)), "grants.privilege"),
        (GrantChange(ObjectKey("namespace"), (Grant(SOMEONE, "glimpse"),)), "grants.privilege"),
        (GrantChange(ObjectKey("namespace"), (Grant(SOMEONE, "parent"),)), "grants.privilege"),
        (GrantChange(ObjectKey("user"), (Grant(SOMEONE, "select"),)), "grants.privilege"),
        (GrantChange(ObjectKey("table"), (Grant(ANYBODY, "select"),)), "grants.subject"),
    ],
)
async def test_what_no_object_can_be_granted_is_refused_before_anything_is_read(
    rows: InMemory, change: GrantChange, field: str
) -> None:
    refusal = await refused(rows, change)
    assert (refusal.reason, refusal.metadata["field"]) == (Reason.REASON_INVALID_FIELD, field)


async def test_an_absent_object_is_refused_like_one_that_is_not_the_callers(rows: InMemory) -> None:
    absent = dataclasses.replace(key(rows, "t"), id=id_of("absent"))
    write = (Grant(SOMEONE, "select"),)
    there = await refused(rows, GrantChange(key(rows, "t"), write), caller=STRANGER)
    gone = await refused(rows, GrantChange(absent, write), caller=STRANGER)
    assert (there.reason, there.message, there.metadata) == (gone.reason, gone.message, gone.metadata)
    assert await AllowedActions(rows)(Inspection(absent), caller=STRANGER) == frozenset()


async def test_grants_are_shown_to_who_may_give_some(rows: InMemory) -> None:
    assert {grant.relation for grant in await ListGrants(rows, rows)(key(rows, "t"), caller=PASSER)} == {
        "select",
        "pass_grants",
    }
    with pytest.raises(Refusal) as caught:
        await ListGrants(rows, rows)(key(rows, "t"), caller=READER)
    assert caught.value.metadata["action"] == "read_assignments"


async def test_everyone_asks_about_itself_and_only_who_reads_grants_about_another(rows: InMemory) -> None:
    actions = AllowedActions(rows)
    assert {"read_data", "get_metadata"} <= await actions(Inspection(key(rows, "t")), caller=READER)
    assert await actions(Inspection(key(rows, "t")), caller=STRANGER) == frozenset()
    about = Inspection(key(rows, "t"), subject_of("user:reader"))
    assert "read_data" in await actions(about, caller=OWNER)
    assert "drop" not in await actions(about, caller=OWNER)
    with pytest.raises(Refusal) as caught:
        await actions(about, caller=STRANGER)
    assert caught.value.reason == Reason.REASON_FORBIDDEN


async def test_managed_access_is_set_by_who_manages_grants_and_on_containers_alone(rows: InMemory) -> None:
    manage = SetManagedAccess(rows, rows)
    await manage(ManagedAccess(key(rows, "n"), managed=True), caller=OWNER)
    assert rows.managed == [True]
    for name, caller, reason in [
        ("n", READER, Reason.REASON_FORBIDDEN),
        ("w", OWNER, Reason.REASON_FORBIDDEN),
        ("t", OWNER, Reason.REASON_INVALID_FIELD),
    ]:
        with pytest.raises(Refusal) as caught:
            await manage(ManagedAccess(key(rows, name), managed=True), caller=caller)
        assert caught.value.reason == reason
    assert rows.managed == [True]
