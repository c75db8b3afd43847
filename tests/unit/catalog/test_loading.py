"""Loading tables: what a reply holds for whom, when nothing need be sent, and what is not even looked at."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from lakeward_catalog.application.caller import Delegation
from lakeward_catalog.application.ports.access import Access, Vended
from lakeward_catalog.application.tabulars.reading import ATTEMPTS
from lakeward_catalog.domain.bodies import BodyPart
from lakeward_catalog.domain.model import State
from lakeward_catalog.transport import batching
from lakeward_protocol.catalog.v1 import tables_pb2
from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason
from lakeward_servicekit.rpc import refusal_of as raised_by
from tests.support.catalog.house import ANYTHING, House, a_house, context, refusal_of, tabular
from tests.support.catalog.tables import STAGED, commit, create, document, drop, load, prop, ref, snapshot
from tests.support.deciding import Rule

READS = Rule(allows=False, action=Action.TABLE_WRITE_DATA)
NO_DATA = (READS, Rule(allows=False, action=Action.TABLE_READ_DATA))
HOUR = timedelta(hours=1)


class CountedBodies:
    """Stands before the bodies of a house, counts, and says that some were replaced."""

    def __init__(self, house: House, monkeypatch: pytest.MonkeyPatch, *, replaced: int = 0) -> None:
        self.reads, self.replaced = 0, replaced
        self._read = house.catalog.bodies.body
        monkeypatch.setattr(house.catalog.bodies, "body", self.body)

    async def body(self, *args: Any, **kwargs: Any) -> Sequence[BodyPart]:
        self.reads += 1
        if self.reads <= self.replaced:
            raise KeyError("replaced")
        return await self._read(*args, **kwargs)


@pytest.fixture
async def house() -> House:
    """One with documents that nobody has read yet, as after a start."""
    return House(shares=await a_house())


def credentials_last(house: House, monkeypatch: pytest.MonkeyPatch, life: timedelta) -> list[frozenset[Delegation]]:
    """Vend credentials of this life; answers what was accepted, call by call."""
    asked: list[frozenset[Delegation]] = []

    async def vend(*_: Any, delegation: frozenset[Delegation], **__: Any) -> Vended:
        asked.append(delegation)
        if delegation == {Delegation.CLIENT_MANAGED}:
            return Vended({}, {}, None, sign_remotely=False, refresh_property="")
        credential = {"s3.session-token": "x"}
        return Vended(credential, credential, house.clock.now() + life, sign_remotely=False, refresh_property="")

    monkeypatch.setattr(house.access, "vend", vend)
    return asked


def load_credentials(house: House, *delegation: Any, path: tuple[str, ...] = ("sales", "orders")) -> Any:
    return house.tables.LoadCredentials(
        tables_pb2.LoadCredentialsRequest(
            context=context(delegation=delegation), warehouse_id=house.warehouse_id, table=tabular(*path)
        )
    )


async def test_what_the_caller_holds_is_not_sent_and_neither_body_nor_credential_is_touched(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = CountedBodies(house, monkeypatch)
    tag = (await load(house)).table.etag
    fresh, vended = House(shares=house), len(house.access.vended)
    reply = await load(fresh, if_none_match=['W/"foreign"', tag])
    assert (reply.not_modified, reply.HasField("table")) == (tag, False)
    assert (bodies.reads, len(house.access.vended)) == (1, vended)
    assert (await load(fresh)).table.etag == tag  # the twin: without the tag, both are
    assert (bodies.reads, len(house.access.vended)) == (2, vended + 1)


async def test_a_tag_is_no_right(house: House) -> None:
    tag = (await load(house)).table.etag
    house.authorizer.replace(Rule(allows=False))
    assert (await refusal_of(load(house, if_none_match=[tag]))).reason == Reason.REASON_NO_SUCH_WAREHOUSE


@pytest.mark.parametrize("change", ["commit", "storage", "rights", "references", "delegation", "base"])
async def test_a_tag_does_not_hold_for_a_reply_of_another_shape(house: House, change: str) -> None:
    await commit(house, *snapshot(1), *snapshot(2))
    tag = (await load(house)).table.etag
    members: dict[str, Any] = {}
    match change:
        case "commit":
            await commit(house, prop("a"))
        case "storage":
            house.change_warehouse(row_version=7)
        case "rights":
            house.authorizer.replace(READS, ANYTHING)
        case "references":
            members = {"snapshots": tables_pb2.SNAPSHOTS_REFS}
        case "delegation":
            members = {"context": context(delegation=[context_pb2.DELEGATION_REMOTE_SIGNING])}
        case _:
            members = {"context": context(base_uri="http://lake")}
    reply = await load(house, if_none_match=[tag], **members)
    assert reply.HasField("table")
    assert reply.table.etag != tag


async def test_a_tag_holds_until_half_of_the_credentials_life(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    credentials_last(house, monkeypatch, HOUR)
    tag = (await load(house)).table.etag
    house.clock.advance(HOUR / 2 - timedelta(milliseconds=1))
    assert (await load(house, if_none_match=[tag])).not_modified == tag
    house.clock.advance(timedelta(milliseconds=1))
    assert (await load(house, if_none_match=[tag])).table.etag != tag


async def test_any_holds_only_where_the_reply_can_have_no_credential(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    credentials_last(house, monkeypatch, HOUR)
    assert (await load(house, if_none_match=["*"])).HasField("table")
    managed = context(delegation=[context_pb2.DELEGATION_CLIENT_MANAGED])
    assert (await load(house, if_none_match=["*"], context=managed)).not_modified
    house.authorizer.replace(*NO_DATA, ANYTHING)
    assert (await load(house, if_none_match=["*"])).not_modified == (await load(house)).table.etag


async def test_who_may_not_touch_data_gets_metadata_and_no_config_at_all(house: House) -> None:
    house.authorizer.replace(*NO_DATA, ANYTHING)
    vended = len(house.access.vended)
    table = (await load(house)).table
    assert (table.has_config, dict(table.config), list(table.storage_credentials)) == (False, {}, [])
    assert len(house.access.vended) == vended
    assert json.loads(table.metadata.plain)["location"] == house.tabular("orders").location


@pytest.mark.parametrize(
    ("rules", "level"), [((READS, ANYTHING), Access.READ), ((ANYTHING,), Access.READ_WRITE_DELETE)]
)
async def test_access_goes_as_far_as_the_callers_rights(house: House, rules: tuple[Rule, ...], level: Access) -> None:
    house.authorizer.replace(*rules)
    table = (await load(house)).table
    place = house.tabular("orders").location
    assert house.access.vended[-1][:2] == (place, level)
    assert [entry.prefix for entry in table.storage_credentials] == [place]
    assert table.has_config


async def test_a_document_that_was_replaced_after_the_row_was_read_is_not_an_error(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = CountedBodies(house, monkeypatch, replaced=2)
    assert (await load(house)).table.metadata_location == house.tabular("orders").metadata_location
    assert bodies.reads == 3


async def test_a_commit_between_row_and_document_is_in_the_reply(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    other, read = House(shares=house), house.catalog.bodies.body

    async def committed_meanwhile(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.undo()
        await commit(other, prop("theirs"))
        return await read(*args, **kwargs)

    monkeypatch.setattr(house.catalog.bodies, "body", committed_meanwhile)
    reply = await load(house)
    assert document(reply)["properties"] == {"theirs": "x"}
    assert reply.table.metadata_location == house.tabular("orders").metadata_location


async def test_a_load_that_is_overtaken_each_time_says_so(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    CountedBodies(house, monkeypatch, replaced=ATTEMPTS)
    assert (await refusal_of(load(house))).reason == Reason.REASON_CONCURRENT_CHANGE
    await load(house)


@pytest.mark.parametrize("deflated", [False, True])
async def test_only_referenced_snapshots_are_shown_where_only_they_are_asked_for(house: House, deflated: bool) -> None:
    for number in range(1, 71):
        await commit(house, *snapshot(number))
    await commit(house, ref("old", 3, "tag"))
    everything = document(await load(house, accept_deflate=deflated))
    references = document(await load(house, snapshots=tables_pb2.SNAPSHOTS_REFS, accept_deflate=deflated))
    assert len(everything["snapshots"]) == 70
    assert [each["snapshot-id"] for each in references["snapshots"]] == [3, 70]
    assert {**references, "snapshots": []} == {**everything, "snapshots": []}


@pytest.mark.parametrize("state", [State.STAGED, State.DROPPED])
async def test_what_is_not_live_is_not_there(house: House, state: State) -> None:
    if state is State.STAGED:
        await create(house, **STAGED)
    else:
        await create(house)
        house.change_warehouse(restorable_for=HOUR)
        await drop(house, "new")
    assert house.tabular("new").state is state
    absent = await refusal_of(load(house, "sales", "new"))
    assert (absent.reason, absent.metadata["table"]) == (Reason.REASON_NO_SUCH_TABLE, "sales.new")


async def test_a_view_is_no_table(house: House) -> None:
    assert (await refusal_of(load(house, "sales", "recent"))).reason == Reason.REASON_NO_SUCH_TABLE


async def test_each_load_of_a_batch_has_its_own_end(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "BATCH_SECONDS", 60.0)

    def item(name: str) -> tables_pb2.LoadTableRequest:
        return tables_pb2.LoadTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", name))

    reply = await house.tables.BatchLoadTables(
        tables_pb2.BatchLoadTablesRequest(items=[item("orders"), item("absent"), item("ORDERS")])
    )
    first, second, third = reply.items
    assert first.response.table.etag == third.response.table.etag
    assert raised_by(second.failure).reason == Reason.REASON_NO_SUCH_TABLE


async def test_a_batch_beyond_its_limit_is_refused(house: House) -> None:
    items = [tables_pb2.LoadTableRequest()] * 257
    refusal = await refusal_of(house.tables.BatchLoadTables(tables_pb2.BatchLoadTablesRequest(items=items)))
    assert (refusal.reason, refusal.metadata["limit"]) == (Reason.REASON_TOO_LARGE, "256")


async def test_credentials_alone_are_vended_to_who_manages_its_own_too(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = credentials_last(house, monkeypatch, HOUR)
    reply = await load_credentials(house, context_pb2.DELEGATION_CLIENT_MANAGED)
    assert [entry.prefix for entry in reply.storage_credentials] == [house.tabular("orders").location]
    assert asked == [frozenset()]
    await load_credentials(house, context_pb2.DELEGATION_VENDED_CREDENTIALS)
    assert asked[-1] == {Delegation.VENDED_CREDENTIALS}


@pytest.mark.parametrize(
    ("rules", "level"), [((READS, ANYTHING), Access.READ), ((ANYTHING,), Access.READ_WRITE_DELETE)]
)
async def test_credentials_alone_go_as_far_as_the_callers_rights(
    house: House, rules: tuple[Rule, ...], level: Access
) -> None:
    house.authorizer.replace(*rules)
    await load_credentials(house)
    assert house.access.vended[-1][1] is level


async def test_credentials_of_a_staged_table_are_vended_and_of_a_dropped_one_are_not(house: House) -> None:
    await create(house, **STAGED)
    assert (await load_credentials(house, path=("sales", "new"))).storage_credentials
    await drop(house, "orders")
    assert (await refusal_of(load_credentials(house))).reason == Reason.REASON_NO_SUCH_TABLE
