"""What is published at exactly the topic, field by field as upstream's events are described."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Final
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_catalog.application.announcements import Announcer, FormerName, Occasion, TabularChange
from lakeward_catalog.domain.model import Kind, Tabular
from lakeward_protocol.events.v1 import options_pb2
from lakeward_servicekit.events.cloud_events import Actor, Event
from lakeward_servicekit.events.nats.messages import messages_of
from lakeward_servicekit.events.relay import LoggedEvent
from lakeward_servicekit.events.upstream import FORMS, upstreams
from tests.support.catalog.values import NOON, FreshIds, a_namespace, a_project, a_tabular, a_warehouse
from tests.support.event_contracts import PAYLOADS, rule_of

ANNOUNCER = Announcer(source="lakeward://test", ids=FreshIds())
WHEN = Occasion(NOON, Actor("oidc~anna", "11111111-0000-0000-0000-000000000000"), "request-1")
WAREHOUSE = a_warehouse(a_project(), "demo")
PREFIX = str(WAREHOUSE.warehouse_id)
NAMESPACE = a_namespace(WAREHOUSE, "sales", "e.u")
REQUEST: Final = {"name": "orders", "updates": [{"action": "set-properties", "updates": {"a": "1"}}]}
UNIT = "\x1f"


@dataclasses.dataclass(frozen=True)
class Reference:
    """A row of the reference: what an event has for `data` and `prefix`, and between the parts of `namespace`."""

    kind: Kind
    change: TabularChange
    type: str
    data: object
    prefix: str
    separator: str


TABLE, VIEW, GENERIC = Kind.TABLE, Kind.VIEW, Kind.GENERIC_TABLE
REFERENCE: Final = (
    Reference(TABLE, TabularChange.CREATED, "createTable", REQUEST, PREFIX, "."),
    Reference(TABLE, TabularChange.REGISTERED, "registerTable", None, PREFIX, "."),
    Reference(TABLE, TabularChange.COMMITTED, "updateTable", REQUEST, "", UNIT),
    Reference(TABLE, TabularChange.RENAMED, "renameTable", REQUEST, "", UNIT),
    Reference(TABLE, TabularChange.DROPPED, "dropTable", None, PREFIX, "."),
    Reference(VIEW, TabularChange.CREATED, "createView", REQUEST, PREFIX, "."),
    Reference(VIEW, TabularChange.COMMITTED, "updateView", REQUEST, PREFIX, "."),
    Reference(VIEW, TabularChange.RENAMED, "renameView", None, "", "."),
    Reference(VIEW, TabularChange.DROPPED, "dropView", None, PREFIX, "."),
    Reference(GENERIC, TabularChange.CREATED, "createGenericTable", REQUEST, PREFIX, "."),
    Reference(GENERIC, TabularChange.RENAMED, "renameGenericTable", REQUEST, PREFIX, UNIT),
    Reference(GENERIC, TabularChange.DROPPED, "dropGenericTable", None, PREFIX, "."),
    *(Reference(kind, TabularChange.UNDROPPED, "undropTabulars", None, "", UNIT) for kind in Kind),
)


def _event(row: Reference) -> tuple[Tabular, Event]:
    tabular = a_tabular(NAMESPACE, "orders", kind=row.kind)
    data = {"before": FormerName(("sales", "old"), str(NAMESPACE.namespace_id), "bills")}
    renamed = row.change is TabularChange.RENAMED
    event = ANNOUNCER.tabular(
        row.change,
        tabular,
        WHEN,
        warehouse=WAREHOUSE,
        data=data if renamed else {"purge": True},
        request=json.dumps(REQUEST).encode(),
        place=(1, 3),
    )
    return tabular, event


def _at_topic(event: Event) -> dict[str, Any]:
    copied, _ = messages_of(LoggedEvent(7, event, NOON), topic="lake", room=1 << 20)
    assert copied.subject == "lake"
    document: dict[str, Any] = json.loads(copied.payload)
    return document


@pytest.mark.parametrize("row", REFERENCE, ids=lambda row: f"{row.type} {row.kind}")
def test_each_field_is_as_upstream_sends_it(row: Reference) -> None:
    tabular, event = _event(row)
    told = _at_topic(event)
    renamed = row.change is TabularChange.RENAMED
    assert told["data"] == row.data
    assert {name: told[name] for name in ("specversion", "type", "datacontenttype", "prefix")} == {
        "specversion": "1.0",
        "type": row.type,
        "datacontenttype": "application/json",
        "prefix": row.prefix,
    }
    assert UUID(told["id"]).version == 7
    assert (told["tabular-type"], told["tabular-id"], told["warehouse-id"]) == (
        row.kind.slug,
        str(tabular.tabular_id),
        PREFIX,
    )
    path = ("sales", "old") if renamed else ("sales", "e.u")
    assert (told["name"], told["namespace"]) == ("bills" if renamed else "orders", row.separator.join(path))
    assert (told["num-events"], told["sequence-number"], told["trace-id"]) == (3, 1, "request-1")
    assert json.loads(told["actor"]) == {
        "type": "role",
        "principal": "oidc~anna",
        "assumed-role": "11111111-0000-0000-0000-000000000000",
    }


# What looks like the beginning of a member, if one does not mind where texts begin and end.
_TRICKY: Final = st.text(st.sampled_from('\\"{}[]:, abnamespreftydx\x1fé')) | st.sampled_from(
    (
        ',"data":{',
        ',"namespace":"x"',
        ',"prefix":"',
        '"',
        '","',
        '\\","prefix":"',
        ',"type":"dropTable"',
        ',"request":1}',
    )
)


@given(row=st.sampled_from(REFERENCE), name=_TRICKY, space=_TRICKY, inner=_TRICKY, key=_TRICKY)
def test_the_copy_is_cut_out_of_the_events_bytes_as_it_would_be_written_anew(
    row: Reference, name: str, space: str, inner: str, key: str
) -> None:
    namespace = a_namespace(WAREHOUSE, space, inner)
    event = ANNOUNCER.tabular(
        row.change,
        a_tabular(namespace, name, kind=row.kind),
        dataclasses.replace(WHEN, trace_id=key),
        warehouse=dataclasses.replace(WAREHOUSE, name=name),
        data={"before": FormerName((inner, space), "id", name), key: {"request": key}} | {"x": [key]},
        request=json.dumps({"data": key, "request": {key: name}, "type": key}).encode(),
    )
    spaced = json.dumps(json.loads(event.body)).encode()  # which is read whole
    copied, anew = upstreams(event.body), upstreams(spaced)
    assert copied is not None
    assert anew is not None
    assert list(json.loads(copied).items()) == list(json.loads(anew).items())


def test_the_reference_is_all_that_is_published_there_and_the_contract_says_so() -> None:
    assert {row.type for row in REFERENCE} == set(FORMS)
    upstream = {rule.type: rule.upstream for rule in map(rule_of, PAYLOADS.values()) if rule.upstream}
    assert upstream == {
        row.type: options_pb2.UPSTREAM_NOTHING if row.data is None else options_pb2.UPSTREAM_REQUEST
        for row in REFERENCE
    }


def test_our_own_form_says_what_upstreams_does_not() -> None:
    _, event = _event(REFERENCE[4])
    _, own = messages_of(LoggedEvent(7, event, NOON), topic="lake", room=1 << 20)
    data = json.loads(own.payload)["data"]
    assert (data["purge"], data["where"]["namespace"], data["where"]["warehouse"]) == (True, ["sales", "e.u"], "demo")
