"""What snapshots of the catalog's streams tell: the statements over what is there, and the events of their rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

from lakeward_catalog.adapters.postgres.rows import (
    NAMESPACE,
    PROJECT,
    TABULAR,
    WAREHOUSE,
    namespace_of,
    project_of,
    tabular_with_path,
    warehouse_of,
)
from lakeward_catalog.adapters.postgres.tags import DEFINITION, definition_of
from lakeward_catalog.application.announcements import SERVER_STREAM, Announcer
from lakeward_catalog.application.snapshots import KeptQueue, ProjectTeller, ServerTeller, WarehouseTeller
from lakeward_catalog.domain.model import ProjectId, WarehouseId
from lakeward_catalog.domain.tags import TaggedObject, TagScope
from lakeward_catalog.domain.wording import no_such_project, no_such_warehouse
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.postgres_snapshots import Moment, Told, chapters
from lakeward_servicekit.events.streams import of_project
from lakeward_servicekit.postgres.pools import Connection

_THE_WAREHOUSE: Final = f"select {WAREHOUSE} from warehouse w where w.warehouse_id = $1"
_NAMESPACES: Final = f"select {NAMESPACE} from namespace n where n.warehouse_id = $1 order by n.path_key"
_TABULARS: Final = f"""
select {TABULAR}, n.path
  from tabular t join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
 where t.warehouse_id = $1 and t.state <> 'staged'
 order by n.path_key, t.name_key, t.incarnation
"""
_TAGS: Final = f"""
select a.scope, coalesce(a.namespace_id, t.tabular_id), a.field_id, a.value, {DEFINITION}
  from tag_attachment a
  join tag_definition d on d.project_id = a.project_id and d.tag_id = a.tag_id
  left join tabular t on t.warehouse_id = a.warehouse_id and t.incarnation = a.incarnation
 where a.warehouse_id = $1 and (a.incarnation is null or t.state <> 'staged')
 order by a.attachment_id
"""
_THE_PROJECT: Final = f"select {PROJECT} from project p where p.project_id = $1"
_QUEUES: Final = """
select queue, silence, cleanup_period, retention_period, cron, time_zone from queue_setting
 where {owner} = $1 and num_nonnulls(silence, cleanup_period, retention_period, cron) > 0
 order by queue
"""
_QUEUES_OF_PROJECT: Final = _QUEUES.format(owner="project_id")
_QUEUES_OF_WAREHOUSE: Final = _QUEUES.format(owner="warehouse_id")
_DEFINITIONS: Final = (
    f"select {DEFINITION} from tag_definition d where d.project_id = $1 order by d.created_at, d.tag_id"
)
_THE_SERVER: Final = "select bootstrapped from server"


class CatalogTold:
    """`Tells` of warehouses, of projects, and of the server."""

    def __init__(self, announcer: Announcer) -> None:
        """Have events made by `announcer`."""
        self._announcer: Final = announcer

    def __call__(self, connection: Connection, moment: Moment) -> Told:
        """See `Tells`.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_PROJECT.
        """
        if moment.stream == SERVER_STREAM:
            return self._of_server(connection, moment)
        if moment.stream.startswith(of_project("")):
            return self._of_project(connection, moment)
        return self._of_warehouse(connection, moment)

    async def _of_server(self, connection: Connection, moment: Moment) -> Told:
        teller = ServerTeller(self._announcer, moment.at)
        told = chapters(
            connection,
            (),
            first=[teller.of_server(bootstrapped=await connection.fetchval(_THE_SERVER))],
            last=lambda count: teller.completed(sequence=moment.sequence, entities=count),
        )
        async for events in told:
            yield events

    async def _of_project(self, connection: Connection, moment: Moment) -> Told:
        project_id = ProjectId(moment.stream.removeprefix(of_project("")))
        row = await connection.fetchrow(_THE_PROJECT, project_id)
        if row is None:
            raise no_such_project(project_id)
        teller = ProjectTeller(self._announcer, project_of(row), moment.at)
        told = chapters(
            connection,
            (
                (_QUEUES_OF_PROJECT, lambda rows: [teller.of_queue(KeptQueue(*row)) for row in rows]),
                (_DEFINITIONS, lambda rows: [teller.of_tag_definition(definition_of(row)) for row in rows]),
            ),
            project_id,
            first=[teller.of_project()],
            last=lambda count: teller.completed(sequence=moment.sequence, entities=count),
        )
        async for events in told:
            yield events

    async def _of_warehouse(self, connection: Connection, moment: Moment) -> Told:
        warehouse_id = WarehouseId(UUID(moment.stream))
        row = await connection.fetchrow(_THE_WAREHOUSE, warehouse_id)
        if row is None:
            raise no_such_warehouse(warehouse_id)
        teller = WarehouseTeller(self._announcer, warehouse_of(row), moment.at)
        told = chapters(
            connection,
            (
                (_QUEUES_OF_WAREHOUSE, lambda rows: [teller.of_queue(KeptQueue(*row)) for row in rows]),
                (_NAMESPACES, lambda rows: [teller.of_namespace(namespace_of(row)) for row in rows]),
                (_TABULARS, lambda rows: [teller.of_tabular(tabular_with_path(row)) for row in rows]),
                (_TAGS, lambda rows: [_tag(teller, warehouse_id, row) for row in rows]),
            ),
            warehouse_id,
            first=[teller.of_warehouse()],
            last=lambda count: teller.completed(sequence=moment.sequence, entities=count),
        )
        async for events in told:
            yield events


def _tag(teller: WarehouseTeller, warehouse_id: WarehouseId, row: Iterable[Any]) -> Event:
    scope, object_id, field_id, value, *definition = row
    target = TaggedObject(TagScope(scope), warehouse_id, object_id, field_id)
    return teller.of_tag(definition_of(definition), target, value)
