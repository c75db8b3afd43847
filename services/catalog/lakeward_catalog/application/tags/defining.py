"""Tags of a project: defining them, listing them, widening one, deleting what is set on nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from uuid import UUID

from lakeward_catalog.application.announcements import Announcer, TagDefinitionChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_project
from lakeward_catalog.application.paging import read_page
from lakeward_catalog.application.ports.stores import After
from lakeward_catalog.application.ports.tags import TagStore
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.application.tags.doors import TagDoors
from lakeward_catalog.domain.tags import (
    TagDefinition,
    TagId,
    TagScope,
    ValueKind,
    check_definition,
    in_order,
    no_such_tag,
    widened,
)
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.paging import EVERYTHING, Page, PageRequest
from lakeward_servicekit.system import Clock, Ids


@dataclasses.dataclass(frozen=True, slots=True)
class CreateTagDefinition:
    """Define a tag in the project that the call names, else in the default project."""

    name: str
    description: str | None
    scopes: Sequence[TagScope]
    value_kind: ValueKind
    allowed_values: Sequence[str]


@dataclasses.dataclass(frozen=True, slots=True)
class UpdateTagDefinition:
    """Replace name, description and scopes of a tag; `added` values are allowed from then on."""

    tag_id: TagId
    name: str
    description: str | None
    scopes: Sequence[TagScope]
    added: Sequence[str]


@dataclasses.dataclass(frozen=True, slots=True)
class ListTagDefinitions:
    """List tags of the project that the call names, else of the default project; `name`: only the one that is called so."""

    name: str | None = None
    page: PageRequest = EVERYTHING


@dataclasses.dataclass(frozen=True, slots=True)
class TagDefinitionCreations:
    """Defines tags. Who does owns them."""

    doors: Doors
    tags: TagStore
    changes: Changes
    once: Once
    announcer: Announcer
    clock: Clock
    ids: Ids

    async def __call__(self, command: CreateTagDefinition, *, caller: Caller) -> TagDefinition:
        """Define one.

        Raises:
            Refusal: PROJECT_MISSING; INVALID_TAG_NAME, RESERVED_TAG_NAME, INVALID_TAG_VALUE, INVALID_TAG_DEFINITION;
                NO_SUCH_PROJECT, FORBIDDEN; TAG_EXISTS.
        """
        definition = TagDefinition(
            project_id=self.doors.chosen_project(caller),
            tag_id=TagId(self.ids.uuid7()),
            name=command.name,
            description=command.description,
            scopes=in_order(command.scopes),
            value_kind=command.value_kind,
            allowed_values=tuple(command.allowed_values),
            created_at=self.clock.now(),
        )
        check_definition(definition)
        keyed = Keyed(of_project(definition.project_id), "create-tag-definition", _asked(command))
        return await self.once(
            keyed,
            caller=caller,
            do=lambda keeper: self._create(definition, caller, keeper),
            again=lambda kept: self._again(kept, caller),
        )

    async def _create(self, definition: TagDefinition, caller: Caller, keeper: Keeper) -> TagDefinition:
        await self.doors.project(Action.PROJECT_CREATE_TAG, caller=caller)
        async with self.changes.change() as change:
            await change.tags.insert(definition, owner=caller.principal)
            when = occasion(caller, definition.created_at)
            change.ledger.emit(self.announcer.tag_definition(TagDefinitionChange.CREATED, definition, when))
            await keeper.keep(change, tag_id=definition.tag_id)
        return definition

    async def _again(self, kept: Mapping[str, str], caller: Caller) -> TagDefinition:
        project = await self.doors.project(Action.PROJECT_CREATE_TAG, caller=caller)
        tag_id = TagId(UUID(kept["tag_id"]))
        found = await self.tags.find(project.project_id, tag_id)
        if found is None:
            raise no_such_tag(tag_id)
        return found


def _asked(command: CreateTagDefinition) -> Mapping[str, object]:
    return {
        "name": command.name,
        "description": command.description,
        "scopes": in_order(command.scopes),
        "value-kind": command.value_kind,
        "allowed-values": tuple(command.allowed_values),
    }


@dataclasses.dataclass(frozen=True, slots=True)
class TagDefinitionListings:
    """Lists tags in the order in which they were defined. Who sees a project sees all of its tags."""

    doors: Doors
    tags: TagStore
    rules: Rules

    async def __call__(self, command: ListTagDefinitions, *, caller: Caller) -> Page[TagDefinition]:
        """A page of them.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN, INVALID_PAGE_TOKEN.
        """
        project_id = (await self.doors.project(Action.PROJECT_LIST_TAGS, caller=caller)).project_id
        if command.name is not None:
            found = await self.tags.find_by_name(project_id, command.name)
            return Page(() if found is None else (found,), "")
        return await read_page(
            command.page,
            listing=("tag-definition", project_id, caller.principal.key),
            rules=self.rules,
            place=lambda definition: After(definition.created_at, definition.tag_id),
            read=lambda after, limit: self.tags.list(project_id, after=after, limit=limit),
        )


@dataclasses.dataclass(frozen=True, slots=True)
class TagDefinitionUpdates:
    """Changes tags under their row's lock, so that of two who widen one both have their way."""

    doors: TagDoors
    changes: Changes
    announcer: Announcer
    clock: Clock

    async def __call__(self, command: UpdateTagDefinition, *, caller: Caller) -> TagDefinition:
        """Change one; where it is so already nothing is written.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_TAG, FORBIDDEN; TAG_SCOPE_NARROWED, INVALID_TAG_NAME, RESERVED_TAG_NAME,
                INVALID_TAG_VALUE, INVALID_TAG_DEFINITION; TAG_EXISTS.
        """
        opened = await self.doors.definition(command.tag_id, Action.TAG_UPDATE, caller=caller)
        async with self.changes.change() as change:
            held = await change.tags.lock(opened.project_id, opened.tag_id)
            if held is None:
                raise no_such_tag(command.tag_id)
            wider = widened(
                held, name=command.name, description=command.description, scopes=command.scopes, added=command.added
            )
            if wider == held:
                return held
            changed = dataclasses.replace(wider, updated_at=self.clock.now())
            await change.tags.update(changed)
            when = occasion(caller, self.clock.now())
            event = self.announcer.tag_definition(TagDefinitionChange.UPDATED, changed, when, before=held)
            change.ledger.emit(event)
        return changed


