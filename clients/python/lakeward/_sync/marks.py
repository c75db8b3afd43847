# made by tools/generate_client.py from what stands in _async; do not edit
"""Grants and tags: what is said of places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from lakeward._sync.operations import Operations
from lakeward._sync.paging import pages
from lakeward._twins import IdOf
from lakeward.errors import NotFoundError
from lakeward.management import models
from lakeward.management.places import Place
from lakeward.names import is_id, same

_PAGE = 500


class Grants:
    """Who was given what on a place, right there.

    Args:
        operations: what asks.
        id_of: who knows a warehouse's id.
        place: on what.
    """

    def __init__(self, operations: Operations, id_of: IdOf, place: Place) -> None:
        self._operations = operations
        self._id_of = id_of
        self._place = place

    def list(self) -> Iterator[models.GrantResponse]:
        """All of them."""
        call, ids = getattr(self._operations, f"list_{self._place.noun}_grants"), ids_of(self._place, self._id_of)

        def fetch(token: str | None) -> models.ListGrantsResponse:
            found: models.ListGrantsResponse = call(*ids, page_token=token, page_size=_PAGE)
            return found

        for page in pages(fetch):
            for grant in page.grants:
                yield grant

    def give(self, privilege: str, *, user: str | None = None, role: str | UUID | None = None) -> None:
        """Give a privilege to a user, or to a role by its id. Who has it keeps it."""
        self._apply("writes", privilege, user, role)

    def take(self, privilege: str, *, user: str | None = None, role: str | UUID | None = None) -> None:
        """Take a privilege from a user, or from a role by its id. Who does not have it goes without."""
        self._apply("deletes", privilege, user, role)

    def _apply(self, what: str, privilege: str, user: str | None, role: str | UUID | None) -> None:
        principal = {"user": user} if role is None else {"role": str(role)}
        asked = models.ApplyGrantsRequest.model_validate({what: [{"principal": principal, "privilege": privilege}]})
        ids = ids_of(self._place, self._id_of)
        getattr(self._operations, f"apply_{self._place.noun}_grants")(*ids, asked)


class Tags:
    """A project's tags, and what they are set on. Each method takes a tag's name or its id."""

    def __init__(self, operations: Operations, id_of: IdOf) -> None:
        self._operations = operations
        self._id_of = id_of

    def list(self) -> Iterator[models.TagDefinition]:
        """Those that the caller may see, without their values."""

        def fetch(token: str | None) -> models.ListTagDefinitionsResponse:
            return self._operations.list_tag_definitions(page_token=token, page_size=_PAGE)

        for page in pages(fetch):
            for tag in page.tag_definitions:
                yield tag

    def get(self, tag: str | UUID) -> models.TagDefinition:
        """One, with its values.

        Raises:
            NotFoundError: there is none, or none that the caller may see.
        """
        return self._operations.get_tag_definition(self.id_of(tag))

    def id_of(self, tag: str | UUID) -> str:
        """The id of one."""
        if is_id(tag):
            return str(tag)
        for each in self.list():
            if same(each.name, str(tag)):
                return each.id
        raise NotFoundError(404, "TagDefinitionNotFound", f"there is no tag {str(tag)!r} that you may see")

    def create(
        self,
        name: str,
        *,
        on: Sequence[str],
        values: Sequence[str] | None = None,
        free: bool = False,
        description: str | None = None,
    ) -> models.TagDefinition:
        """Define one.

        Args:
            name: in its project.
            on: what it may be set on: warehouse, namespace, table, view, generic-table, column.
            values: it has one of these; None: it has none, it is only set.
            free: it has whatever value it is given.
            description: for people.

        Raises:
            ConflictError: there is one of that name.
        """
        kind = "free-text" if free else "marker" if values is None else "enumerated"
        asked: dict[str, Any] = {"name": name, "scope": [*on], "value-kind": kind}
        if values is not None:
            asked["allowed-values"] = [*values]
        if description is not None:
            asked["description"] = description
        return self._operations.create_tag_definition(models.CreateTagDefinitionRequest.model_validate(asked))

    def delete(self, tag: str | UUID) -> None:
        """Delete one.

        Raises:
            ConflictError: it is set on something.
        """
        self._operations.delete_tag_definition(self.id_of(tag))

    def where(self, tag: str | UUID) -> Iterator[models.TagAttachment]:
        """What one is set on."""
        found = self.id_of(tag)

        def fetch(token: str | None) -> models.ListTagAttachmentsResponse:
            return self._operations.list_tag_attachments(found, page_token=token, page_size=_PAGE)

        for page in pages(fetch):
            for each in page.attachments:
                yield each

    def on(self, place: Place, *, inherited: bool = False) -> Sequence[models.TargetTag]:
        """Tags of a place, with `inherited` those of what it is in, too."""
        call, asked = getattr(self._operations, f"list_{_kind(place)}_tags"), {"effective": inherited or None}
        found: models.ListTagsResponse = call(*ids_of(place, self._id_of), **asked)
        return found.tags

    def set(self, tag: str, place: Place, value: str | None = None) -> None:
        """Set one, by its name, on a place; instead of the value that it has there.

        Raises:
            BadRequestError: it can't be set on that, or not with that value.
        """
        asked = models.SetTagRequest.model_validate({} if value is None else {"value": value})
        ids = ids_of(place, self._id_of)
        getattr(self._operations, f"set_{_kind(place)}_tag")(*ids, tag, asked)

    def unset(self, tag: str, place: Place) -> None:
        """Take one, by its name, off a place."""
        ids = ids_of(place, self._id_of)
        getattr(self._operations, f"delete_{_kind(place)}_tag")(*ids, tag)


def ids_of(place: Place, id_of: IdOf) -> Sequence[object]:
    """What stands for a place in the paths of its operations."""
    if not place.warehouse:
        return ()
    warehouse = id_of(place.warehouse)
    inner = () if not place.inner else (place.inner,)
    return (warehouse, *inner, *((place.column,) if place.column else ()))


def _kind(place: Place) -> str:
    return "table_column" if place.column else place.noun
