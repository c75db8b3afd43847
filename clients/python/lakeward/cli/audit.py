"""Who did or tried what."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import datetime

import click

from lakeward.cli.lake import Lake, speaks
from lakeward.management.models import AuditRecord

_COLUMNS = {
    "AT": "at",
    "OUTCOME": "outcome",
    "ACTION": "action",
    "OBJECT": "object",
    "PRINCIPAL": "principal",
    "REASON": "reason",
    "CLIENT": "client",
}


@click.command()
@click.option("--server", "whole_server", is_flag=True, help="Of all projects and of none.")
@click.option("--warehouse", help="Of one warehouse; its name or id.")
@click.option("--principal", help="Of one user, as oidc~ada.")
@click.option("--action", help="As dropTable, or LoadTable.")
@click.option("--outcome", type=click.Choice(["allowed", "refused", "failed"]))
@click.option("--object", "object_id", help="About one object, by its id.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]), help="In your own time zone.")
@click.option("--until", type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]), help="Before this.")
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True, help="Most records.")
@speaks
def audit(  # noqa: PLR0913 - each is an option
    lake: Lake,
    *,
    whole_server: bool,
    warehouse: str | None,
    principal: str | None,
    action: str | None,
    outcome: str | None,
    object_id: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int,
) -> None:
    """Show who did or tried what, the newest first."""
    management = lake.client.management
    warehouse_id = None if warehouse is None else str(management.warehouses.id_of(warehouse))

    def pages() -> Iterator[AuditRecord]:
        token = None
        while True:
            page = management.operations.list_audit_records(
                whole_server=whole_server or None,
                warehouse_id=warehouse_id,
                principal=principal,
                action=action,
                outcome=outcome,
                object_id=object_id,
                start=_text(since),
                end=_text(until),
                page_size=min(limit, 1000),
                page_token=token,
            )
            yield from page.records
            token = page.next_page_token
            if token is None:
                return

    lake.output.rows(itertools.islice(pages(), limit), _COLUMNS)


def _text(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone().isoformat()
