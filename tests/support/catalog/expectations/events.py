"""What the methods of EventService answer to whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lakeward_catalog.domain.model import NIL_PROJECT
from lakeward_protocol.catalog.v1 import events_pb2
from lakeward_servicekit.authorization.actions import Action
from tests.support.catalog.expectations.case import PROJECT, SERVER, WAREHOUSE, Case

EVENT_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "ReadEvents": (
        Case(
            lambda house: events_pb2.ReadEventsRequest(warehouse_id=house.warehouse_id),
            WAREHOUSE,
            needs=frozenset({Action.WAREHOUSE_LIST_EVERYTHING}),
        ),
        Case(
            lambda _: events_pb2.ReadEventsRequest(project_id=NIL_PROJECT),
            PROJECT,
            needs=frozenset({Action.PROJECT_GET_PROJECT_TASKS}),
        ),
        Case(
            lambda _: events_pb2.ReadEventsRequest(server=True),
            SERVER,
            needs=frozenset({Action.SERVER_LIST_ALL_PROJECTS}),
            only_hidden=frozenset(SERVER),
        ),
    ),
    "Subscribe": (
        Case(
            lambda house: events_pb2.SubscribeRequest(warehouse_id=house.warehouse_id),
            WAREHOUSE,
            needs=frozenset({Action.WAREHOUSE_LIST_EVERYTHING}),
        ),
        Case(
            lambda _: events_pb2.SubscribeRequest(project_id=""),
            PROJECT,
            needs=frozenset({Action.PROJECT_GET_PROJECT_TASKS}),
        ),
        Case(
            lambda _: events_pb2.SubscribeRequest(server=True),
            SERVER,
            needs=frozenset({Action.SERVER_LIST_ALL_PROJECTS}),
            only_hidden=frozenset(SERVER),
        ),
    ),
}
