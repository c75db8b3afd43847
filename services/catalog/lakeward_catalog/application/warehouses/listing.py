"""Listing the warehouses of a project."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import hashlib
from collections.abc import Collection, Sequence
from functools import partial
from typing import Final

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.paging import no_such_page
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.domain.model import Warehouse
from lakeward_catalog.domain.names import name_key
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.paging import EVERYTHING, Page, PageRequest, PageSizes, page_behind

_HASH_BYTES: Final = 8
_LONGEST: Final = 4096


@dataclasses.dataclass(frozen=True, slots=True)
class ListWarehouses:
    """List warehouses of the project that the call names.

    Attributes:
        active: which, by whether they serve; empty: those that do.
        page: which part.
    """

    active: Collection[bool]
    page: PageRequest = EVERYTHING


@dataclasses.dataclass(frozen=True, slots=True)
class WarehouseListings:
    """Lists warehouses that the caller may see, by name."""

    doors: Doors
    rules: Rules

    async def __call__(self, command: ListWarehouses, *, caller: Caller) -> Page[Warehouse]:
        """All of them, or a page.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN, INVALID_PAGE_TOKEN.
        """
        project = await self.doors.project(Action.PROJECT_LIST_WAREHOUSES, caller=caller)
        container = ObjectRef.project(project.project_id)
        visible = await self.doors.shown(container, ObjectKind.WAREHOUSE, caller=caller)
        wanted = set(command.active) or {True}
        only = None if len(wanted) > 1 else next(iter(wanted))
        read = partial(self.doors.warehouses.list, project.project_id, active=only, visible=visible)
        if command.page == EVERYTHING:
            return Page(tuple(await read()), "")
        listing = ("warehouses", project.project_id, str(only), caller.principal.key)
        return await page_behind(
            _decoded(command.page.token, listing) if command.page.token else "",
            command.page,
            sizes=PageSizes(self.rules.page_size_default, self.rules.page_size_max),
            place=lambda warehouse: name_key(warehouse.name),
            read=lambda after, limit: read(after=after, limit=limit),
            token=lambda last: _encoded(last, listing),
        )


def _encoded(last: str, listing: Sequence[str]) -> str:
    """A token of one listing alone; as `paging` has them, of an order by names."""
    raw = last.encode()
    return base64.urlsafe_b64encode(_hash(raw, listing) + raw).decode().rstrip("=")


def _decoded(token: str, listing: Sequence[str]) -> str:
    with contextlib.suppress(ValueError):
        packed = base64.urlsafe_b64decode(token[:_LONGEST] + "==")
        last = packed[_HASH_BYTES:].decode()
        if _encoded(last, listing) == token:
            return last
    raise no_such_page()


def _hash(raw: bytes, listing: Sequence[str]) -> bytes:
    return hashlib.blake2b(raw + "\0".join(listing).encode(), digest_size=_HASH_BYTES).digest()