@dataclasses.dataclass(frozen=True, slots=True)
class TagDefinitionDeletions:
    """Deletes tags that are set on nothing, dropped tables included."""

    doors: TagDoors
    changes: Changes
    once: Once
    announcer: Announcer
    clock: Clock

    async def __call__(self, tag_id: TagId, *, caller: Caller) -> None:
        """Delete one.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_TAG, FORBIDDEN, TAG_IN_USE.
        """

        async def again(_: Mapping[str, str]) -> None:
            """Nothing is left that could be asked about; the record is this principal's own."""

        project_id = self.doors.doors.chosen_project(caller)
        keyed = Keyed(of_project(project_id), "delete-tag-definition", {"tag-id": str(tag_id)})
        await self.once(keyed, caller=caller, do=lambda keeper: self._delete(tag_id, caller, keeper), again=again)

    async def _delete(self, tag_id: TagId, caller: Caller, keeper: Keeper) -> None:
        opened = await self.doors.definition(tag_id, Action.TAG_DELETE, caller=caller)
        async with self.changes.change() as change:
            held = await change.tags.lock(opened.project_id, tag_id)
            if held is None:
                raise no_such_tag(tag_id)
            await change.tags.delete(held)
            when = occasion(caller, self.clock.now())
            change.ledger.emit(self.announcer.tag_definition(TagDefinitionChange.DELETED, held, when))
            await keeper.keep(change, tag_id=tag_id)
