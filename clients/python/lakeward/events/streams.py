"""Which events are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from uuid import UUID

Service: TypeAlias = Literal["catalog", "authz", "vending"]
"""Whose events of a project and of the server: the catalog's are of projects, tags' definitions and the server itself, authz's of
users, roles and grants, vending's of storage credentials."""


@dataclass(frozen=True)
class Stream:
    """Events that are in one order.

    Attributes:
        path: where they are read.
        query: what is asked beside.
        warehouse: whose they are, by name or id; None for those of no warehouse.
        project: whose they are; None for the client's.
    """

    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    warehouse: str | UUID | None = None
    project: str | None = None


def of_warehouse(warehouse: str | UUID) -> Stream:
    """What changes in a warehouse."""
    return Stream("/management/v1/warehouse/{warehouse_id}/events", warehouse=warehouse)


def of_project(service: Service, project: str | None) -> Stream:
    """What changes of a project, and not in its warehouses."""
    return Stream("/management/v1/project/events", {"service": service}, project=project)


def of_server(service: Service) -> Stream:
    """What changes of the server, and not in its projects."""
    return Stream("/management/v1/server/events", {"service": service})
